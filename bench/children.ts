import type { KubeObject } from '../src';

/** A child as its author writes it; who owns and manages it is added by whoever applies it. */
export type ChildManifest = Pick<KubeObject, 'apiVersion' | 'kind'> & { metadata: { name: string; labels: Record<string, string> } } & Record<string, unknown>;

/** How many children a shop has, and how many of them a change of its version touches: ConfigMap, StatefulSet and CronJob. */
export const childCount = { all: 8, changed: 3 } as const;

/** The children of one shop. The peers have the same in their own languages: bench/peers. */
export function childrenOf(name: string, version: string): ChildManifest[] {
  const labels = { 'app.kubernetes.io/name': 'shop', 'app.kubernetes.io/instance': name };
  const selector = { matchLabels: labels };
  const port = { name: 'http', port: 8080, targetPort: 'http', protocol: 'TCP' };
  const child = (apiVersion: string, kind: string, childName: string, body: Record<string, unknown>): ChildManifest => ({ apiVersion, kind, metadata: { name: childName, labels }, ...body });
  const container = (use: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
    name: use,
    image: `registry.example.com/shop:${version}`,
    env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name, key: 'token' } } }],
    resources: { requests: { cpu: '100m', memory: '64Mi' } },
    ...more,
  });
  const template = (spec: Record<string, unknown>): Record<string, unknown> => ({ metadata: { labels }, spec });
  return [
    child('v1', 'Secret', name, { data: { token: Buffer.from(`not-a-secret-${name}`).toString('base64') } }),
    child('v1', 'ConfigMap', name, { data: { version, 'shop.conf': `listen = 8080\nname = ${name}\n` } }),
    child('v1', 'Service', name, { spec: { selector: labels, ports: [port] } }),
    child('v1', 'Service', `${name}-pods`, { spec: { clusterIP: 'None', selector: labels, ports: [port] } }),
    child('apps/v1', 'StatefulSet', name, {
      spec: {
        replicas: 0,
        serviceName: `${name}-pods`,
        selector,
        template: template({ containers: [container('shop', { ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] })] }),
      },
    }),
    child('batch/v1', 'CronJob', name, {
      spec: { schedule: '0 3 * * *', suspend: true, jobTemplate: { spec: { template: template({ restartPolicy: 'Never', containers: [container('report')] }) } } },
    }),
    child('policy/v1', 'PodDisruptionBudget', name, { spec: { maxUnavailable: 1, selector } }),
    child('networking.k8s.io/v1', 'NetworkPolicy', name, {
      spec: { podSelector: selector, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: {} }], ports: [{ protocol: 'TCP', port: 'http' }] }] },
    }),
  ];
}
