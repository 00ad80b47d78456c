import { compareQuantities } from '../kind/quantity';
import type { KubeObject } from '../kind/resource';

/** The fields of a PersistentVolumeClaim that tell of its volume. */
export interface Claim extends KubeObject {
  spec?: { volumeName?: string; storageClassName?: string; resources?: { requests?: { storage?: string } } };
  status?: { phase?: string; capacity?: { storage?: string }; conditions?: { type: string; status: string; message?: string }[] };
}

/**
 * Lets a rendered claim ask for no size that the API server would refuse: one that is not bound yet keeps the size it was asked for with,
 * because nothing but a bound claim can grow; and one of an earlier life that is larger than what is asked for now, because none can shrink.
 */
export function fitSize(claim: Claim, live: Claim | undefined): void {
  const [asked, wanted] = [sizeOf(live), sizeOf(claim)];
  if (asked !== undefined && wanted !== undefined && (live?.status?.phase !== 'Bound' || compareQuantities(asked, wanted) > 0)) keepSize(claim, live);
}

/** Lets a rendered claim ask for what the live one asks for, in all that it says of its volume. */
export function keepSpec(claim: Claim, live: Claim | undefined): void {
  const had: Record<string, unknown> = live?.spec ?? {};
  claim.spec = Object.fromEntries(Object.entries(claim.spec ?? {}).map(([field, value]) => [field, had[field] ?? value]));
}

function keepSize(claim: Claim, live: Claim | undefined): void {
  const [asked, requests] = [sizeOf(live), claim.spec?.resources?.requests];
  if (asked !== undefined && requests !== undefined) requests.storage = asked;
}

function sizeOf(claim: Claim | undefined): string | undefined {
  return claim?.spec?.resources?.requests?.storage;
}
