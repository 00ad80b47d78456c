import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../kind/resource';

/**
 * Whether a change is more than a new status: the API server counts changes of the spec in `metadata.generation`, and of metadata only what
 * people and controllers write is looked at. Of kinds without a generation every change is significant.
 */
export function isSignificant({ metadata: before }: KubeObject, { metadata: after }: KubeObject): boolean {
  return (
    before.generation === undefined ||
    before.generation !== after.generation ||
    before.uid !== after.uid ||
    before.deletionTimestamp !== after.deletionTimestamp ||
    !isDeepStrictEqual(before.labels, after.labels) ||
    !isDeepStrictEqual(before.annotations, after.annotations) ||
    !isDeepStrictEqual(before.finalizers, after.finalizers) ||
    !isDeepStrictEqual(before.ownerReferences, after.ownerReferences)
  );
}
