import { builtin, type KubeObject } from '../kind/resource';
import type { Context } from '../runtime/context';
import type { StoreResult } from '../store/result';
import { podStory, type Pod } from './pod-story';

/** The fields of a Job that tell how far it is. */
export interface Job extends KubeObject {
  spec?: { backoffLimit?: number };
  status?: {
    active?: number;
    startTime?: string;
    completionTime?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string }[];
  };
}

/** A Job and what it told: plain data for decisions. */
export interface JobFact<Result = unknown> {
  readonly name: string;
  readonly uid: string;
  readonly state: 'running' | 'succeeded' | 'failed';
  /** When it ended, ISO 8601. */
  readonly endedAt?: string;
  /** What the pod left in its termination message. */
  readonly result?: Result;
  /** Why it failed, in words. */
  readonly failure?: string;
}

/** The pods that tell how databases and their Jobs fare; one selection, so that controllers share one watch. */
export const podSelection = { type: builtin.Pod, labelSelector: 'app.kubernetes.io/component in (server,backup,restore,artifact),app.kubernetes.io/instance' };

/** Label that the Job controller puts on a Job's pods. The pods of a former Job of the same name may still be there. */
const JOB_UID = 'batch.kubernetes.io/controller-uid';

/**
 * Reads a Job and the pods it made.
 * @param parse reads a termination message; `undefined` where it is none of ours
 */
export function jobFact<Result>(job: Job, pods: readonly Pod[], parse: (message: string) => Result | undefined): JobFact<Result> {
  const condition = (type: string) => job.status?.conditions?.find((candidate) => candidate.type === type && candidate.status === 'True');
  const complete = condition('Complete');
  const failed = condition('Failed');
  const state = complete ? 'succeeded' : failed ? 'failed' : 'running';
  const { name, uid = '' } = job.metadata;
  const messages = podsOfJob({ uid }, pods).flatMap((pod) => terminationMessages(pod));
  return {
    name,
    uid,
    state,
    endedAt: job.status?.completionTime ?? failed?.lastTransitionTime,
    result: messages.map(parse).find((result) => result !== undefined),
    failure: failed && [failed.message ?? failed.reason, ...messages.filter((message) => parse(message) === undefined)].filter(Boolean).join(': ').slice(0, 800),
  };
}

/**
 * A Job of the namespace by its name, and what it told.
 * @param isMeant whether it is the one that is looked for: a name alone says nothing about whose it is
 */
export function findJob<Result>(context: Pick<Context, 'read'>, name: string, isMeant: (job: Job) => boolean, parse: (message: string) => Result | undefined): JobFact<Result> | undefined {
  const job = context.read<Job>(builtin.Job).get(name);
  return job === undefined || !isMeant(job) ? undefined : jobFact(job, context.read<Pod>(builtin.Pod).list(job.metadata.namespace), parse);
}

/** Why a Job failed: in the words of its store; but that its pod was told to stop says less than why it was. */
export function failureOf({ result, failure }: JobFact<StoreResult>): string {
  const interrupted = result?.outcome === 'failed' && result.reason === 'Interrupted';
  return (interrupted ? (failure ?? result.message) : (result?.message ?? failure)) ?? 'it told no reason';
}

/** The pods of a Job, the newest first. */
export function podsOfJob({ uid }: Pick<JobFact, 'uid'>, pods: readonly Pod[]): Pod[] {
  return pods
    .filter(({ metadata }) => metadata.labels?.[JOB_UID] === uid)
    .sort((left, right) => (right.metadata.creationTimestamp ?? '').localeCompare(left.metadata.creationTimestamp ?? ''));
}

/** The pod that is at work for a Job: the newest that has not ended. */
export function podOfJob(job: Pick<JobFact, 'uid'>, pods: readonly Pod[]): Pod | undefined {
  return podsOfJob(job, pods).find(({ status }) => !['Succeeded', 'Failed'].includes(status?.phase ?? ''));
}

/** What keeps a Job from its work, in words: its pod can't start, or starts in vain. */
export function troubleOfJob(context: Pick<Context, 'read' | 'object'>, job: Pick<JobFact, 'uid'>): string | undefined {
  const pod = podOfJob(job, context.read<Pod>(builtin.Pod).list(context.object.metadata.namespace));
  const story = pod && podStory(pod);
  return story?.failing === true ? story.message : undefined;
}

function terminationMessages(pod: Pod): string[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].flatMap((container) => {
    const said = (container.state?.terminated ?? container.lastState?.terminated)?.message?.trim();
    return said ? [said] : [];
  });
}
