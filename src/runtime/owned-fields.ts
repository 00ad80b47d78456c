import type { KubeObject, ManagedFieldsEntry } from '../kind/resource';

/** A node of `fieldsV1`: keys `f:name`, `k:{…}`, `v:…`, `i:n` lead on, `.` names the node itself, and a node without keys is a leaf. */
export type FieldSet = { readonly [key: string]: FieldSet };

/** What one key of a {@link FieldSet} leads to. */
export type FieldStep =
  | { readonly by: 'name'; readonly name: string }
  | { readonly by: 'keys'; readonly keys: Readonly<Record<string, unknown>> }
  | { readonly by: 'value'; readonly value: unknown }
  | { readonly by: 'index'; readonly index: number };

/** The fields of an object that a manager has applied, or nothing when it never applied the object. */
export function ownedFields(object: KubeObject, manager: string): FieldSet | undefined {
  const entry = object.metadata.managedFields?.find(
    (candidate) => candidate.manager === manager && candidate.operation === 'Apply' && (candidate.subresource ?? '') === '' && candidate.apiVersion === object.apiVersion,
  );
  return (typeof entry?.fieldsV1 === 'string' ? JSON.parse(entry.fieldsV1) : entry?.fieldsV1) as FieldSet | undefined;
}

/** Whether an entry of `managedFields` is of what a manager wrote by other means than to apply it. */
export function isWrittenBy(manager: string): (entry: ManagedFieldsEntry) => boolean {
  return (entry) => entry.manager === manager && entry.operation === 'Update' && (entry.subresource ?? '') === '';
}

/** The steps that lead on from a node; none at all for a leaf. */
export function stepsOf(fields: FieldSet): [FieldStep, FieldSet][] {
  return Object.entries(fields).flatMap(([key, below]): [FieldStep, FieldSet][] => {
    const step = parsed(key);
    return step === undefined ? [] : [[step, below]];
  });
}

function parsed(key: string): FieldStep | undefined {
  const rest = key.slice(2);
  switch (key.slice(0, 2)) {
    case 'f:':
      return { by: 'name', name: rest };
    case 'k:':
      return { by: 'keys', keys: JSON.parse(rest) as Record<string, unknown> };
    case 'v:':
      return { by: 'value', value: JSON.parse(rest) };
    case 'i:':
      return { by: 'index', index: Number(rest) };
    default:
      return undefined;
  }
}
