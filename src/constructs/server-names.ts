/** Names of a database's children. Every one can be set, for those whose users type other names. */
export interface ServerNames {
  /** StatefulSet or Deployment. @default the database's name */
  readonly workload: string;
  /** Service that applications use. @default the database's name */
  readonly service: string;
  /** Headless Service that gives pods their DNS names. @default NAME-pods */
  readonly headlessService: string;
  /** ConfigMap with scripts and configuration. @default NAME-config */
  readonly configMap: string;
  /** @default the database's name */
  readonly serviceAccount: string;
  /** @default the database's name */
  readonly networkPolicy: string;
  /** Claim of the data volume. @default data-WORKLOAD-0, the claim that a StatefulSet looks for */
  readonly dataClaim: string;
  /** Claim of the backup volume, which outlives the database. @default NAME-backups */
  readonly backupClaim: string;
  /** CronJob of the scheduled backups. @default NAME-backup */
  readonly backupSchedule: string;
  /** Job of the restore that precedes the first start. @default NAME-restore */
  readonly restoreJob: string;
  /** Secret with the passwords of superuser, operator and backup. @default NAME-accounts */
  readonly accountsSecret: string;
  /** Secret that the application connects by. @default NAME-app */
  readonly applicationSecret: string;
}

/** What kind of thing a name is for decides how long it may be. */
const limits: Record<keyof ServerNames, { readonly max: number; readonly why: string }> = {
  workload: { max: 52, why: 'its pods carry it in a label together with a revision' },
  service: { max: 63, why: 'it is a DNS label' },
  headlessService: { max: 63, why: 'it is a DNS label' },
  configMap: { max: 63, why: 'it is a volume of the pods' },
  serviceAccount: { max: 63, why: 'it is a DNS label' },
  networkPolicy: { max: 63, why: 'it is a DNS label' },
  dataClaim: { max: 63, why: 'it is a volume of the pods' },
  backupClaim: { max: 63, why: 'it is a volume of the pods' },
  backupSchedule: { max: 52, why: 'its Jobs append 11 characters' },
  restoreJob: { max: 63, why: 'its pods carry it in a label' },
  accountsSecret: { max: 63, why: 'it is a volume of the pods' },
  applicationSecret: { max: 63, why: 'it is a volume of the pods' },
};

/**
 * All child names of one database.
 *
 * Guarantees: no two databases of a namespace share a child name unless overrides make them; every name is a DNS
 * label that Kubernetes takes, or an error says which is too long and what would fit.
 */
export function serverNames(name: string, overrides: Partial<ServerNames> = {}): ServerNames {
  const workload = overrides.workload ?? name;
  const names: ServerNames = {
    workload,
    service: name,
    headlessService: `${name}-pods`,
    configMap: `${name}-config`,
    serviceAccount: name,
    networkPolicy: name,
    dataClaim: `data-${workload}-0`,
    backupClaim: `${name}-backups`,
    backupSchedule: `${name}-backup`,
    restoreJob: `${name}-restore`,
    accountsSecret: `${name}-accounts`,
    applicationSecret: `${name}-app`,
    ...overrides,
  };
  const problems = (Object.keys(limits) as (keyof ServerNames)[]).flatMap((role) => problemsOf(role, names[role]));
  if (problems.length > 0) throw new Error(`database '${name}': ${problems.join('; ')}`);
  return names;
}

function problemsOf(role: keyof ServerNames, value: string): string[] {
  const { max, why } = limits[role];
  if (value.length > max) return [`${role} '${value}' has ${value.length} characters and may have ${max}, because ${why}; choose a shorter name`];
  if (role === 'service' && /^[0-9]/.test(value)) return [`${role} '${value}' begins with a digit, which a Service may not; begin with a letter`];
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(value)) return [`${role} '${value}' is no DNS label; use lower-case letters, digits and '-', and begin and end with a letter or digit`];
  return [];
}
