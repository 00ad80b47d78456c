import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuditTail } from './audit-tail';
import { childCount } from './children';
import { MeasuredProcess } from './measured-process';
import { ShopFleet } from './shop-fleet';
import type { Subject } from './subject';
import type { Identity, TestBed } from './test-bed';

/** What one subject was measured to do with one fleet of shops. */
export interface RunResult {
  readonly cold: Phase;
  /** Over unchanged objects; of subjects that watch. */
  readonly restart?: Phase;
  /** After the restart, for as long as was asked. */
  readonly idle?: Phase;
  /** Three of the eight children of every object. */
  readonly change?: Phase;
}

/** One phase of a run. */
export interface Phase {
  /** Until the last object's status was answered; of a restart, until it came to rest. */
  readonly seconds: number;
  /** As the API server counted them until no more came. */
  readonly writes: number;
  readonly writesByKind: Readonly<Record<string, number>>;
  /** Of this phase alone. */
  readonly cpuSeconds: number;
  /** Most memory held by the process until the end of this phase. */
  readonly peakRssMb: number;
}

export interface RunOptions {
  readonly objects: number;
  readonly idleSeconds: number;
  /** Ends after the cold start. @default false */
  readonly coldOnly?: boolean;
}

/** No answer within this time means that a program hangs. */
const timeoutMs = 600_000;
/** No write and no work for this long means that nothing more will come. */
const restMs = 2_000;
const lookMs = 200;

/** Runs one subject over a fleet of its own, from nothing to nothing. */
export async function runSubject(bed: TestBed, subject: Subject, identity: Identity, namespace: string, options: RunOptions): Promise<RunResult> {
  const fleet = new ShopFleet(bed.api, namespace, options.objects);
  await fleet.create();
  const start = (): MeasuredProcess => new MeasuredProcess(subject.command({ namespace, kubeconfig: identity.kubeconfig }), bed.logFile(namespace));
  let running: MeasuredProcess | undefined;
  try {
    const answered = await fleet.answered(1, timeoutMs);
    const coldWatch = new PhaseWatch(bed, identity);
    running = start();
    const cold = await coldWatch.until(running, answered.moment);
    await checkChildren(fleet, options.objects, subject);
    if (!subject.watches || options.coldOnly === true) return { cold };
    await running.stop();

    const restartWatch = new PhaseWatch(bed, identity);
    running = start();
    const restart = await restartWatch.until(running);

    const idleWatch = new PhaseWatch(bed, identity, running);
    await sleep(options.idleSeconds * 1000);
    const idle = idleWatch.end(running, options.idleSeconds);

    const changed = await fleet.answered(2, timeoutMs);
    const changeWatch = new PhaseWatch(bed, identity, running);
    await fleet.change('2');
    const change = await changeWatch.until(running, changed.moment);
    return { cold, restart, idle, change };
  } finally {
    await running?.stop();
    await fleet.remove();
  }
}

/** Measures from its making on. */
class PhaseWatch {
  private readonly tail: AuditTail;
  private readonly startedAt = performance.now();
  private readonly cpuBefore: number;

  /** @param running the process, if it already ran before this phase */
  constructor(bed: TestBed, identity: Identity, running?: MeasuredProcess) {
    this.tail = new AuditTail(bed.auditLog, identity.username);
    this.cpuBefore = running?.cpuSeconds() ?? 0;
  }

  /** Waits for the moment, and then until the process rests; without a moment, the phase ends when it came to rest. */
  async until(process: MeasuredProcess, moment?: Promise<number>): Promise<Phase> {
    const answeredAt = moment && (await process.whileRunning(moment));
    const restedAt = await this.rest(process);
    return this.end(process, ((answeredAt ?? restedAt) - this.startedAt) / 1000);
  }

  end(process: MeasuredProcess, seconds: number): Phase {
    try {
      return { seconds, writes: this.tail.total(), writesByKind: this.tail.byKind(), cpuSeconds: process.cpuSeconds() - this.cpuBefore, peakRssMb: process.peakRssMb() };
    } finally {
      this.tail.close();
    }
  }

  /** Resolves to the moment of the last write or noticeable work. */
  private async rest(process: MeasuredProcess): Promise<number> {
    let [lastAt, writes, cpu] = [performance.now(), this.tail.total(), process.cpuSeconds()];
    while (performance.now() - lastAt < restMs) {
      await sleep(lookMs);
      const [writesNow, cpuNow] = [this.tail.total(), process.cpuSeconds()];
      // Two ticks of a clock with a hundred a second: what a garbage collector does now and then.
      if (writesNow !== writes || cpuNow - cpu > 0.02) lastAt = performance.now();
      [writes, cpu] = [writesNow, cpuNow];
    }
    return lastAt;
  }
}

/** A program that is fast because it leaves something out is not fast. */
async function checkChildren(fleet: ShopFleet, objects: number, subject: Subject): Promise<void> {
  const collections = ['/api/v1/{}/secrets', '/api/v1/{}/configmaps', '/api/v1/{}/services', '/apis/apps/v1/{}/statefulsets', '/apis/batch/v1/{}/cronjobs', '/apis/policy/v1/{}/poddisruptionbudgets', '/apis/networking.k8s.io/v1/{}/networkpolicies'];
  let found = 0;
  for (const collection of collections) found += await fleet.countOf(`${collection.replace('{}', 'namespaces/{namespace}')}?labelSelector=app.kubernetes.io/name=shop`);
  if (found !== objects * childCount.all) throw new Error(`${subject.title} answered all objects, but made ${found} children instead of ${objects * childCount.all}`);
}
