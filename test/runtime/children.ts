import type { KubeObject } from '../../src/kind/resource';

/** A manifest as tests write it. */
export type Manifest = KubeObject & Record<string, unknown>;

/**
 * The eight children of an object, as a database has them: with values that the API server spells differently, defaults that it fills in,
 * and lists of every kind (by key, by value, atomic).
 */
export function eightChildren(name: string, { comment = 'one', cpu = '1000m' }: { comment?: string; cpu?: string } = {}): Manifest[] {
  const labels = { app: name };
  const container = {
    name: 'server',
    image: 'example.com/server:1',
    args: ['--verbose', '--port=3306'],
    env: [
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'PASSWORD', valueFrom: { secretKeyRef: { name, key: 'password' } } },
    ],
    ports: [{ name: 'sql', containerPort: 3306 }],
    resources: { requests: { cpu: 0.1, memory: '1024Mi' }, limits: { cpu, memory: '2048Mi' } },
    readinessProbe: { tcpSocket: { port: 'sql' } },
    volumeMounts: [{ name: 'data', mountPath: '/data' }, { name: 'scratch', mountPath: '/tmp' }],
    securityContext: { capabilities: { drop: ['ALL'] } },
  };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { password: 'only-a-test', comment } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, annotations: {} }, data: { size: '1024Mi', comment } },
    { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { selector: labels, ports: [{ name: 'sql', port: 3306, targetPort: 'sql' }, { name: 'dns', port: 53, protocol: 'UDP' }, { name: 'dns-tcp', port: 53 }] } },
    { apiVersion: 'v1', kind: 'Service', metadata: { name: `${name}-headless` }, spec: { clusterIP: 'None', selector: labels, ports: [{ port: 3306 }] } },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name, creationTimestamp: null } as unknown as Manifest['metadata'],
      spec: {
        replicas: 0,
        serviceName: `${name}-headless`,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels: { ...labels, comment } },
          spec: {
            containers: [container],
            securityContext: {},
            tolerations: [{ key: 'a', operator: 'Exists' }],
            volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '1024Mi' } }],
            topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: labels } }],
          },
        },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } } }],
      },
    },
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name },
      spec: { schedule: '0 3 * * *', suspend: true, jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'backup', image: 'example.com/backup:1', args: [] }] } } } } },
    },
    { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec: { maxUnavailable: 1, selector: { matchLabels: labels } } },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name },
      spec: { podSelector: { matchLabels: labels }, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 3306 }] }] },
    },
  ];
}
