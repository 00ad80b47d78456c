import type { KubeObject } from '../../src/kind/resource';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly ports?: { name?: string; containerPort: number }[];
  readonly env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: object } }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  readonly securityContext?: { readOnlyRootFilesystem?: boolean; privileged?: boolean; allowPrivilegeEscalation?: boolean; runAsNonRoot?: boolean; capabilities?: { drop?: string[]; add?: string[] } };
}
interface Probe {
  readonly httpGet?: { port: number | string };
  readonly tcpSocket?: { port: number | string };
}
interface PodSpec {
  readonly containers: Container[];
  readonly initContainers?: Container[];
  readonly serviceAccountName?: string;
  readonly serviceAccount?: string;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly affinity?: { podAntiAffinity?: object };
  readonly volumes?: { hostPath?: object }[];
  readonly securityContext?: { runAsNonRoot?: boolean; sysctls?: unknown[] };
}
interface Spec {
  readonly replicas?: number;
  readonly selector?: { matchLabels?: Record<string, string> } & Record<string, unknown>;
  readonly template?: { metadata?: { labels?: Record<string, string> }; spec: PodSpec };
  readonly jobTemplate?: { spec: Spec };
  readonly ttlSecondsAfterFinished?: number;
  readonly ports?: { targetPort?: number | string }[];
  readonly maxUnavailable?: number | string;
  readonly unhealthyPodEvictionPolicy?: string;
}
type Manifest = KubeObject & { spec?: Spec };
interface Workload {
  readonly manifest: Manifest;
  readonly spec: Spec;
  readonly pod: PodSpec;
  readonly labels: Record<string, string>;
}

/** Complaints of kube-linter's default checks, as `check: Kind/name`, by our reading of each check's description. */
export function complaints(objects: readonly KubeObject[]): string[] {
  const manifests = objects as readonly Manifest[];
  const workloads = manifests.flatMap(workloadOf);
  const found = (check: string, manifest: Manifest, bad: boolean) => (bad ? [`${check}: ${manifest.kind}/${manifest.metadata.name}`] : []);
  return [
    ...workloads.flatMap((workload) => Object.entries(podChecks).flatMap(([check, isBad]) => found(check, workload.manifest, isBad(workload)))),
    ...workloads.flatMap(({ manifest, pod }) =>
      Object.entries(containerChecks).flatMap(([check, isBad]) => found(check, manifest, [...(pod.initContainers ?? []), ...pod.containers].some((container) => isBad(container, pod)))),
    ),
    ...workloads.flatMap(({ manifest, pod }) => found('non-existent-service-account', manifest, pod.serviceAccountName !== undefined && !manifests.some(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === pod.serviceAccountName))),
    ...manifests.filter(({ kind }) => kind === 'Service').flatMap((service) => found('dangling-service', service, !workloads.some(({ labels }) => selects(service.spec?.selector, labels)))),
    ...manifests.filter(({ kind }) => kind === 'Service').flatMap((service) => found('invalid-target-ports', service, service.spec?.ports?.some(({ targetPort }) => typeof targetPort === 'string' && !namedPorts(workloads).has(targetPort)) ?? false)),
    ...manifests.filter(({ kind }) => kind === 'PodDisruptionBudget').flatMap((budget) => found('pdb-max-unavailable', budget, budget.spec?.maxUnavailable === 0)),
    ...manifests.filter(({ kind }) => kind === 'PodDisruptionBudget').flatMap((budget) => found('pdb-unhealthy-pod-eviction-policy', budget, budget.spec?.unhealthyPodEvictionPolicy === undefined)),
  ];
}

const podChecks: Record<string, (workload: Workload) => boolean> = {
  'deprecated-service-account-field': ({ pod }) => pod.serviceAccount !== undefined,
  'host-ipc': ({ pod }) => pod.hostIPC === true,
  'host-network': ({ pod }) => pod.hostNetwork === true,
  'host-pid': ({ pod }) => pod.hostPID === true,
  'sensitive-host-mounts': ({ pod }) => pod.volumes?.some(({ hostPath }) => hostPath !== undefined) ?? false,
  'unsafe-sysctls': ({ pod }) => (pod.securityContext?.sysctls ?? []).length > 0,
  'mismatching-selector': ({ spec, labels }) => spec.selector !== undefined && !selects(spec.selector.matchLabels, labels),
  'no-anti-affinity': ({ spec, pod }) => (spec.replicas ?? 1) > 1 && pod.affinity?.podAntiAffinity === undefined,
  'job-ttl-seconds-after-finished': ({ manifest, spec }) => manifest.kind === 'Job' && spec.ttlSecondsAfterFinished === undefined,
};

const containerChecks: Record<string, (container: Container, pod: PodSpec) => boolean> = {
  'drop-net-raw-capability': ({ securityContext }) => !securityContext?.capabilities?.drop?.some((name) => name === 'ALL' || name === 'NET_RAW'),
  'duplicate-env-var': ({ env = [] }) => new Set(env.map(({ name }) => name)).size < env.length,
  'env-var-secret': ({ env = [] }) => env.some(({ name, value }) => /secret|password/i.test(name) && value !== undefined),
  'latest-tag': ({ image }) => /:latest$/.test(image) || !/[:@][^/]+$/.test(image),
  'liveness-port': (container) => !portIsOpen(container, container.livenessProbe),
  'readiness-port': (container) => !portIsOpen(container, container.readinessProbe),
  'startup-port': (container) => !portIsOpen(container, container.startupProbe),
  'no-read-only-root-fs': ({ securityContext }) => securityContext?.readOnlyRootFilesystem !== true,
  'privilege-escalation-container': ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
  'privileged-container': ({ securityContext }) => securityContext?.privileged === true,
  'run-as-non-root': ({ securityContext }, pod) => (securityContext?.runAsNonRoot ?? pod.securityContext?.runAsNonRoot) !== true,
  'ssh-port': ({ ports = [] }) => ports.some(({ containerPort }) => containerPort === 22),
  'unset-cpu-requirements': ({ resources }) => resources?.requests?.['cpu'] === undefined,
  'unset-memory-requirements': ({ resources }) => resources?.requests?.['memory'] === undefined || resources.limits?.['memory'] === undefined,
};

function workloadOf(manifest: Manifest): Workload[] {
  const spec = manifest.spec?.jobTemplate?.spec ?? manifest.spec;
  if (spec?.template === undefined) return [];
  return [{ manifest, spec, pod: spec.template.spec, labels: spec.template.metadata?.labels ?? {} }];
}

function selects(selector: Record<string, unknown> | undefined, labels: Record<string, string>): boolean {
  return selector !== undefined && Object.entries(selector).every(([key, value]) => labels[key] === value);
}

function namedPorts(workloads: readonly Workload[]): Set<string | undefined> {
  return new Set(workloads.flatMap(({ pod }) => pod.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name))));
}

function portIsOpen({ ports = [] }: Container, probe: Probe | undefined): boolean {
  const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
  return port === undefined || ports.some(({ name, containerPort }) => name === port || containerPort === port);
}
