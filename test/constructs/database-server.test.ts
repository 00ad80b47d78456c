import { DatabaseServer, type DatabaseServerProps } from '../../src/constructs/database-server';
import { find, rendered } from './render';

const props: DatabaseServerProps = { name: 'shop', namespace: 'ns', engine: 'mysql', version: '8.4', data: { size: '5Gi' } };
const render = (more: Partial<DatabaseServerProps> = {}) => rendered((chart) => new DatabaseServer(chart, 'shop', { ...props, ...more }));

interface Workload {
  spec: {
    replicas: number;
    strategy?: object;
    volumeClaimTemplates?: { metadata: object; spec: object }[];
    template: { metadata: { labels: object; annotations?: Record<string, string> }; spec: { containers: { image: string; env: object[]; resources: object; securityContext: object; volumeMounts: { name: string }[] }[]; securityContext: object; volumes: { name: string }[] } };
  };
}
const workload = (more: Partial<DatabaseServerProps> = {}, kind = 'StatefulSet') => find<Workload>(render(more), kind).spec;
const pod = (more: Partial<DatabaseServerProps> = {}) => workload(more).template;
const backup = { schedule: { cron: '0 3 * * *' }, target: { volume: { claimName: 'shop-backups' } }, storeImage: 'dbop:1' } as const;

test('a database is these children and no others, under these names', () => {
  expect(render({ backup }).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'ServiceAccount shop',
    'ConfigMap shop-config',
    'PersistentVolumeClaim data-shop-0',
    'Service shop',
    'Service shop-pods',
    'NetworkPolicy shop',
    'StatefulSet shop',
    'CronJob shop-backup',
  ]);
});

test('the claim is the one that the StatefulSet looks for, and has its spec', () => {
  const objects = render({ data: { size: '5Gi', storageClassName: 'fast' } });
  const claim = find<{ spec: object }>(objects, 'PersistentVolumeClaim');
  expect(claim.spec).toEqual({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, storageClassName: 'fast' });
  expect(find<Workload>(objects, 'StatefulSet').spec.volumeClaimTemplates).toMatchObject([{ metadata: { name: 'data' }, spec: claim.spec }]);
  expect(() => render({ names: { dataClaim: 'mine' } })).toThrow(/'mine' would not be found by the StatefulSet/);
});

test('a Deployment names its claim itself and never runs two servers on it', () => {
  const spec = workload({ workload: 'Deployment', names: { dataClaim: 'shop-pvc' }, data: { size: '1Gi', volumeName: 'shop-pv' } }, 'Deployment');
  expect(spec.strategy).toEqual({ type: 'Recreate' });
  expect(spec.template.spec.volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: 'shop-pvc' } });
});

test('pods meet the restricted level of Pod Security', () => {
  const { securityContext, containers } = pod().spec;
  expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 999, seccompProfile: { type: 'RuntimeDefault' } });
  expect(containers.map((container) => container.securityContext)).toEqual([{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }]);
  expect(pod().spec).toMatchObject({ automountServiceAccountToken: false });
});

test('every mount has its volume', () => {
  for (const engine of ['mysql', 'postgres'] as const) {
    const { containers, volumes } = pod({ engine, version: '17', tlsSecret: 'tls' }).spec;
    const named = new Set([...volumes.map(({ name }) => name), 'data']);
    expect(containers[0]?.volumeMounts.filter(({ name }) => !named.has(name))).toEqual([]);
    expect(new Set(volumes.map(({ name }) => name)).size).toBe(volumes.length);
  }
});

test('no Secret is rendered, and nothing but names of Secrets', () => {
  expect(render().some(({ kind }) => kind === 'Secret')).toBe(false);
  expect(JSON.stringify(pod().spec.containers)).not.toMatch(/secretKeyRef/);
});

test('what users ask of the pod is there, and cannot change the selector', () => {
  const { labels, annotations } = pod({ podLabels: { app: 'database', 'database-name': 'shop', 'app.kubernetes.io/instance': 'mine' }, podAnnotations: { team: 'a' } }).metadata;
  expect(labels).toMatchObject({ app: 'database', 'database-name': 'shop', 'app.kubernetes.io/instance': 'shop' });
  expect(annotations).toEqual({ team: 'a' });
  expect(pod().spec.containers[0]?.resources).toEqual({ requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '500m', memory: '512Mi' } });
});

describe('a changed parameter', () => {
  test('restarts the pods when only a start brings it to the server', () => {
    const restart = (value: number) => JSON.stringify(pod({ parameters: { innodb_buffer_pool_instances: value } }));
    expect(restart(1)).not.toBe(restart(2));
  });

  test('leaves the pods alone when a running server takes it', () => {
    expect(pod({ parameters: { max_connections: 5 } })).toEqual(pod());
    expect(find<{ data: Record<string, string> }>(render({ parameters: { max_connections: 5 } }), 'ConfigMap').data['my.cnf']).toContain('max_connections=5');
  });

  test('is refused where the operator owns it, with the construct that asks', () => {
    expect(() => render({ parameters: { server_id: 7 } })).toThrow(/^test\/shop: parameter 'server_id' is set by the operator/);
  });
});

test('a stopped database has no pods and keeps everything else', () => {
  expect(workload({ running: false }).replicas).toBe(0);
  expect(render({ running: false })).toHaveLength(render().length);
});

test('a closed database differs in nothing but the argument that its server is started with', () => {
  const opened = (text: string) => text.replace(',"closed"', '');
  expect(JSON.stringify(render({ closed: true }))).toContain('start.sh","closed"');
  expect(opened(JSON.stringify(render({ closed: true })))).toBe(JSON.stringify(render()));
});

test('only declared peers and the backups of this database reach the server', () => {
  const from = (network?: DatabaseServerProps['network']) => find<{ spec: { ingress: { from: object[] }[] } }>(render({ network }), 'NetworkPolicy').spec.ingress[0]?.from;
  const jobs = { podSelector: { matchLabels: { 'app.kubernetes.io/instance': 'shop', 'app.kubernetes.io/component': 'backup' } } };
  expect(from()).toEqual([jobs, { podSelector: {} }]);
  expect(from({ from: [{ namespaceSelector: {} }] })).toEqual([jobs, { namespaceSelector: {} }]);
});
