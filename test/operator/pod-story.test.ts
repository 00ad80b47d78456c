import { podStory, type Pod } from '../../src/operator/pod-story';

const pod = (status: Pod['status'], deleted = false): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  spec: { nodeName: 'node1' },
  metadata: { name: 'orders-0', uid: 'u1', ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  status,
});

describe('the story of a pod', () => {
  it('repeats the scheduler’s own words when no node fits', () => {
    const told = podStory(pod({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes are available: 1 Insufficient cpu.' }] }));
    expect(told).toMatchObject({ reason: 'Unschedulable', failing: true, ready: false });
    expect(told.message).toContain('0/1 nodes are available: 1 Insufficient cpu.');
  });

  it('calls an image that cannot be pulled failing, and names the container', () => {
    const told = podStory(pod({ conditions: [{ type: 'PodScheduled', status: 'True' }], containerStatuses: [{ name: 'server', state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "mysql:0.0"' } } }] }));
    expect(told).toMatchObject({ reason: 'ImagePullBackOff', failing: true });
    expect(told.message).toContain('container server of pod orders-0: Back-off pulling image "mysql:0.0"');
  });

  it('tells a crashing server’s last words', () => {
    const told = podStory(
      pod({
        conditions: [{ type: 'PodScheduled', status: 'True' }],
        containerStatuses: [{ name: 'server', restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { exitCode: 1, message: '[ERROR] unknown variable max_conections=5\n' } } }],
      }),
    );
    expect(told.message).toContain('exit code 1: [ERROR] unknown variable max_conections=5');
  });

  it('tells what a server died of, not its farewell after that', () => {
    const message = '[ERROR] [MY-000067] [Server] unknown variable Max=1\n[ERROR] [MY-010119] [Server] Aborting\n[System] [Server] Shutdown complete\n[System] MySQL Server - end.\n';
    const told = podStory(pod({ conditions: [{ type: 'PodScheduled', status: 'True' }], containerStatuses: [{ name: 'server', restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { exitCode: 1, message } } }] }));
    expect(told.message).toMatch(/\(exit code 1: \[ERROR\] \[MY-000067\] \[Server\] unknown variable Max=1\)$/);
  });

  it('says what to do about a server that was killed for want of memory', () => {
    const told = podStory(pod({ conditions: [{ type: 'PodScheduled', status: 'True' }], containerStatuses: [{ name: 'server', restartCount: 1, state: { running: {} }, lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }] }));
    expect(told).toMatchObject({ reason: 'ContainerFailed', failing: true });
    expect(told.message).toContain('raise resources.limits.memory');
  });

  it('points to the node of a pod that a taint has evicted: it may never end there', () => {
    const told = podStory(pod({ conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' }] }, true));
    expect(told).toMatchObject({ reason: 'PodTerminating', failing: false });
    expect(told.message).toBe('pod orders-0 is shutting down, evicted from node node1 by a taint. If this lasts, the node may be lost: kubectl get node node1');
  });

  it('is ready only when the kubelet says so, and never while it shuts down', () => {
    const ready = { conditions: [{ type: 'PodScheduled', status: 'True' }, { type: 'Ready', status: 'True' }] };
    expect(podStory(pod(ready)).ready).toBe(true);
    expect(podStory(pod(ready, true))).toMatchObject({ ready: false, reason: 'PodTerminating' });
  });

  it('says that the node is lost, how to wait and what to do, whether or not the control plane has given up the pod', () => {
    const lost = { conditions: [{ type: 'PodScheduled', status: 'True' }, { type: 'ContainersReady', status: 'True' }, { type: 'Ready', status: 'False' }], containerStatuses: [{ name: 'server', ready: true, state: { running: {} } }] };
    for (const told of [podStory(pod(lost)), podStory(pod(lost, true))]) {
      expect(told).toMatchObject({ reason: 'NodeLost', failing: true, ready: false });
      expect(told.message).toContain('node node1 does not answer');
      expect(told.message).toContain('kubectl delete node node1');
    }
  });

  it('tells a server that starts from a pod that waits for its volume and image', () => {
    const scheduled = [{ type: 'PodScheduled', status: 'True' }];
    expect(podStory(pod({ conditions: scheduled, containerStatuses: [{ name: 'server', state: { running: {} } }] })).reason).toBe('ServerStarting');
    expect(podStory(pod({ conditions: scheduled, containerStatuses: [{ name: 'server', state: { waiting: { reason: 'ContainerCreating' } } }] })).reason).toBe('PodCreating');
    expect(podStory(pod({})).reason).toBe('PodPending');
  });

  it('tells a server that has become unready from one that is not ready yet, or was started anew', () => {
    const scheduled = { type: 'PodScheduled', status: 'True' };
    const since = (time: string, container: object = {}) =>
      podStory(pod({ conditions: [scheduled, { type: 'Ready', status: 'False', lastTransitionTime: time }], containerStatuses: [{ name: 'server', started: true, state: { running: { startedAt: '2026-01-01T10:00:00Z' } }, ...container }] }));
    expect(since('2026-01-01T11:00:00Z')).toMatchObject({ reason: 'ServerUnready', up: true, ready: false });
    expect(since('2026-01-01T10:00:00Z')).toMatchObject({ reason: 'ServerStarting', up: false });
    expect(since('2026-01-01T11:00:00Z', { started: false })).toMatchObject({ reason: 'ServerStarting', up: false });
  });
});
