import { keyOf, type KubeObject, type ResourceType } from '../kind/resource';
import { isInvalid, isNotFound } from './api-error';
import type { JsonPatchOperation } from './client';
import type { ClientCalls } from './fence';

/** Whether an object carries a finalizer. */
export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/**
 * Adds a finalizer. Those of others stay as they are: the patch holds only for the version that we know.
 * @throws ApiError (isConflict) when the object has changed meanwhile
 */
export function addFinalizer(object: KubeObject, type: ResourceType, finalizer: string, client: ClientCalls): Promise<KubeObject> {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  return client.patch(type, keyOf(object), { metadata: { uid, resourceVersion, finalizers: [...finalizers, finalizer] } });
}

/**
 * Removes a finalizer and no other: the patch names its place in the list and what must stand there. When the list has changed, it is
 * looked at afresh.
 */
export async function removeFinalizer(object: KubeObject, type: ResourceType, finalizer: string, client: ClientCalls): Promise<void> {
  try {
    await remove(object, type, finalizer, client);
  } catch (error) {
    if (isNotFound(error)) return;
    if (!isInvalid(error)) throw error;
    const fresh = await current(object, type, client);
    if (fresh !== undefined && hasFinalizer(fresh, finalizer)) await remove(fresh, type, finalizer, client);
  }
}

async function remove(object: KubeObject, type: ResourceType, finalizer: string, client: ClientCalls): Promise<void> {
  const path = `/metadata/finalizers/${object.metadata.finalizers?.indexOf(finalizer)}`;
  await client.patch(type, keyOf(object), [sameObject(object), { op: 'test', path, value: finalizer }, { op: 'remove', path }]);
}

async function current(object: KubeObject, type: ResourceType, client: ClientCalls): Promise<KubeObject | undefined> {
  try {
    const found = await client.get<KubeObject>(type, keyOf(object));
    return found.metadata.uid === object.metadata.uid ? found : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function sameObject(object: KubeObject): JsonPatchOperation {
  return { op: 'test', path: '/metadata/uid', value: object.metadata.uid };
}
