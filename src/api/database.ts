import { z } from 'zod';
import { defineKind, type ObjectOf, type SpecOf, type StatusOf } from '../kind/define-kind';
import { conditions, dnsLabel, dnsSubdomain, timestamp } from '../kind/fields';
import { immutable, withRules } from '../kind/rule';
import { backupBucket, backupVolume, restoreBucket, retention } from './backup-target';
import { podAnnotations, podLabels, resources } from './pod-settings';
import { schedule, timeZone } from './schedule';
import { volumeSize } from './volume-size';
import { isReservedAccount } from './reserved-account';

/** The group of our kinds, unless a company serves them under its own. */
export const defaultGroup = 'dbop.dev';

/** Longest name of a Database: `NAME-backup` is a CronJob (52 at most), and names of backups add a time. */
const longestName = 40;

const versions = { mysql: '^[89]([.][0-9]{1,3}){0,2}$', postgres: '^(1[4-9]|[2-9][0-9])([.][0-9]{1,3})?$' } as const;

const identifier = /^[A-Za-z_][A-Za-z0-9_-]*$/;

const backup = withRules(
  z.object({
    schedule: schedule('When a backup is due: minute, hour, day of the month, month, day of the week. Left out: backups are taken only when a DatabaseBackup asks.').optional(),
    timeZone: timeZone('Zone in which the schedule is read, such as Europe/Berlin; the cluster’s own, mostly UTC, when left out.').optional(),
    retention: retention.optional(),
    verify: z.boolean().default(true).describe('Restore each backup into a throw-away server before it counts as good.'),
    volume: backupVolume.optional(),
    s3: backupBucket.optional(),
  }),
  {
    cel: '!(has(self.volume) && has(self.s3))',
    message: "has both 'volume' and 's3', which exclude each other; keep one of them",
    holds: ({ volume, s3 }) => volume === undefined || s3 === undefined,
  },
  {
    cel: '!has(self.timeZone) || has(self.schedule)',
    message: "has no schedule to apply to; add 'schedule' or remove it",
    field: 'timeZone',
    holds: (value) => value.timeZone === undefined || value.schedule !== undefined,
  },
).describe('How backups are taken and where they rest. Without volume and s3 they rest on a volume as large as the database.');

const source = withRules(
  z.object({
    backup: dnsLabel('A DatabaseBackup of this namespace.').optional(),
    database: dnsLabel('A database of this namespace, existing or gone: its newest good backup.').optional(),
    s3: restoreBucket.optional(),
  }),
  {
    cel: '[has(self.backup), has(self.database), has(self.s3)].filter(given, given).size() == 1',
    message: "needs one of 'backup', 'database' and 's3'; give it exactly one of them",
    holds: (value) => [value.backup, value.database, value.s3].filter((given) => given !== undefined).length === 1,
  },
).describe('What to restore from; the newest good backup of a database of this name when left out.');

const restore = withRules(
  z.object({
    policy: z
      .enum(['IfAvailable', 'Required', 'Never'])
      .default('IfAvailable')
      .describe('IfAvailable: restore when there is a backup, else start empty. Required: wait until there is one. Never: start empty.'),
    from: source.optional(),
  }),
  { cel: "self.policy != 'Never' || !has(self.from)", message: "has 'policy' Never and 'from', which contradict each other; remove one of them", holds: ({ policy, from }) => policy !== 'Never' || from === undefined },
).describe('What a new, empty database is filled with before it first starts. A database that has data is never restored over.');

const name = (description: string, longest: number) =>
  z.string().min(1).max(longest).regex(identifier, 'is not a name; use letters, digits, underscores and hyphens, and start with a letter or underscore').describe(description);

const databaseName = withRules(name('Name of the database inside the server.', 63), {
  cel: "!(self in ['mysql', 'sys', 'information_schema', 'performance_schema', 'postgres', 'template0', 'template1'])",
  message: 'belongs to the server itself; choose another name',
  holds: (value) => !['mysql', 'sys', 'information_schema', 'performance_schema', 'postgres', 'template0', 'template1'].includes(value),
});

const userName = withRules(name('Account of the application, which owns the database. With credentials the Secret names it.', 32), {
  cel: "!(self in ['root', 'mysql', 'postgres']) && !self.startsWith('pg_') && !self.startsWith('dbop')",
  message: 'belongs to the server or to the operator; choose another name',
  holds: (value) => !isReservedAccount(value),
});

const parameters = withRules(
  z.record(
    z.string(),
    z.string().max(1024).regex(/^[^\r\n]*$/, 'has more than one line; a setting has one'),
  ),
  {
    cel: "self.all(name, name.matches('^[A-Za-z][A-Za-z0-9_.-]{0,127}$'))",
    message: 'has a name that no setting has; names consist of letters, digits, underscores, dots and hyphens',
    holds: (value) => Object.keys(value).every((key) => /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/.test(key)),
  },
)
  .meta({ maxProperties: 100 })
  .describe('Settings of the server in the words of its manual, such as max_connections: "200". Numbers and booleans are written as text.');

const spec = withRules(
  z.object({
    engine: immutable(z.enum(['mysql', 'postgres']), 'another engine cannot read the data; create another database').describe('Which database: mysql or postgres.'),
    version: z
      .string()
      .max(16)
      .regex(/^[0-9]+(\.[0-9]+){0,2}$/, 'is not a version; write it such as 8.4 for MySQL or 17 for PostgreSQL')
      .describe('Version of the engine, such as 8.4 for MySQL or 17 for PostgreSQL. A part left out takes the newest that the image offers.'),
    image: z
      .string()
      .min(1)
      .max(512)
      .regex(/^[^\s]+$/, 'is not an image; write it such as registry.example.com/mysql:8.4')
      .optional()
      .describe('Image of the server, of that version; the engine’s official image when left out.'),
    size: volumeSize('Size of the data volume, such as 10Gi; it may grow, never shrink.'),
    storageClassName: immutable(dnsSubdomain('Class of the data volume; the cluster’s default when left out.'), 'a claim keeps its storage class').optional(),
    database: immutable(databaseName, 'applications connect by it; create another database').default('app'),
    username: immutable(userName, 'it owns the tables; create another database').default('app'),
    credentials: z
      .object({ secretName: dnsSubdomain('Secret of this namespace with the keys username and password.') })
      .optional()
      .describe('The application’s account from a Secret of yours; when left out, the operator makes a password and a Secret.'),
    tls: z
      .object({ secretName: dnsSubdomain('Secret of this namespace with the keys tls.crt, tls.key and ca.crt, as cert-manager writes it; the certificate names NAME.NAMESPACE.svc.') })
      .optional()
      .describe('The server’s certificate from a Secret of yours; a renewed one is taken over without a restart. When left out, the operator makes an authority and a certificate and renews both.'),
    parameters: parameters.optional(),
    resources: resources.optional(),
    podLabels: podLabels.optional(),
    podAnnotations: podAnnotations.optional(),
    backup: backup.optional(),
    restore: restore.prefault({}),
    deletionPolicy: z
      .enum(['Backup', 'Delete', 'Retain'])
      .default('Backup')
      .describe('When the object is deleted. Backup: take a last backup, then remove everything else. Delete: remove everything but earlier backups. Retain: keep the volume with the data.'),
    deletionProtection: z.boolean().default(false).describe('Refuse to delete the database or its volumes until this is false again.'),
    paused: z.boolean().default(false).describe('Leave the database as it is: the operator changes nothing until this is false again.'),
    hibernated: z.boolean().default(false).describe('Shut the server down and keep its volume; false starts it again.'),
    rotatePasswords: z.string().max(64).optional().describe('Any new text, such as a date, asks for new passwords; status.rotatedPasswords repeats it when done.'),
  }),
  {
    cel: `self.engine != 'mysql' || self.version.matches('${versions.mysql}')`,
    message: 'is not a version of MySQL; write 8.x or 9.x, such as 8.4',
    field: 'version',
    holds: ({ engine, version }) => engine !== 'mysql' || new RegExp(versions.mysql).test(version),
  },
  {
    cel: `self.engine != 'postgres' || self.version.matches('${versions.postgres}')`,
    message: 'is not a version of PostgreSQL; write 14 or later, such as 17 or 17.2',
    field: 'version',
    holds: ({ engine, version }) => engine !== 'postgres' || new RegExp(versions.postgres).test(version),
  },
  {
    cel: "!has(self.credentials) || self.username == 'app'",
    message: "contradicts 'credentials', whose Secret names the account; remove one of them",
    field: 'username',
    holds: ({ credentials, username }) => credentials === undefined || username === 'app',
  },
).describe('What is asked for.');

const status = z
  .object({
    phase: z.string().max(63).optional().describe('Where the database stands in its life, in one word.'),
    message: z.string().max(32768).optional().describe('What is, what is waited for and what to do.'),
    observedGeneration: z.int().min(0).optional().describe('Generation of the spec that this status speaks of.'),
    conditions: conditions().optional(),
    endpoint: z
      .object({
        host: z.string().max(253).describe('Name by which pods of the cluster reach the server.'),
        port: z.int().min(1).max(65535).describe('Port of the server.'),
      })
      .optional()
      .describe('Where applications connect.'),
    secretName: z.string().max(253).optional().describe('Secret that applications connect by.'),
    version: z.string().max(63).optional().describe('Version that the server itself reports.'),
    restored: z
      .object({ from: z.string().max(1024).describe('The backup.'), at: timestamp('When it was restored.') })
      .optional()
      .describe('What the database was filled with before it first started.'),
    lastBackup: z
      .object({
        name: z.string().max(253).describe('Its DatabaseBackup.'),
        at: timestamp('When it was complete.'),
        verified: z.boolean().describe('Whether a throw-away server could be restored from it.'),
      })
      .optional()
      .describe('The newest good backup.'),
    rotatedPasswords: z.string().max(64).optional().describe('The rotatePasswords that was last carried out.'),
  })
  .describe('What is.');

/** `Database` (`db`): one MySQL or PostgreSQL with its storage, its accounts and its backups. */
export const Database = defineKind({
  group: defaultGroup,
  version: 'v1alpha1',
  kind: 'Database',
  shortNames: ['db'],
  categories: ['databases-all'],
  description: 'One MySQL or PostgreSQL with its storage, its accounts and its backups.',
  names: { maxLength: longestName, why: 'its backups and their Jobs append a suffix and may have 63; choose a shorter name' },
  columns: [
    { name: 'Engine', jsonPath: '.spec.engine' },
    { name: 'Version', jsonPath: '.spec.version' },
    { name: 'Size', jsonPath: '.spec.size' },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Ready', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Last backup', jsonPath: '.status.lastBackup.at', type: 'date', description: 'Age of the newest good backup.' },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
    { name: 'Endpoint', jsonPath: '.status.endpoint.host', wide: true },
    { name: 'Secret', jsonPath: '.status.secretName', wide: true },
    { name: 'Message', jsonPath: '.status.message', wide: true },
  ],
  spec,
  status,
});

/** What a `Database` asks for, defaults filled in. */
export type DatabaseSpec = SpecOf<typeof Database>;
/** What the operator answers. */
export type DatabaseStatus = StatusOf<typeof Database>;
/** A whole `Database` object. */
export type DatabaseObject = ObjectOf<typeof Database>;
