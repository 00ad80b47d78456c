/** Powers that a Kubernetes quantity may end in. */
const decimal: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binary: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

const shape = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?))$/;

/**
 * The exact value of a Kubernetes quantity ("1.5Gi", "100m", 2, "12e6") in billionths, the finest unit that Kubernetes knows;
 * anything finer is rounded up, as the API server does. Undefined when the text is no quantity.
 */
export function tryParseQuantity(text: string | number): bigint | undefined {
  const match = shape.exec(String(text));
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const ten = exponent === undefined ? (decimal[suffix] ?? 0) : Number(exponent);
  if (Math.abs(ten) > 40) return undefined;
  const digits = BigInt(whole + fraction) << BigInt(binary[suffix] ?? 0);
  const power = ten + 9 - fraction.length;
  const billionths = power >= 0 ? digits * 10n ** BigInt(power) : dividedRoundingUp(digits, 10n ** BigInt(-power));
  return sign === '-' ? -billionths : billionths;
}

/** Like {@link tryParseQuantity}, for text that must be a quantity. */
export function parseQuantity(text: string | number): bigint {
  const value = tryParseQuantity(text);
  if (value === undefined) throw new Error(`'${text}' is no Kubernetes quantity; write a number with an optional unit, for example 500m, 2, 1.5Gi or 10G`);
  return value;
}

/** Negative, zero or positive, as `left` is smaller than, equal to or greater than `right`. */
export function compareQuantities(left: string | number, right: string | number): number {
  const difference = parseQuantity(left) - parseQuantity(right);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

function dividedRoundingUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
