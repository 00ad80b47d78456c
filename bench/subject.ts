import { join } from 'node:path';
import type { Progress } from '../cluster/progress';
import type { Command } from './measured-process';
import { compiled, controllerRuntimePeer, kopfPeer } from './programs';

/** Something that is measured. */
export interface Subject {
  /** Short, fit for names of namespaces and accounts. */
  readonly id: string;
  /** For people. */
  readonly title: string;
  /** Whether it stays and watches; the floor only fires its requests. */
  readonly watches: boolean;
  /** How it is started to look after one namespace. */
  command(run: { readonly namespace: string; readonly kubeconfig: string; readonly healthPort?: number }): Command;
}

/** The names by which subjects are chosen. */
export const subjectIds = ['floor', 'ours', 'kopf', 'go-10', 'go-1'] as const;
export type SubjectId = (typeof subjectIds)[number];

/** As the image starts the operator; see the Dockerfile for why. */
const nodeFlags = ['--max-semi-space-size=2', '--liftoff-only'];

/** The subjects of these names, with everything built that they need. */
export async function subjects(ids: readonly SubjectId[], progress: Progress): Promise<Subject[]> {
  const found: Subject[] = [];
  for (const id of ids) found.push(await makers[id](progress));
  return found;
}

const makers: Record<SubjectId, (progress: Progress) => Promise<Subject>> = {
  floor: async (progress) => {
    const script = join(await compiled(progress), 'bench', 'peers', 'floor.js');
    return { id: 'floor', title: 'floor (undici, 32 connections)', watches: false, command: ({ namespace, kubeconfig }) => ({ program: process.execPath, args: [script, namespace], env: { KUBECONFIG: kubeconfig } }) };
  },
  ours: async (progress) => {
    const script = join(await compiled(progress), 'bench', 'operator.js');
    return {
      id: 'ours',
      title: 'cdk8s-database-operator/runtime',
      watches: true,
      command: ({ namespace, kubeconfig, healthPort }) => ({ program: process.execPath, args: [...nodeFlags, script, namespace, ...(healthPort === undefined ? [] : [String(healthPort)])], env: { KUBECONFIG: kubeconfig, NODE_ENV: 'production' } }),
    };
  },
  kopf: async (progress) => {
    const { python, folder } = await kopfPeer(progress);
    return {
      id: 'kopf',
      title: 'kopf 1.45 (watches no children)',
      watches: true,
      command: ({ namespace, kubeconfig }) => ({ program: python, args: ['-m', 'kopf', 'run', '--quiet', '--standalone', '-n', namespace, 'shop_operator.py'], cwd: folder, env: { KUBECONFIG: kubeconfig, PYTHONDONTWRITEBYTECODE: '1' } }),
    };
  },
  'go-10': (progress) => controllerRuntime(10, progress),
  'go-1': (progress) => controllerRuntime(1, progress),
};

async function controllerRuntime(workers: number, progress: Progress): Promise<Subject> {
  const program = await controllerRuntimePeer(progress);
  return {
    id: `go-${workers}`,
    title: `controller-runtime 0.25, ${workers} worker${workers === 1 ? '' : 's'}`,
    watches: true,
    command: ({ namespace, kubeconfig, healthPort }) => ({
      program,
      args: ['--namespace', namespace, '--workers', String(workers), ...(healthPort === undefined ? [] : ['--health', `127.0.0.1:${healthPort}`])],
      env: { KUBECONFIG: kubeconfig },
    }),
  };
}
