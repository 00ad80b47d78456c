import { compareQuantities, parseQuantity } from '../kind/quantity';
import type { Resources } from './pod-props';

const requests = { cpu: '100m', memory: '256Mi' };
const limits = { cpu: '500m', memory: '512Mi' };

/**
 * What a server's container asks for and may take.
 *
 * Limits alone keep the default requests, lowered to a limit that is below them: Kubernetes would ask for as much as the
 * limit where there is one, and for nothing where there is none. Requests alone mean no limits, as they do everywhere else.
 * @param given - requests 100m and 256Mi, limits 500m and 512Mi when left out.
 */
export function serverResources(given: Resources = {}): Resources {
  if (given.requests !== undefined) return given;
  if (given.limits === undefined) return { requests, limits };
  const most = given.limits;
  return { requests: Object.fromEntries(Object.entries(requests).map(([name, amount]) => [name, lower(amount, most[name])])), limits: most };
}

/** How many bytes a server's container may take; undefined where there is no limit. */
export function serverMemory(given?: Resources): number | undefined {
  const limit = serverResources(given).limits?.['memory'];
  return limit === undefined ? undefined : Number(parseQuantity(limit) / 1_000_000_000n);
}

function lower(amount: string, limit: string | undefined): string {
  return limit !== undefined && compareQuantities(limit, amount) < 0 ? limit : amount;
}
