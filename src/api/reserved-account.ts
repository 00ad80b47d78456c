/** Accounts that servers bring along, and those that the operator makes: an application that had one could do what is not its work, or lock the operator out. */
export function isReservedAccount(name: string): boolean {
  return ['root', 'mysql', 'postgres'].includes(name) || /^(pg_|dbop|mysql\.)/.test(name);
}
