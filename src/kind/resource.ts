/**
 * How Kubernetes addresses a kind of object: what a URL, an RBAC rule and a watch need to know.
 * Everything below the runtime speaks of kinds in these terms only.
 */
export interface ResourceType {
  /** API group; the empty string for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Lower-case plural, as in the URL and in RBAC. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** An owner as an object names it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Which fields a manager owns: one entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  /** As JSON text in the runtime's caches, where the tree would take several times as much. */
  readonly fieldsV1?: Readonly<Record<string, unknown>> | string;
}

/** The part of every object that Kubernetes keeps itself. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFieldsEntry[];
}

/** Any Kubernetes object, as JSON. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** An object of a kind with spec and status. */
export interface CustomObject<Spec, Status> extends KubeObject {
  spec: Spec;
  status?: Status;
}

/** One entry of `status.conditions`, as all of Kubernetes writes them. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** One word in CamelCase; treated as API. */
  reason: string;
  /** For people: what is, what is waited for, what to do. */
  message: string;
  observedGeneration?: number;
  lastTransitionTime: string;
}

/** Where an object lives: `namespace/name`, or only a name for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** The `apiVersion` that objects of this type carry. */
export function apiVersionOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** `namespace/name`, as people and queues write it. */
export function keyText(key: ObjectKey): string {
  return key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
}

/** The key of an object. */
export function keyOf(object: KubeObject): ObjectKey {
  return { namespace: object.metadata.namespace, name: object.metadata.name };
}

const type = (group: string, version: string, kind: string, plural: string, namespaced = true): ResourceType => ({ group, version, kind, plural, namespaced });

/** The built-in kinds that operators of this package meet. */
export const builtin = {
  ConfigMap: type('', 'v1', 'ConfigMap', 'configmaps'),
  Event: type('events.k8s.io', 'v1', 'Event', 'events'),
  Namespace: type('', 'v1', 'Namespace', 'namespaces', false),
  Node: type('', 'v1', 'Node', 'nodes', false),
  PersistentVolume: type('', 'v1', 'PersistentVolume', 'persistentvolumes', false),
  PersistentVolumeClaim: type('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  Pod: type('', 'v1', 'Pod', 'pods'),
  Secret: type('', 'v1', 'Secret', 'secrets'),
  Service: type('', 'v1', 'Service', 'services'),
  ServiceAccount: type('', 'v1', 'ServiceAccount', 'serviceaccounts'),
  CronJob: type('batch', 'v1', 'CronJob', 'cronjobs'),
  Job: type('batch', 'v1', 'Job', 'jobs'),
  Deployment: type('apps', 'v1', 'Deployment', 'deployments'),
  StatefulSet: type('apps', 'v1', 'StatefulSet', 'statefulsets'),
  Lease: type('coordination.k8s.io', 'v1', 'Lease', 'leases'),
  NetworkPolicy: type('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies'),
  PodDisruptionBudget: type('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  StorageClass: type('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses', false),
} as const satisfies Record<string, ResourceType>;
