import { cpus, loadavg, totalmem } from 'node:os';
import type { RenderCost } from './render-cost';
import type { Phase, RunResult } from './run';
import { spreadOf, type Spread } from './statistics';

/** All that one benchmark measured, sample by sample. */
export interface Report {
  readonly date: string;
  readonly machine: Machine;
  readonly objects: number;
  readonly idleSeconds: number;
  readonly subjects: readonly SubjectReport[];
  /** Of our runtime alone. */
  readonly memory: readonly MemorySample[];
  readonly render?: RenderCost;
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly node: string;
  /** Processes that wanted to run, on average over the minute before the benchmark. */
  readonly loadBefore: number;
}

export interface SubjectReport {
  readonly id: string;
  readonly title: string;
  readonly rounds: readonly RunResult[];
  /** Seconds from process start to ready over an empty namespace; of subjects that tell. */
  readonly ready: readonly number[];
}

/** A cold start over so many objects. */
export interface MemorySample {
  readonly objects: number;
  readonly cold: Phase;
}

export function thisMachine(): Machine {
  const [first] = cpus();
  return { cpu: first?.model ?? 'unknown', cores: cpus().length, memoryGb: Math.round(totalmem() / 1e9), node: process.version, loadBefore: loadavg()[0] ?? 0 };
}

/** One measure of one phase over all rounds; nothing where the subject doesn't have that phase. */
export function measure({ rounds }: SubjectReport, phase: keyof RunResult, value: (phase: Phase) => number): Spread | undefined {
  const values = rounds.flatMap((round) => {
    const found = round[phase];
    return found === undefined ? [] : [value(found)];
  });
  return values.length === 0 ? undefined : spreadOf(values);
}

/** How many times the floor's time a cold start took, round by round: what ran beside both then matters least. */
export function timesFloor(report: Report, { rounds }: SubjectReport): Spread | undefined {
  const floor = report.subjects.find(({ id }) => id === 'floor');
  if (floor === undefined) return undefined;
  const ratios = rounds.flatMap(({ cold }, index) => {
    const base = floor.rounds[index];
    return base === undefined ? [] : [cold.seconds / base.cold.seconds];
  });
  return ratios.length === 0 ? undefined : spreadOf(ratios);
}
