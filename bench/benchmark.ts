import type { Progress } from '../cluster/progress';
import { secondsUntilReady } from './readiness';
import type { MemorySample, SubjectReport } from './report';
import { runSubject, type RunResult } from './run';
import { subjects, type Subject, type SubjectId } from './subject';
import { TestBed, type Identity } from './test-bed';

export interface BenchmarkOptions {
  readonly objects: number;
  readonly rounds: number;
  readonly idleSeconds: number;
  readonly subjects: readonly SubjectId[];
  /** Numbers of objects for the cold starts that show how memory grows. */
  readonly memory: readonly number[];
}

/** The subjects that say when they are ready. */
const tellReady = new Set<string>(['ours', 'go-10']);

/** What has been measured so far. */
export interface Measurements {
  readonly subjects: readonly SubjectReport[];
  readonly memory: readonly MemorySample[];
}

/**
 * Measures all subjects on one control plane, which is removed at the end.
 * @param keep is given all measurements after each turn: what takes half an hour must survive a failure in its last minute
 */
export async function benchmark(options: BenchmarkOptions, progress: Progress, keep: (measured: Measurements) => void): Promise<Measurements> {
  if (options.subjects.length === 0 && options.memory.length === 0) return { subjects: [], memory: [] };
  const measured = await subjects(options.subjects, progress);
  const [ours] = options.memory.length > 0 ? await subjects(['ours'], progress) : [];
  const bed = await TestBed.start('bench', progress);
  const interrupted = (): void => void bed.remove().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const identities = new Map<string, Identity>();
    for (const { id } of [...measured, ...(ours === undefined || measured.some(({ id }) => id === 'ours') ? [] : [ours])]) identities.set(id, await bed.identity(id));
    const turn = new Turn(bed, identities, progress);
    const memory: MemorySample[] = [];
    const reports = measured.map(({ id, title }) => ({ id, title, rounds: [] as RunResult[], ready: [] as number[] }));
    for (let round = 0; round < options.rounds; round++) {
      for (const [index, subject] of rotated([...measured.entries()], round)) {
        const report = reports[index]!;
        if (tellReady.has(subject.id)) report.ready.push(await secondsUntilReady(bed, subject, identities.get(subject.id)!));
        report.rounds.push(await turn.run(subject, `${subject.id}-${round}`, `round ${round + 1} of ${options.rounds}`, { ...options }));
        keep({ subjects: reports, memory });
      }
    }
    for (const objects of options.memory) {
      const { cold } = await turn.run(ours!, `memory-${objects}`, `${objects} objects`, { objects, idleSeconds: 0, coldOnly: true });
      memory.push({ objects, cold });
      keep({ subjects: reports, memory });
    }
    return { subjects: reports, memory };
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await bed.remove();
  }
}

class Turn {
  constructor(
    private readonly bed: TestBed,
    private readonly identities: ReadonlyMap<string, Identity>,
    private readonly progress: Progress,
  ) {}

  run(subject: Subject, namespace: string, which: string, options: Parameters<typeof runSubject>[4]): Promise<RunResult> {
    return this.progress.step(`${subject.title}: ${which}`, `${Math.round(30 + options.objects / 5)} s`, () => runSubject(this.bed, subject, this.identities.get(subject.id)!, namespace, options));
  }
}

/** Another subject begins each round, so that none always runs on the freshest or the fullest API server. */
function rotated<T>(items: readonly T[], by: number): T[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
