import type { KubeObject, ManagedFieldsEntry } from '../kind/resource';

/** A copy of the whole manifest that `kubectl apply` leaves in an annotation. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Drops what no controller reads and what often makes up half of an object: managed fields but those of one manager, which become text,
 * and kubectl's copy of the manifest. Changes the object itself: it has just been parsed and is nobody else's yet.
 */
export function trim<T extends KubeObject>(object: T, fieldManager: string | undefined): T {
  const { metadata } = object;
  const own = metadata.managedFields?.filter((entry) => entry.manager !== undefined && entry.manager === fieldManager);
  if (own === undefined || own.length === 0) delete metadata.managedFields;
  else metadata.managedFields = own.map(packed);
  if (metadata.annotations?.[LAST_APPLIED] !== undefined) {
    metadata.annotations = { ...metadata.annotations };
    delete metadata.annotations[LAST_APPLIED];
  }
  return object;
}

/** As `trim`, but leaves the given object alone. */
export function trimmed<T extends KubeObject>(object: T, fieldManager: string | undefined): T {
  return trim({ ...object, metadata: { ...object.metadata } }, fieldManager);
}

function packed(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  return typeof entry.fieldsV1 === 'object' ? { ...entry, fieldsV1: JSON.stringify(entry.fieldsV1) } : entry;
}
