import { apiVersionOf, type ObjectKey, type ResourceType } from '../kind/resource';

/** Path of all objects of a type: in one namespace, or everywhere if none is given. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  if (namespace === undefined) return `${root}/${type.plural}`;
  if (!type.namespaced) throw new Error(`${typeText(type)} is cluster-scoped, but the namespace ${namespace} was named; leave it out`);
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${type.plural}`;
}

/** Path of one object, or of a subresource of it. */
export function objectPath(type: ResourceType, key: ObjectKey, subresource?: string): string {
  if (key.name === '') throw new Error(`${typeText(type)} without a name; an empty name would address all of them`);
  requireNamespace(type, key);
  const object = `${collectionPath(type, key.namespace)}/${encodeURIComponent(key.name)}`;
  return subresource === undefined ? object : `${object}/${subresource}`;
}

/** @throws if the kind lives in namespaces and none is named: the path would then mean all namespaces */
export function requireNamespace(type: ResourceType, key: ObjectKey): void {
  if (type.namespaced && (key.namespace === undefined || key.namespace === '')) {
    throw new Error(`${typeText(type)} ${key.name} without a namespace; its kind lives in namespaces, so name one`);
  }
}

/** Query with what is defined; the empty string if nothing is. */
export function query(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  let text = '';
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}

/** `Kind (group/version)`, as errors name a type. */
export function typeText(type: ResourceType): string {
  return `${type.kind} (${apiVersionOf(type)})`;
}
