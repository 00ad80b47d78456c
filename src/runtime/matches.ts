import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../kind/resource';
import { tryParseQuantity } from '../kind/quantity';
import { digestAnnotation } from './manifest';
import { ownedFields, stepsOf, type FieldSet, type FieldStep } from './owned-fields';
import { isQuantityField } from './quantity-field';

/**
 * Whether applying `manifest` would change nothing, told without a request.
 *
 * `managedFields` says which fields of the live object are ours. All that we own must be wanted with the same value, and all that is wanted
 * must be ours. What the API server filled in is not ours and therefore not looked at, except inside values that are owned whole ("atomic"),
 * where a default and a field that we no longer want look alike. There the digest of the last applied manifest decides: when it
 * is the same, nothing that we want has changed, and since a foreign write would have taken the field from us, nothing else has either.
 *
 * Assumes: `manifest` comes out of `prepared()`, and `live` still has our entry of `managedFields`.
 */
export function matches(manifest: KubeObject, live: KubeObject, manager: string): boolean {
  if (manifest.apiVersion !== live.apiVersion) return false;
  const owned = ownedFields(live, manager);
  if (owned === undefined) return false;
  const digest = manifest.metadata.annotations?.[digestAnnotation];
  const unchangedSince = digest !== undefined && live.metadata.annotations?.[digestAnnotation] === digest;
  return new Comparison(unchangedSince).same(manifest, live, owned, []);
}

type Json = unknown;
type JsonMap = Record<string, Json>;

class Comparison {
  /** @param unchangedSince the manifest is the one applied last, so that values which are still ours can only differ in spelling */
  constructor(private readonly unchangedSince: boolean) {}

  same(wanted: Json, live: Json, owned: FieldSet, path: readonly string[]): boolean {
    const steps = stepsOf(owned);
    if (steps.length === 0) return this.unchangedSince && hashed(path) ? true : sameValue(wanted, live, path);
    if (Array.isArray(wanted)) return this.sameList(wanted, live, steps, path);
    if (isMap(wanted)) return this.sameMap(wanted, live, steps, path);
    return false;
  }

  private sameMap(wanted: JsonMap, live: Json, steps: [FieldStep, FieldSet][], path: readonly string[]): boolean {
    const rest = new Set(Object.keys(wanted));
    for (const [step, below] of steps) {
      if (step.by !== 'name' || !rest.delete(step.name)) return false;
      if (isDigest(path, step.name)) continue;
      if (!this.same(wanted[step.name], isMap(live) ? live[step.name] : undefined, below, [...path, step.name])) return false;
    }
    return [...rest].every((name) => isAddress(path, name));
  }

  private sameList(wanted: Json[], live: Json, steps: [FieldStep, FieldSet][], path: readonly string[]): boolean {
    if (wanted.length !== steps.length) return false;
    const items = Array.isArray(live) ? live : [];
    const left = new Set(wanted);
    // Items that spell out all their keys choose first: what is left are those for which the API server filled a key in.
    const later = steps.filter(([step, below]) => !this.takes(left, items, step, below, path, hasKeys));
    return later.every(([step, below]) => this.takes(left, items, step, below, path, mayHaveKeys));
  }

  private takes(left: Set<Json>, live: Json[], step: FieldStep, below: FieldSet, path: readonly string[], fits: KeyCheck): boolean {
    for (const item of left) {
      if (!leadsTo(step, item, fits)) continue;
      const liveItem = live.find((candidate) => leadsTo(step, candidate, hasKeys));
      if (liveItem === undefined || !this.same(item, liveItem, below, path)) return false;
      return left.delete(item);
    }
    return false;
  }
}

type KeyCheck = (item: JsonMap, keys: Readonly<JsonMap>) => boolean;

const hasKeys: KeyCheck = (item, keys) => Object.entries(keys).every(([name, value]) => item[name] === value);
const mayHaveKeys: KeyCheck = (item, keys) => Object.entries(keys).every(([name, value]) => item[name] === undefined || item[name] === value);

function leadsTo(step: FieldStep, item: Json, fits: KeyCheck): boolean {
  if (step.by === 'keys') return isMap(item) && fits(item, step.keys);
  return step.by === 'value' && isDeepStrictEqual(step.value, item);
}

/** Compares a value that is owned whole. The API server drops what is empty, and spells quantities in its own way. */
function sameValue(wanted: Json, live: Json, path: readonly string[]): boolean {
  if (wanted === live || (isEmpty(wanted) && isEmpty(live))) return true;
  if (Array.isArray(wanted)) {
    return Array.isArray(live) && wanted.length === live.length && wanted.every((item, index) => sameValue(item, live[index], path));
  }
  if (isMap(wanted)) {
    if (!isMap(live)) return false;
    const names = new Set([...Object.keys(wanted), ...Object.keys(live)]);
    return [...names].every((name) => sameField(wanted, live, name, path));
  }
  return isQuantityField(path.at(-1) ?? '', path.at(-2) ?? '') && isScalar(wanted) && isScalar(live) && sameQuantity(wanted, live);
}

function sameField(wanted: JsonMap, live: JsonMap, name: string, path: readonly string[]): boolean {
  // An empty selector means everything and a missing one nothing, so an empty map is not the same as none.
  if (!(name in wanted)) return false;
  return name in live ? sameValue(wanted[name], live[name], [...path, name]) : isEmptyList(wanted[name]);
}

function sameQuantity(wanted: string | number, live: string | number): boolean {
  const value = tryParseQuantity(wanted);
  return value !== undefined && value === tryParseQuantity(live);
}

/** The digest covers everything but metadata and the data of Secrets and ConfigMaps. */
function hashed(path: readonly string[]): boolean {
  return path.length > 0 && !['metadata', 'data', 'binaryData'].includes(path[0] as string);
}

/** Our digest tells of the manifest, and may have been made from another spelling of the same wish. */
function isDigest(path: readonly string[], name: string): boolean {
  return name === digestAnnotation && path.length === 2 && path[1] === 'annotations';
}

/** An object's address belongs to nobody. */
function isAddress(path: readonly string[], name: string): boolean {
  return (path.length === 0 && (name === 'apiVersion' || name === 'kind')) || (path.length === 1 && path[0] === 'metadata' && (name === 'name' || name === 'namespace'));
}

function isMap(value: Json): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(value: Json): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isEmpty(value: Json): boolean {
  return value === undefined || value === null || isEmptyList(value) || (isMap(value) && Object.keys(value).length === 0);
}
