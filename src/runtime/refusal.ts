import { keyText, type ObjectKey } from '../kind/resource';
import { ApiError, isInvalid } from './api-error';
import { Terminal } from './outcome';

/** What the API server says of a field that can't be changed; it has no reason of its own for that. */
const immutable = /immutable|may not change once set|updates to statefulset spec|cannot be changed/i;

/** What nobody is told to delete: with it would go what can't be made anew. */
const holdsData: ReadonlySet<string> = new Set(['PersistentVolumeClaim', 'PersistentVolume', 'Namespace', 'CustomResourceDefinition']);

/** Whether the API server refused a change because a field can't be changed. */
export function isImmutable(error: unknown): boolean {
  return isInvalid(error) && !isOtherObject(error) && immutable.test(error.serverMessage);
}

/** Whether a write was refused because an object of the same name but another UID is there by now: an immutable field as well, says the API server. */
export function isOtherObject(error: unknown): boolean {
  return isInvalid(error) && error.causes.some(({ field }) => field === 'metadata.uid');
}

/** What a failed apply means for the pass: some refusals are final, all else is worth another try. */
export function refusal(error: unknown, kind: string, key: ObjectKey): Error {
  const what = `cannot apply ${kind} ${keyText(key)}`;
  if (!(error instanceof ApiError)) return new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  if (isOtherObject(error)) return new Error(`${what}: another object of that name has taken its place`, { cause: error });
  if (isImmutable(error)) {
    return new Terminal('ImmutableField', `${what}: ${error.serverMessage}; undo the change${holdsData.has(kind) ? '' : `, or delete the ${kind} so that it is made anew`}`, { cause: error });
  }
  // Server-side apply answers an unknown field with 500, as if the API server were to blame.
  if (error.status === 422 || error.status === 400 || error.serverMessage.includes('field not declared in schema')) {
    return new Terminal('Refused', `${what}: ${error.serverMessage}`, { cause: error });
  }
  return new Error(`${what}: ${error.serverMessage} (${error.status} ${error.reason})`, { cause: error });
}
