import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../kind/resource';
import { renderedMark } from '../operator/kept-pods';
import { digestAnnotation } from '../runtime/manifest';
import { masked, maskedPair } from './masked';

/** What would become of one object. */
export interface Change {
  /** `replace`: deleted and made anew, because a field can't be changed. `refused`: nothing, for the reason that `why` names. */
  readonly action: 'create' | 'change' | 'replace' | 'delete' | 'refused' | 'none';
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Without what the API server keeps for itself, and without values of Secrets. */
  readonly before?: KubeObject;
  readonly after?: KubeObject;
  readonly why?: string;
}

/** What an object would become, from what it is and what it would be. */
export function changeOf(before: KubeObject | undefined, after: KubeObject | undefined, options: { readonly replaced?: boolean } = {}): Change {
  const some = (before ?? after)!;
  const about = { apiVersion: some.apiVersion, kind: some.kind, name: some.metadata.name };
  if (before === undefined) return { action: 'create', ...about, after: masked(plain(some)) };
  if (after === undefined) return { action: 'delete', ...about, before: masked(plain(before)) };
  const [was, becomes] = [plain(before), plain(after)];
  if (isDeepStrictEqual(was, becomes)) return { action: 'none', ...about };
  const [shownBefore, shownAfter] = maskedPair(was, becomes);
  return { action: options.replaced === true ? 'replace' : 'change', ...about, before: shownBefore, after: shownAfter };
}

/** An object that would stay as it is, because the operator or the API server refuses. */
export function refusedChange(object: KubeObject, why: string): Change {
  return { action: 'refused', apiVersion: object.apiVersion, kind: object.kind, name: object.metadata.name, why };
}

/** Annotations that repeat the object itself. */
const ECHOES = [digestAnnotation, renderedMark, 'kubectl.kubernetes.io/last-applied-configuration'];

/** An object without what the API server keeps for itself. */
function plain(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, ...body } = structuredClone(object) as KubeObject & { status?: unknown };
  delete body.status;
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = metadata;
  const told = Object.entries(annotations ?? {}).filter(([key]) => !ECHOES.includes(key));
  const kept = { name, namespace, labels, annotations: told.length === 0 ? undefined : Object.fromEntries(told), finalizers, ownerReferences };
  // In the order that people expect: the API server's own differs from request to request.
  return { apiVersion, kind, metadata: Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)) as unknown as KubeObject['metadata'], ...body };
}
