import { makeNamespace, removeNamespace } from '../support/test-namespace';
import { waitFor } from '../support/wait-for';
import type { Living } from './living';

/** Whom a living database lets in, and what its pod may do. */
export function isolationOf(living: Living, port: number): void {
  /** A pod that does nothing but wait for commands. */
  async function guest(namespace: string): Promise<void> {
    const security = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    const container = { name: 'guest', image: 'busybox', command: ['sleep', '600'], securityContext: security };
    const spec = { terminationGracePeriodSeconds: 0, securityContext: { runAsNonRoot: true, runAsUser: 999, seccompProfile: { type: 'RuntimeDefault' } }, containers: [container] };
    await living.cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'guest', namespace }, spec });
    await waitFor(living.cluster, { apiVersion: 'v1', resource: 'pods', namespace, name: 'guest' }, (seen) => seen?.status?.phase === 'Running', { what: 'a guest', withinMs: 60_000 });
  }

  const door = () => `${living.name}.${living.namespace}.svc ${port}`;
  /** Asks until somebody opens: a network takes a moment to hear of a new pod or policy, and only asking shows when. */
  const getsIn = (namespace: string) => living.cluster.kubectl(`exec guest -n ${namespace} -- timeout 30 sh -c 'until nc -w 1 ${door()} -e true; do :; done'`);
  const staysOut = async (namespace: string) => expect((await living.cluster.tryKubectl(`exec guest -n ${namespace} -- nc -w 3 ${door()} -e true`)).code).not.toBe(0);

  it('lets in pods of its namespace; those of another one only when a NetworkPolicy names it', async () => {
    const { cluster, name, namespace } = living;
    const outside = await makeNamespace(cluster);
    try {
      await Promise.all([guest(namespace), guest(outside)]);
      await getsIn(namespace);
      await staysOut(outside);
      const podSelector = { matchLabels: { 'app.kubernetes.io/instance': name, 'app.kubernetes.io/component': 'server' } };
      const from = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': outside } } }];
      await cluster.apply({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'invitation', namespace }, spec: { podSelector, ingress: [{ from, ports: [{ port }] }] } });
      await getsIn(outside);
    } finally {
      await cluster.tryKubectl(`delete networkpolicy/invitation pod/guest -n ${namespace} --wait=false`);
      await removeNamespace(cluster, outside);
    }
  }, 150_000);

  it('gives its pod no account in the cluster and no right to write to its own image', async () => {
    const { cluster, name, namespace } = living;
    const inside = (command: string) => cluster.tryKubectl(`exec ${name}-0 -n ${namespace} -c server -- sh -c '${command}'`);
    expect((await inside('ls /var/run/secrets/kubernetes.io')).stderr).toContain('No such file');
    expect((await inside('touch /usr/bin/mine')).stderr).toContain('Read-only file system');
    expect((await inside('id -u')).stdout.trim()).not.toBe('0');
    expect((await inside("grep CapBnd /proc/self/status | tr -dc '[:xdigit:]' | tail -c 16")).stdout.trim()).toBe('0000000000000000');
  }, 60_000);
}
