import { createHash } from 'node:crypto';
import { tryParseQuantity } from '../kind/quantity';
import { apiVersionOf, type KubeObject, type OwnerReference, type ResourceType } from '../kind/resource';
import { isQuantityField } from './quantity-field';

/** Names the manager of an object; caches of children are narrowed by it. */
export const managedByLabel = 'app.kubernetes.io/managed-by';

/** Names the UID of the object for which a child was rendered; pruning needs it. */
export const ownerLabel = 'dbop.dev/owner';

/** Names the set of children to which one belongs; see `ApplyChildrenOptions.set`. */
export const setLabel = 'dbop.dev/set';

/** Digest of the manifest that was applied last; see `matches`. */
export const digestAnnotation = 'dbop.dev/applied';

/**
 * What ties a child to its owner.
 *
 * - `reference`: an owner reference and our label. The garbage collector takes the child when its owner goes.
 * - `label`: only our label. The controller prunes the child and removes it in `finalize`; for children in other namespaces, and for those
 *   that must not go before a finalizer has done its work (a foreground deletion takes all that has a reference).
 * - `none`: nothing. The child outlives its owner, is never pruned, and a later owner of the same name finds it.
 */
export type Ownership = 'reference' | 'label' | 'none';

/** Whose children are prepared. */
export interface Preparation {
  readonly manager: string;
  readonly owner: KubeObject;
  readonly ownerType: ResourceType;
  readonly own: Ownership;
  /** @default - the child belongs to no set */
  readonly set?: string;
}

/**
 * A manifest as it is applied: with labels, owner reference and digest, in the namespace of its owner when it names none, and without
 * what must not or need not be applied (status, nulls, empty labels and annotations).
 *
 * Guarantees: `stringData` of a Secret is turned into `data`, because the API server keeps no trace of the former.
 */
export function prepared(manifest: KubeObject, type: ResourceType, { manager, owner, ownerType, own, set }: Preparation): KubeObject {
  const { apiVersion, kind, metadata, ...body } = withoutNulls(manifest) as KubeObject & Record<string, unknown>;
  delete body.status;
  const namespace = type.namespaced ? (metadata.namespace ?? owner.metadata.namespace) : undefined;
  if (own === 'reference') checkReference(manifest, namespace, owner, ownerType);
  const labels = {
    ...metadata.labels,
    [managedByLabel]: manager,
    ...(own === 'none' ? {} : { [ownerLabel]: owner.metadata.uid as string }),
    ...(own === 'none' || set === undefined ? {} : { [setLabel]: set }),
  };
  const result: KubeObject = {
    apiVersion,
    kind,
    metadata: {
      name: metadata.name,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      ...nonEmpty('annotations', metadata.annotations),
      ...nonEmpty('finalizers', metadata.finalizers),
      ...nonEmpty('ownerReferences', own === 'reference' ? [referenceTo(owner, ownerType), ...(metadata.ownerReferences ?? [])] : metadata.ownerReferences),
    },
    ...withEncodedData(body),
  };
  const digest = digestOf(result);
  if (digest !== undefined) result.metadata.annotations = { ...result.metadata.annotations, [digestAnnotation]: digest };
  return result;
}

const undigested = new Set(['apiVersion', 'kind', 'metadata', 'data', 'binaryData', 'type', 'immutable']);

/**
 * A digest of all but metadata and data, or nothing where nothing else is there. Data is left out, because it is a flat map
 * that can be compared value by value, and because a digest of a Secret would let passwords be guessed at leisure.
 */
function digestOf(manifest: KubeObject): string | undefined {
  const rest = Object.fromEntries(Object.entries(manifest).filter(([name]) => !undigested.has(name)));
  if (Object.keys(rest).length === 0) return undefined;
  return createHash('sha256').update(JSON.stringify(canonical(rest))).digest('hex').slice(0, 16);
}

/** The owner reference that makes `owner` the controller of a child. */
function referenceTo(owner: KubeObject, type: ResourceType): OwnerReference {
  return { apiVersion: apiVersionOf(type), kind: type.kind, name: owner.metadata.name, uid: owner.metadata.uid as string, controller: true, blockOwnerDeletion: true };
}

function checkReference(manifest: KubeObject, namespace: string | undefined, owner: KubeObject, ownerType: ResourceType): void {
  if (!ownerType.namespaced || namespace === owner.metadata.namespace) return;
  const where = namespace === undefined ? 'is cluster-scoped' : `lives in namespace '${namespace}'`;
  throw new Error(
    `${manifest.kind} '${manifest.metadata.name}' ${where}, where an owner reference to ${owner.kind} '${owner.metadata.namespace}/${owner.metadata.name}' is invalid; apply it with own: 'label' and remove it in finalize`,
  );
}

function withEncodedData(body: Record<string, unknown>): Record<string, unknown> {
  const { stringData, ...rest } = body;
  if (stringData === undefined) return rest;
  const encoded = Object.entries(stringData as Record<string, string>).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
  return { ...rest, data: { ...(rest.data as object | undefined), ...Object.fromEntries(encoded) } };
}

function nonEmpty<T extends object>(name: string, value: T | undefined): Record<string, T> {
  return value === undefined || Object.keys(value).length === 0 ? {} : { [name]: value };
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) if (inner !== null && inner !== undefined) kept[name] = withoutNulls(inner);
  return kept;
}

/** The same for every spelling of the same wish: the order of keys and the units of quantities don't count. */
function canonical(value: unknown, name = '', above = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => canonical(item, name, above));
  if (typeof value === 'object' && value !== null) {
    const sorted: Record<string, unknown> = {};
    const map = value as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(map).sort()) sorted[key] = canonical(map[key], key, name);
    return sorted;
  }
  const isQuantity = isQuantityField(name, above) && (typeof value === 'string' || typeof value === 'number');
  return isQuantity ? (tryParseQuantity(value)?.toString() ?? value) : value;
}
