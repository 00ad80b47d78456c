import { get } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../cluster/ports';
import { MeasuredProcess } from './measured-process';
import type { Subject } from './subject';
import type { Identity, TestBed } from './test-bed';

const pollMs = 5;

/** Seconds from the start of a subject's process, over an empty namespace, until it says that it is ready. */
export async function secondsUntilReady(bed: TestBed, subject: Subject, identity: Identity): Promise<number> {
  const [healthPort] = await freePorts(1);
  const running = new MeasuredProcess(subject.command({ namespace: 'default', kubeconfig: identity.kubeconfig, healthPort }), bed.logFile(`ready-${subject.id}`));
  try {
    while (!(await isReady(healthPort!))) {
      running.cpuSeconds();
      await sleep(pollMs);
    }
    return (performance.now() - running.startedAt) / 1000;
  } finally {
    await running.stop();
  }
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    }).on('error', () => resolve(false));
  });
}
