import type { Engine, EngineName } from './engine';
import { mysql } from './mysql';
import { postgres } from './postgres';

const engines: Readonly<Record<EngineName, Engine>> = { mysql, postgres };

/** @throws when there is no such engine */
export function engineOf(name: string): Engine {
  const engine = Object.hasOwn(engines, name) ? engines[name as EngineName] : undefined;
  if (engine === undefined) throw new Error(`'${name}' is no engine of ours; use ${Object.keys(engines).join(' or ')}`);
  return engine;
}
