import { Gauge, type Registry } from 'prom-client';
import { parseQuantity } from '../kind/quantity';
import type { DatabasePlan, Story } from './plan';

const LABELS = ['namespace', 'name'] as const;

/** What Prometheus may know of each database. */
export class DatabaseMetrics {
  private readonly phase: Gauge<'namespace' | 'name' | 'engine' | 'phase'>;
  private readonly ready: Gauge<(typeof LABELS)[number]>;
  private readonly backupTime: Gauge<(typeof LABELS)[number]>;
  private readonly backupVerified: Gauge<(typeof LABELS)[number]>;
  private readonly backupOverdue: Gauge<(typeof LABELS)[number]>;
  private readonly backupFailed: Gauge<(typeof LABELS)[number]>;
  private readonly volume: Gauge<(typeof LABELS)[number]>;

  private static readonly made = new WeakMap<Registry, DatabaseMetrics>();

  /** Those of a registry: the controllers of one process share them. */
  static of(registry: Registry): DatabaseMetrics {
    const metrics = this.made.get(registry) ?? new DatabaseMetrics(registry);
    this.made.set(registry, metrics);
    return metrics;
  }

  private constructor(registry: Registry) {
    const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: LABELS, registers: [registry] });
    this.phase = new Gauge({ name: 'dbop_database_phase', help: 'Always 1; the phase that a database is in', labelNames: ['namespace', 'name', 'engine', 'phase'], registers: [registry] });
    this.ready = gauge('dbop_database_ready', 'Whether the server answers and nothing is missing (1) or not (0)');
    this.backupTime = gauge('dbop_database_last_backup_timestamp_seconds', 'When the newest good backup was complete; absent without one');
    this.backupVerified = gauge('dbop_database_last_backup_verified', 'Whether the newest good backup was restored into a throw-away server (1) or not (0)');
    this.backupOverdue = gauge('dbop_database_backup_overdue', 'Whether a run of the schedule was missed (1) or not (0); absent without a schedule');
    this.backupFailed = gauge('dbop_database_backup_failed', 'Whether the backup that ended last failed (1) or was good (0)');
    this.volume = gauge('dbop_database_volume_bytes', 'Size of the data volume that is asked for');
  }

  /** Takes down what a pass has found out. */
  told(plan: DatabasePlan, story: Story): void {
    const labels = this.forget(plan);
    this.phase.set({ ...labels, engine: plan.engine.name, phase: story.phase }, 1);
    this.ready.set(labels, story.ready ? 1 : 0);
    this.volume.set(labels, Number(parseQuantity(plan.server.data.size) / 1_000_000_000n));
    if (story.backups.overdue !== undefined) this.backupOverdue.set(labels, story.backups.overdue ? 1 : 0);
    this.backupFailed.set(labels, story.backups.failed ? 1 : 0);
    if (story.lastBackup === undefined) return;
    this.backupTime.set(labels, Date.parse(story.lastBackup.at) / 1000);
    this.backupVerified.set(labels, story.lastBackup.verified ? 1 : 0);
  }

  /** A database that is gone, or about to be told anew, leaves no series behind. */
  forget({ server: { namespace, name } }: DatabasePlan): { namespace: string; name: string } {
    const labels = { namespace, name };
    for (const phase of PHASES) for (const engine of ENGINES) this.phase.remove({ ...labels, engine, phase });
    for (const gauge of [this.ready, this.backupTime, this.backupVerified, this.backupOverdue, this.backupFailed, this.volume]) gauge.remove(labels);
    return labels;
  }
}

const PHASES = ['Creating', 'Restoring', 'Running', 'Updating', 'Failed', 'Hibernated', 'Paused', 'Deleting'] as const satisfies readonly Story['phase'][];
const ENGINES = ['mysql', 'postgres'] as const;
