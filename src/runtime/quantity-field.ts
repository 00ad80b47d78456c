/** Maps whose values are quantities, wherever built-in kinds have them. */
const maps = new Set(['limits', 'requests', 'capacity', 'hard', 'overhead']);

/** Fields that hold one quantity. */
const fields = new Set(['sizeLimit', 'divisor']);

/**
 * Whether the API server reads a quantity at this place and writes it back in a unit of its own. Anywhere else `1024Mi` and `1Gi`
 * are two texts, in a ConfigMap for example.
 * @param name of the field
 * @param above name of the field that holds it, lists left out
 */
export function isQuantityField(name: string, above: string): boolean {
  return maps.has(above) || fields.has(name);
}
