import type { KubeObject } from '../kind/resource';

/** The fields of a Pod that tell how it fares. */
export interface Pod extends KubeObject {
  spec?: { nodeName?: string; containers?: { command?: string[] }[] };
  status?: {
    phase?: string;
    podIP?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string }[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
}

interface ContainerStatus {
  name: string;
  ready?: boolean;
  started?: boolean;
  restartCount?: number;
  state?: { waiting?: { reason?: string; message?: string }; running?: { startedAt?: string }; terminated?: Terminated };
  lastState?: { terminated?: Terminated };
}

interface Terminated {
  exitCode: number;
  reason?: string;
  message?: string;
}

/** What a pod is waiting for, in words. */
export interface PodStory {
  readonly name: string;
  readonly uid: string;
  readonly ready: boolean;
  /** It was ready with the server that runs in it, and no longer is: something has shut the probe out. */
  readonly up: boolean;
  /** CamelCase, for a condition. */
  readonly reason: string;
  readonly message: string;
  /** The pod won't come up unless something is changed: in the spec, or in the cluster. */
  readonly failing: boolean;
  /** Its server was started so that it takes no writes. */
  readonly closed: boolean;
}

/** Waiting reasons that a kubelet leaves only when somebody changes something. */
const FAILING = new Set(['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'CrashLoopBackOff', 'CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']);

/** Tells a pod's story: scheduling in the scheduler's own words, image, crash with its last words, readiness. */
export function podStory(pod: Pod): PodStory {
  const told = (reason: string, message: string, failing = false): PodStory => ({
    name: pod.metadata.name,
    uid: pod.metadata.uid ?? '',
    ready: reason === 'PodReady',
    up: reason === 'ServerUnready',
    reason,
    message,
    failing,
    closed: pod.spec?.containers?.some(({ command }) => command?.includes('closed')) ?? false,
  });
  if (isOnLostNode(pod)) return told('NodeLost', lostNode(pod.metadata.name, pod.spec?.nodeName ?? ''), true);
  if (pod.metadata.deletionTimestamp !== undefined) return told('PodTerminating', `pod ${pod.metadata.name} is shutting down${eviction(pod)}`);
  if (isTrue(pod, 'Ready')) return told('PodReady', `pod ${pod.metadata.name} is ready`);
  const scheduled = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  if (scheduled?.status === 'False') {
    return told('Unschedulable', `pod ${pod.metadata.name} can't be placed on a node: ${scheduled.message ?? scheduled.reason ?? 'no reason given'}`, true);
  }
  const containers = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const container of containers) {
    const waiting = container.state?.waiting;
    const last = container.state?.terminated ?? container.lastState?.terminated;
    if (waiting?.reason !== undefined && FAILING.has(waiting.reason)) {
      return told(waiting.reason, `container ${container.name} of pod ${pod.metadata.name}: ${waiting.message ?? waiting.reason}${lastWords(last)}`, true);
    }
    if (last !== undefined && last.exitCode !== 0 && container.ready !== true && (container.restartCount ?? 0) > 0) {
      return told('ContainerFailed', `container ${container.name} of pod ${pod.metadata.name} has stopped${lastWords(last)}`, true);
    }
  }
  if (scheduled === undefined) return told('PodPending', `pod ${pod.metadata.name} waits for the scheduler`);
  if (hasBecomeUnready(pod)) return told('ServerUnready', `the server in pod ${pod.metadata.name} runs, but no longer answers its probe`);
  if (containers.some((container) => container.state?.running !== undefined)) {
    return told('ServerStarting', `the server in pod ${pod.metadata.name} is starting`);
  }
  return told('PodCreating', `pod ${pod.metadata.name} waits for its volume and image`);
}

/**
 * A kubelet never calls a pod unready whose containers it calls ready (ours have no readiness gates): the control plane does, when
 * it no longer hears from the node. Read from the pod, this needs no right to read nodes.
 */
function isOnLostNode(pod: Pod): boolean {
  return isTrue(pod, 'ContainersReady') && pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'False') === true;
}

/** Taints evict the pods of a lost node, too. Of one that was not ready nothing else tells: it is up to a person to look. */
function eviction(pod: Pod): string {
  const evicted = pod.status?.conditions?.some(({ type, status, reason }) => type === 'DisruptionTarget' && status === 'True' && reason === 'DeletionByTaintManager') === true;
  const node = pod.spec?.nodeName ?? '';
  return evicted ? `, evicted from node ${node} by a taint. If this lasts, the node may be lost: kubectl get node ${node}` : '';
}

function lostNode(pod: string, node: string): string {
  return (
    `node ${node} does not answer. The server of pod ${pod} may still run there, and a second one on its volume would destroy the data, so the database returns when the node does. ` +
    `If the node is off for good, say so: kubectl delete node ${node}, or, to keep its object, kubectl taint node ${node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`
  );
}

/** A pod that has not been ready yet is so for longer than its server runs. */
function hasBecomeUnready({ status }: Pod): boolean {
  const since = status?.conditions?.find(({ type, status: is }) => type === 'Ready' && is === 'False')?.lastTransitionTime ?? '';
  return status?.containerStatuses?.some(({ started, state }) => started === true && state?.running?.startedAt !== undefined && since > state.running.startedAt) ?? false;
}

function isTrue(pod: Pod, type: string): boolean {
  return pod.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}

/** The last lines that name an error, or else the last: a server's farewell comes after what it died of. */
function tellingLines(message: string): string[] {
  const lines = message.trim().split('\n');
  const errors = lines.filter((line) => /\[ERROR\]|FATAL|PANIC/.test(line) && !/Aborting/.test(line));
  return (errors.length > 0 ? errors : lines).slice(-3);
}

/** What a container said before it ended: its termination message is the tail of its log. */
function lastWords(last: Terminated | undefined): string {
  if (last === undefined) return '';
  const said = tellingLines(last.message ?? '').join(' ').slice(-400);
  const how = last.reason === 'OOMKilled' ? 'was killed for want of memory (raise resources.limits.memory)' : `exit code ${last.exitCode}`;
  return ` (${how}${said ? `: ${said}` : ''})`;
}
