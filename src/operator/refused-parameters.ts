import type { Parameters } from '../engines/engine';
import type { Facts } from './facts';
import type { DatabasePlan } from './plan';

type Known = Pick<Facts, 'confirmedParameters' | 'refusedParameters'>;

/** What the running server has refused and the spec still asks for, word by word: another value is a new wish. */
export function stillRefused({ server }: Pick<DatabasePlan, 'server'>, { refusedParameters = {} }: Known): Readonly<Record<string, string>> {
  const wanted = new Map(Object.entries(server.parameters ?? {}));
  return Object.fromEntries(Object.entries(refusedParameters).filter(([name, value]) => wanted.has(name) && String(wanted.get(name)) === value));
}

/**
 * What a server starts with: all that is wanted, but for what it has refused. A server that was only asked keeps its former
 * value; one that reads a wrong value from its file would not come up.
 */
export function startParameters(plan: Pick<DatabasePlan, 'server'>, facts: Known): Parameters {
  const refused = stillRefused(plan, facts);
  const taken = Object.entries(plan.server.parameters ?? {}).filter(([name]) => !(name in refused));
  const former = Object.entries(facts.confirmedParameters ?? {}).filter(([name]) => name in refused);
  return Object.fromEntries([...taken, ...former]);
}
