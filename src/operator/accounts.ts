import type { Engine } from '../engines/engine';
import type { KubeObject } from '../kind/resource';
import type { KnownPasswords } from './facts';

/** A Secret, as the API server tells it. */
export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}

/** The accounts that a database has; each has one password in one Secret. */
export type Account = keyof KnownPasswords;

/**
 * Keys of the accounts Secret. It says what the server has, not what is wanted: a password enters it when the server
 * has taken it, so that whoever reads it can log in.
 */
const KEYS: Record<Account, string> = { root: 'root-password', operator: 'operator-password', backup: 'backup-password', app: 'app-password' };

/** Key that lists the accounts whose old password has still to be ended. */
const RETAINED_KEY = 'retained';

/** Passwords that a rotation has chosen and the server has not confirmed yet: they survive an operator that dies in between. */
const stagedKey = (account: string) => `next-${KEYS[account as Account]}`;

/** What the accounts Secret tells. */
export interface Accounts {
  readonly known: KnownPasswords;
  /** Accounts whose old password has still to be ended. */
  readonly retained: readonly string[];
  readonly staged: Partial<KnownPasswords>;
}

/** Reads the accounts Secret; undefined if a password is missing from it. */
export function readAccounts(secret: Secret | undefined): Accounts | undefined {
  if (secret === undefined) return undefined;
  const passwords = (keyOf: (account: string) => string | undefined) =>
    Object.fromEntries(Object.keys(KEYS).flatMap((account) => {
      const password = decoded(secret, keyOf(account) ?? '');
      return password ? [[account, password]] : [];
    }));
  const known = passwords((account) => KEYS[account as Account]);
  if (Object.keys(known).length < Object.keys(KEYS).length) return undefined;
  return { known: known as unknown as KnownPasswords, staged: passwords(stagedKey), retained: (decoded(secret, RETAINED_KEY) ?? '').split(',').filter(Boolean) };
}

/** The data of the accounts Secret. */
export function accountsData(known: KnownPasswords, retained: readonly string[] = [], staged: Partial<KnownPasswords> = {}): Record<string, string> {
  const data: Record<string, string> = {};
  for (const [account, key] of Object.entries(KEYS)) data[key] = encoded(known[account as Account]);
  for (const [account, password] of Object.entries(staged)) data[stagedKey(account)] = encoded(password);
  if (retained.length > 0) data[RETAINED_KEY] = encoded(retained.join(','));
  return data;
}

/** The name under which an engine knows an account. */
export function accountName(account: Account, engine: Pick<Engine, 'accounts'>, application: string): string {
  return { root: engine.accounts.superuser, operator: engine.accounts.operator, backup: engine.accounts.backup, app: application }[account];
}

/** A value of a Secret. */
export function decoded(secret: Secret, key: string): string | undefined {
  const value = secret.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

/** A value for the `data` of a Secret. */
export function encoded(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
