import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { programs } from '../../cluster/programs';
import { silent } from '../../cluster/progress';
import { firstUpTimeoutMs, ownCluster, testOfOwn } from '../support/shared-cluster';
import type { TestCluster } from '../support/test-cluster';
import { waitFor } from '../support/wait-for';
import { MachineTraces } from './machine-traces';

let cluster: TestCluster;
let traces: MachineTraces;

/** Two pods on two nodes, each with a volume it writes as a user without any rights. */
const set = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    serviceName: 'web',
    replicas: 2,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        securityContext: { runAsUser: 999, runAsGroup: 999, fsGroup: 999, runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: { app: 'web' } } }],
        containers: [
          {
            name: 'web',
            image: 'busybox:1.36',
            command: ['sh', '-c', 'hostname >> /data/index.html; echo serving; exec httpd -f -p 8080 -h /data'],
            readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
            securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
      },
    },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }],
  },
};

const services = [
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'default' }, spec: { clusterIP: 'None', selector: { app: 'web' }, ports: [{ port: 8080 }] } },
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'front', namespace: 'default' }, spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] } },
];

beforeAll(async () => {
  cluster = await ownCluster({ nodes: 2 });
  traces = new MachineTraces(cluster.demandOwn('nodes'));
  await cluster.apply(set, ...services);
}, firstUpTimeoutMs);

afterAll(async () => {
  await cluster.remove();
}, 60_000);

const nodeOf = (pod: string): Promise<string> => cluster.kubectl(`get pod ${pod} -o jsonpath={.spec.nodeName}`);
const readyReplicas = (count: number, withinMs = 60_000): Promise<unknown> =>
  waitFor(cluster, { apiVersion: 'apps/v1', resource: 'statefulsets', namespace: 'default', name: 'web' }, (object) => object?.status?.readyReplicas === count, { what: `${count} ready pods`, withinMs });

testOfOwn('pods of a StatefulSet run on both nodes, on volumes that a non-root user can write', async () => {
  await readyReplicas(2);
  expect(new Set([await nodeOf('web-0'), await nodeOf('web-1')])).toEqual(new Set(['node1', 'node2']));
}, 70_000);

/** Asks from a pod until a certain pod answers: a Service knows its pods a few seconds after they are ready, and only asking shows when. */
const hears = (pod: string, url: string, other: string): Promise<string> => cluster.kubectl(`exec ${pod} -- timeout 30 sh -c 'until wget -T 5 -qO- ${url} | grep -x ${other}; do sleep 0.1; done'`);

testOfOwn('pods of different nodes find each other by name', async () => {
  expect(await hears('web-0', 'http://web-1.web:8080', 'web-1')).toBe('web-1\n');
  expect(await hears('web-1', 'http://web-0.web.default.svc.cluster.local:8080', 'web-0')).toBe('web-0\n');
}, 70_000);

testOfOwn('a Service reaches all its pods from each node', async () => {
  for (const pod of ['web-0', 'web-1']) {
    for (const other of ['web-0', 'web-1']) expect(await hears(pod, 'http://front', other)).toBe(`${other}\n`);
  }
}, 130_000);

testOfOwn('a NetworkPolicy keeps out whom it does not name, be it on the same node or on another', async () => {
  const isShutOut = (url: string): Promise<string> => cluster.kubectl(`exec guest -- timeout 60 sh -c 'while wget -T 2 -qO- ${url}; do sleep 0.1; done'`);
  const urls = ['http://web-0.web:8080', 'http://web-1.web:8080'];
  await cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'guest', namespace: 'default' }, spec: { nodeName: 'node1', terminationGracePeriodSeconds: 0, containers: [{ name: 'guest', image: 'busybox', command: ['sleep', '600'] }] } });
  await cluster.kubectl('wait pod/guest --for=condition=Ready --timeout=60s');
  await Promise.all(urls.map((url, index) => hears('guest', url, `web-${index}`)));
  await cluster.apply({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'friends', namespace: 'default' }, spec: { podSelector: { matchLabels: { app: 'web' } }, ingress: [{ from: [{ podSelector: { matchLabels: { friend: 'yes' } } }] }] } });
  await Promise.all(urls.map(isShutOut));
  await cluster.kubectl('label pod guest friend=yes');
  await Promise.all(urls.map((url, index) => hears('guest', url, `web-${index}`)));
  await cluster.kubectl('delete networkpolicy/friends pod/guest');
}, 200_000);

testOfOwn('logs can be read', async () => {
  expect(await cluster.kubectl('logs web-0')).toBe('serving\n');
});

testOfOwn('a command enters a node by its first process, whatever number another one has', async () => {
  const own = cluster.demandOwn('nodes');
  const node = await own.node('node1');
  const first = node.firstProcess();
  // The kernel gives low numbers again once it has given the highest: here, at once.
  writeFileSync('/proc/sys/kernel/ns_last_pid', '300');
  const log = join(own.folder.path, 'passing.log');
  const passing = node.run('sh', ['-c', 'echo inside; sleep 3'], { log, env: { DBOP_CLUSTER_FOLDER: own.folder.path, DBOP_DAEMON: 'node1' } });
  while (!existsSync(log) || readFileSync(log, 'utf8') === '') await new Promise(setImmediate);
  expect(node.firstProcess()).toBe(first);
  await passing;
}, 20_000);

testOfOwn('waiting in vain tells what the pods of the namespace have logged', async () => {
  const target = { apiVersion: 'v1', resource: 'pods', namespace: 'default', name: 'web-0' };
  await expect(waitFor(cluster, target, () => false, { what: 'the impossible', withinMs: 300 })).rejects.toThrow(/--- kubectl logs -n default pod\/web-0 [^\n]*\n\[pod\/web-0\/web\] serving\n/);
}, 20_000);

testOfOwn('a port can be forwarded', async () => {
  const { kubectl } = await programs(['kubectl'], silent);
  const forward = spawn(kubectl, ['port-forward', 'pod/web-1', ':8080'], { env: { ...process.env, KUBECONFIG: cluster.kubeconfig } });
  try {
    // By event: leaving a loop over its output would close the pipe, and kubectl with it.
    const [said] = (await once(forward.stdout, 'data')) as [Buffer];
    const port = /127\.0\.0\.1:([0-9]+)/.exec(said.toString())?.[1];
    const text = await new Promise<string>((resolve, reject) => {
      request({ port, host: '127.0.0.1' }, (response) => void response.setEncoding('utf8').on('data', resolve)).on('error', reject).end();
    });
    expect(text).toBe('web-1\n');
  } finally {
    forward.kill();
  }
}, 20_000);

testOfOwn('pods reach the API server', async () => {
  const token = '/var/run/secrets/kubernetes.io/serviceaccount/token';
  const said = await cluster.kubectl(`exec web-0 -- sh -c 'wget -T 5 --no-check-certificate --header "Authorization: Bearer $(cat ${token})" -qO- https://kubernetes.default/version'`);
  expect(JSON.parse(said)).toMatchObject({ gitVersion: expect.stringMatching(/^v1\.34\./) as string });
}, 20_000);

test.each(['192.0.2.1', '203.0.113.1', '10.244.1.250', '10.96.77.77'])('no packet gets out to %s', async (address) => {
  const { code } = await cluster.tryKubectl(`exec web-0 -- wget -T 5 -qO- http://${address}`);
  expect(code).not.toBe(0);
}, 20_000);

testOfOwn('a name outside the cluster does not exist', async () => {
  expect((await cluster.tryKubectl('exec web-0 -- nslookup example.com')).stdout).toContain('NXDOMAIN');
});

testOfOwn('an image that nobody made is not found', async () => {
  await cluster.kubectl('run missing --image=mysql:0.0.1 --restart=Never');
  const pod = await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace: 'default', name: 'missing' }, (object) => /Pull/.test(object?.status?.containerStatuses?.[0]?.state?.waiting?.reason ?? ''), { what: 'a failed pull' });
  expect(pod.status.containerStatuses[0].state.waiting.message).toMatch(/not found|Back-off/);
  await cluster.kubectl('delete pod missing --wait=false');
}, 40_000);

testOfOwn('a claim grows where its class allows it', async () => {
  await cluster.kubectl(`patch pvc data-web-0 -p '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}'`);
  await waitFor(cluster, { apiVersion: 'v1', resource: 'persistentvolumeclaims', namespace: 'default', name: 'data-web-0' }, (object) => object?.status?.capacity?.storage === '2Gi', { what: 'the new size' });
}, 40_000);

testOfOwn("a node that is cut off is noticed, and heals when it is back", async () => {
  const own = cluster.demandOwn('nodes');
  await (await own.node('node2')).cut();
  const node = { apiVersion: 'v1', resource: 'nodes', name: 'node2' };
  const ready = (status: string): Promise<unknown> =>
    waitFor(cluster, node, (object) => object?.status?.conditions?.find(({ type }: { type: string }) => type === 'Ready')?.status === status, { what: `Ready ${status}`, withinMs: 40_000 });
  await ready('Unknown');
  await own.startNode('node2');
  await ready('True');
  await readyReplicas(2);
}, 150_000);

testOfOwn("a stopped node's pods are evicted, and run elsewhere with their data once it is out of service", async () => {
  const own = cluster.demandOwn('nodes');
  const lost = (await nodeOf('web-0')) === 'node2' ? 'web-0' : 'web-1';
  await (await own.node('node2')).stop();
  await waitFor(cluster, { apiVersion: 'v1', resource: 'pods', namespace: 'default', name: lost }, (pod) => pod?.metadata.deletionTimestamp !== undefined, { what: 'eviction', withinMs: 60_000 });
  await cluster.kubectl('taint node node2 node.kubernetes.io/out-of-service=gone:NoExecute');
  await readyReplicas(2, 90_000);
  expect(await nodeOf(lost)).toBe('node1');
  expect(await cluster.kubectl(`exec ${lost} -- cat /data/index.html`)).toBe(`${lost}\n${lost}\n`);
  await cluster.kubectl('taint node node2 node.kubernetes.io/out-of-service-');
}, 180_000);

testOfOwn('a stopped node can be started again', async () => {
  await cluster.demandOwn('nodes').startNode('node2');
  expect(await cluster.kubectl('get node node2 --no-headers')).toMatch(/node2 +Ready/);
}, 100_000);

testOfOwn('a deleted claim takes its folder along', async () => {
  const volumes = cluster.demandOwn('volumes').folder.file('volumes');
  await cluster.kubectl('delete statefulset web --wait=true --cascade=foreground');
  expect(readdirSync(volumes)).toHaveLength(2);
  await cluster.kubectl('delete pvc data-web-0 data-web-1 --wait=true');
  await waitFor<undefined>(cluster, { apiVersion: 'v1', resource: 'persistentvolumes', name: readdirSync(volumes)[0] ?? 'gone' }, (object) => object === undefined, { what: 'removal' });
  expect(readdirSync(volumes).length).toBeLessThan(2);
}, 60_000);

testOfOwn('down leaves nothing on the machine, even of a cluster that is half dead', async () => {
  const own = cluster.demandOwn('nodes');
  expect(await traces.find()).not.toEqual([]);
  await (await own.node('node1')).stop();
  await own.down();
  expect(await traces.find()).toEqual([]);
}, 60_000);
