import type { Parameters } from './engine';

/** A value as configuration files take it: booleans as ON and OFF, which both engines read. */
export function parameterText(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? 'ON' : 'OFF') : String(value);
}

/** Entries in an order that doesn't depend on how the user wrote them. */
export function sortedParameters(parameters: Parameters): [name: string, value: string][] {
  return Object.keys(parameters)
    .sort()
    .map((name) => [name, parameterText(parameters[name] ?? '')]);
}

/** @param owned normalised name → why the operator keeps it to itself */
export function parameterProblems(parameters: Parameters, normalised: (name: string) => string, owned: ReadonlyMap<string, string>): string[] {
  const seen = new Map<string, string>();
  return sortedParameters(parameters).flatMap(([name, value]) => {
    const key = normalised(name);
    const twin = seen.get(key);
    seen.set(key, name);
    if (!/^[A-Za-z][A-Za-z0-9_.-]*$/.test(name)) return [`'${name}' is no parameter name; use letters, digits, '_', '-' and '.'`];
    if (twin !== undefined) return [`'${name}' and '${twin}' are two spellings of one parameter; keep one`];
    if (/[\r\n\0]/.test(value)) return [`'${name}' has a value of several lines; a parameter is one line`];
    const why = owned.get(key);
    return why === undefined ? [] : [`'${name}' is set by the operator, because ${why}; remove it`];
  });
}
