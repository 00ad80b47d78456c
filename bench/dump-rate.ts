import { setTimeout as sleep } from 'node:timers/promises';
import type { Chart } from 'cdk8s';
import { run } from '../cluster/command';
import { BackupJob } from '../src/constructs/backup-job';
import { BackupVolume } from '../src/constructs/backup-volume';
import { DatabaseServer } from '../src/constructs/database-server';
import { RestoreJob } from '../src/constructs/restore-job';
import type { EngineName } from '../src/engines/engine';
import { render } from '../src/runtime/render';
import { parseResult, type BackupFacts, type StoreResult } from '../src/store/result';

/** The limit of each container of a measured pod: what is dumped is many times as large. */
const MEMORY = '256Mi';

/** What differs between engines. */
interface Subject {
  readonly version: string;
  /** A shell line that runs the SQL of its input as the application. */
  readonly client: string;
  /** SQL for so many rows of a kilobyte, half of which can be packed away. */
  readonly fill: (rows: number) => string;
  /** The engine's own dump program, as one would type it, once `log_in` of our scripts has handed it a password. */
  readonly dump: string;
}

const subjects: Record<EngineName, Subject> = {
  mysql: {
    version: '9.7',
    client: 'export MYSQL_PWD="$(cat /dbop/application/password)"; exec mysql -h bench -u app app',
    fill: (rows) =>
      `CREATE TABLE filler (id INT PRIMARY KEY, body VARCHAR(1024)); SET SESSION cte_max_recursion_depth = 1000000000; INSERT INTO filler WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i, CONCAT(${Array.from({ length: 15 }, () => 'SHA2(RAND(), 256)').join(', ')}) FROM n;`,
    dump: 'mysqldump --defaults-file="$private/client.cnf" --single-transaction --quick --routines --triggers --events --hex-blob --no-tablespaces --set-gtid-purged=ON --source-data=2 --databases app',
  },
  postgres: {
    version: '15',
    client: 'export PGPASSWORD="$(cat /dbop/application/password)"; exec psql -q -v ON_ERROR_STOP=1 -h bench -U app app',
    fill: (rows) => `CREATE TABLE filler AS SELECT i AS id, ${Array.from({ length: 31 }, () => 'md5(random()::text)').join(' || ')} AS body FROM generate_series(1, ${rows}) i; ALTER TABLE filler ADD PRIMARY KEY (id);`,
    dump: 'pg_dump --no-password --dbname=app',
  },
};

/** Seconds that a step took, and the bytes of the dump that went through it. */
export interface Rate {
  readonly seconds: number;
  readonly bytes: number;
}

/** One server with much data, and Jobs that dump, prove and restore it. */
export class DumpBench {
  private readonly subject: Subject;
  private readonly namespace: string;

  constructor(
    private readonly engine: EngineName,
    private readonly kubectl: { readonly program: string; readonly kubeconfig: string },
    private readonly storeImage: string,
  ) {
    this.subject = subjects[engine];
    this.namespace = `bench-${engine}`;
  }

  /** A server, and so many MiB of rows in it. */
  async prepare(mebibytes: number): Promise<void> {
    await this.do(['create', 'namespace', this.namespace]);
    await this.apply((chart) => new BackupVolume(chart, 'backups', { name: 'backups', namespace: this.namespace, size: '10Gi' }));
    await this.server('bench', true);
    while ((await this.do(['get', 'statefulset', 'bench', '-o', 'jsonpath={.status.readyReplicas}'])) !== '1') await sleep(1000);
    await this.do(['exec', '-i', 'bench-0', '--', 'sh', '-c', this.subject.client], this.subject.fill(mebibytes * 1024));
  }

  /** Our Job, without the proof: from the first byte of the dump to the manifest. */
  async ours(name: string): Promise<Rate> {
    const { backup } = await this.backup(name, false);
    return { seconds: (Date.parse(backup.completedAt) - Date.parse(backup.startedAt)) / 1000, bytes: backup.bytes };
  }

  /** The engine's own program and zstd, in the engine's container of the same pod, onto the same volume. */
  async plain(name: string): Promise<Rate> {
    const [job] = render((chart) => new BackupJob(chart, 'plain', { ...this.props('bench'), name, verify: false })) as unknown as [{ spec: { podFailurePolicy?: object; template: { spec: { containers: { command?: string[]; volumeMounts: object[] }[] } } } }];
    const [engine] = job.spec.template.spec.containers;
    engine!.command = ['sh', '-c', `. /dbop/scripts/common.sh; log_in; from=$(date +%s%N); ${this.subject.dump} | zstd -q -o /dbop/backups/${name}.zst; to=$(date +%s%N); echo seconds=$(( (to - from) / 1000000 )) bytes=$(zstd -dc /dbop/backups/${name}.zst | wc -c); rm /dbop/backups/${name}.zst`];
    engine!.volumeMounts.push({ name: 'backups', mountPath: '/dbop/backups' });
    job.spec.template.spec.containers = [engine!];
    delete job.spec.podFailurePolicy;
    await this.do(['apply', '-f', '-'], JSON.stringify(job));
    while ((await this.do(['get', 'job', name, '-o', 'jsonpath={.status.succeeded}'])) !== '1') await sleep(1000);
    const [, milliseconds, bytes] = /seconds=(\d+) bytes=(\d+)/.exec(await this.do(['logs', `job/${name}`])) ?? [];
    return { seconds: Number(milliseconds) / 1000, bytes: Number(bytes) };
  }

  /** Dump and proof together, by the Job's own clock. */
  async proved(name: string): Promise<Rate> {
    const { backup } = await this.backup(name, true);
    return { seconds: (Date.parse(backup.verifiedAt ?? '') - Date.parse(backup.startedAt)) / 1000, bytes: backup.bytes };
  }

  /** A restore into a new volume, from the start of its Job to its end. */
  async restored(backup: string): Promise<Rate> {
    await this.server('copy', false);
    await this.apply((chart) => new RestoreJob(chart, 'restore', { ...this.props('copy'), from: { database: 'bench', backup }, required: true }));
    const result = await this.resultOf('copy-restore');
    if (result?.outcome !== 'restored') throw new Error(`the restore of ${this.engine} failed: ${JSON.stringify(result)}`);
    const { status } = JSON.parse(await this.do(['get', 'job', 'copy-restore', '-o', 'json'])) as { status: { startTime: string; completionTime: string } };
    return { seconds: (Date.parse(status.completionTime) - Date.parse(status.startTime)) / 1000, bytes: result.backup.bytes };
  }

  async remove(): Promise<void> {
    await this.do(['delete', 'namespace', this.namespace, '--wait=false']);
  }

  private async backup(name: string, verify: boolean): Promise<{ backup: BackupFacts }> {
    await this.apply((chart) => new BackupJob(chart, 'backup', { ...this.props('bench'), name, verify }));
    const result = await this.resultOf(name);
    if (result?.outcome !== 'stored') throw new Error(`the backup of ${this.engine} failed: ${JSON.stringify(result)}`);
    return result;
  }

  private props(database: string) {
    return { database, namespace: this.namespace, engine: this.engine, version: this.subject.version, storeImage: this.storeImage, target: { volume: { claimName: 'backups' } }, engineResources: { limits: { memory: MEMORY } } };
  }

  private async server(name: string, running: boolean): Promise<void> {
    const secret = (suffix: string, stringData: object) => JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: `${name}-${suffix}`, namespace: this.namespace }, stringData });
    await this.do(['apply', '-f', '-'], [secret('accounts', { 'root-password': 'root', 'operator-password': 'operator', 'backup-password': 'backup' }), secret('app', { username: 'app', password: 'app', database: 'app' })].join('\n---\n'));
    await this.apply((chart) => new DatabaseServer(chart, 'server', { name, namespace: this.namespace, engine: this.engine, version: this.subject.version, data: { size: '10Gi' }, running, resources: { limits: { memory: '1Gi' } } }));
  }

  private async apply(build: (chart: Chart) => void): Promise<void> {
    await this.do(['apply', '-f', '-'], render(build).map((object) => JSON.stringify(object)).join('\n---\n'));
  }

  /** What the store of a Job said last, once the Job has ended. */
  private async resultOf(job: string): Promise<StoreResult | undefined> {
    while (!/Complete|Failed/.test(await this.do(['get', 'job', job, '-o', 'jsonpath={.status.conditions[*].type}']))) await sleep(1000);
    const message = await this.do(['get', 'pods', '-l', `job-name=${job}`, '-o', 'jsonpath={.items[-1:].status.containerStatuses[?(@.name=="store")].state.terminated.message}']);
    return parseResult(message);
  }

  private do(args: string[], input?: string): Promise<string> {
    return run(this.kubectl.program, ['-n', this.namespace, ...args], { env: { KUBECONFIG: this.kubectl.kubeconfig }, input });
  }
}
