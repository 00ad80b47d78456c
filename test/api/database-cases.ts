/** The least that a database needs. */
export const least = { engine: 'mysql', version: '8.4', size: '10Gi' };

/** What may be said beside it, or instead. */
export const accepted: readonly [title: string, change: object][] = [
  ['MySQL 9.7.1', { version: '9.7.1' }],
  ['PostgreSQL 17', { engine: 'postgres', version: '17' }],
  ['PostgreSQL 15.3', { engine: 'postgres', version: '15.3' }],
  ['a nightly schedule in a zone', { backup: { schedule: '30 3 * * mon-fri', timeZone: 'Europe/Berlin', retention: { count: 7, age: '30d' } } }],
  ['steps and lists', { backup: { schedule: '*/15 0,12 1-15/2 jan-Mar 0-6' } }],
  ['backups on a volume', { backup: { volume: { size: '20Gi', storageClassName: 'slow' } } }],
  ['backups in a bucket', { backup: { s3: { endpoint: 'https://s3.example.com:9000', bucket: 'backups', prefix: 'a/b', region: 'eu-1', credentialsSecretName: 's3', caSecretName: 'ca' } } }],
  ['a database named with a hyphen', { database: 'otus-database' }],
  ['whole CPUs as a number', { resources: { requests: { cpu: 1, memory: '1Gi' }, limits: { memory: '1Gi' } } }],
  ['a certificate of cert-manager', { tls: { secretName: 'orders-tls.example' } }],
  ['labels of other teams', { podLabels: { team: 'shop', 'example.com/tier': '' } }],
  ['settings of the server', { parameters: { max_connections: '200', 'pg_stat_statements.track': 'all' } }],
];

/** What may not, and how synth says so. The API server must refuse it too. */
export const refused: readonly [change: object, message: string][] = [
  [{ engine: 'oracle' }, "'engine' (oracle) is not known; use mysql or postgres"],
  [{ version: 'latest' }, "'version' (latest) is not a version; write it such as 8.4 for MySQL or 17 for PostgreSQL"],
  [{ version: '17' }, "'version' (17) is not a version of MySQL; write 8.x or 9.x, such as 8.4"],
  [{ engine: 'postgres', version: '8.4' }, "'version' (8.4) is not a version of PostgreSQL; write 14 or later, such as 17 or 17.2"],
  [{ version: 8.4 }, "'version' (8.4) is not a string"],
  [{ size: '5Gb' }, "'size' (5Gb) is not a size; write a number and a unit, such as 10Gi"],
  [{ size: '10' }, "'size' (10) is not a size; write a number and a unit, such as 10Gi"],
  [{ size: '1Mi' }, "'size' (1Mi) is smaller than 256Mi, which an empty database needs; ask for more"],
  [{ storageClassName: 'Fast' }, "'storageClassName' (Fast) is not a name that Kubernetes takes; use lower-case letters, digits, hyphens and dots, and start and end with a letter or digit"],
  [{ database: 'mysql' }, "'database' (mysql) belongs to the server itself; choose another name"],
  [{ username: 'root' }, "'username' (root) belongs to the server or to the operator; choose another name"],
  [{ username: 'shop', credentials: { secretName: 'mine' } }, "'username' (shop) contradicts 'credentials', whose Secret names the account; remove one of them"],
  [{ backup: { schedule: '0 0 3 * * *' } }, "'backup.schedule' (0 0 3 * * *) has six fields, and a CronJob knows no seconds; drop the first field"],
  [{ backup: { schedule: '0 3 * *' } }, "'backup.schedule' (0 3 * *) has 4 of the five fields; write minute, hour, day of the month, month and day of the week, such as 0 3 * * *"],
  [{ backup: { schedule: '@daily' } }, "'backup.schedule' (@daily) is a nickname; write the five fields, such as 0 3 * * * for three in the night"],
  [{ backup: { schedule: '0 24 * * *' } }, "'backup.schedule' (0 24 * * *) has '24' as its hour, which is out of bounds or no number, range or step"],
  [{ backup: { schedule: '0 3 * dec-jan *' } }, "'backup.schedule' (0 3 * dec-jan *) has 'dec-jan' as its month, a range that ends before it begins"],
  [{ backup: { schedule: '0 3 * * *', timeZone: 'Mars/Olympus' } }, "'backup.timeZone' (Mars/Olympus) is not a time zone that this machine knows; write one such as Europe/Berlin or Etc/UTC"],
  [{ backup: { timeZone: 'Etc/UTC' } }, "'backup.timeZone' (Etc/UTC) has no schedule to apply to; add 'schedule' or remove it"],
  [{ backup: { volume: { size: '1Gi' }, s3: { endpoint: 'https://s3.example.com', bucket: 'backups', credentialsSecretName: 's3' } } }, "'backup' has both 'volume' and 's3', which exclude each other; keep one of them"],
  [{ backup: { s3: { endpoint: 's3.example.com', bucket: 'backups', credentialsSecretName: 's3' } } }, "'backup.s3.endpoint' (s3.example.com) is not the address of an S3 service; write it with its scheme and without a path, such as https://s3.eu-central-1.amazonaws.com"],
  [{ backup: { retention: {} } }, "'backup.retention' keeps nothing in particular; give it count, age or both, or leave it out to keep every backup"],
  [{ backup: { retention: { age: '30' } } }, "'backup.retention.age' (30) is not an age; write a number of days, such as 30d"],
  [{ restore: { from: {} } }, "'restore.from' needs one of 'backup', 'database' and 's3'; give it exactly one of them"],
  [{ restore: { from: { database: 'old', s3: { endpoint: 'https://s3.example.com', bucket: 'backups', credentialsSecretName: 'bucket' } } } }, "'restore.from' needs one of 'backup', 'database' and 's3'; give it exactly one of them"],
  [{ restore: { policy: 'Never', from: { database: 'old' } } }, "'restore' has 'policy' Never and 'from', which contradict each other; remove one of them"],
  [{ resources: { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } } }, "'resources' asks for more memory than its limit allows; lower requests.memory or raise limits.memory"],
  [{ resources: { requests: { memory: '2Gb' } } }, "'resources.requests.memory' (2Gb) is not a quantity; write a number with an optional unit, such as 2, 500m or 1Gi"],
  [{ podLabels: { 'app.kubernetes.io/name': 'x' } }, "'podLabels' has a key under app.kubernetes.io/ or dbop.dev/, which select the pods; choose another prefix"],
  [{ parameters: { 'a\n[client]': 'x' } }, "'parameters' has a name that no setting has; names consist of letters, digits, underscores, dots and hyphens"],
  [{ parameters: { sql_mode: 'A\ninit_file=/etc/passwd' } }, "'parameters.sql_mode' (A\ninit_file=/etc/passwd) has more than one line; a setting has one"],
  [{ replicas: 3 }, "'replicas' is not a field; known are engine,"],
];
