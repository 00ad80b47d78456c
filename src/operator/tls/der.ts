/** The few words of DER (ITU-T X.690) that a certificate is written in. */
export const der = {
  sequence: (...parts: Buffer[]) => tagged(0x30, ...parts),
  set: (...parts: Buffer[]) => tagged(0x31, ...parts),
  integer: (value: Buffer) => tagged(0x02, positive(value)),
  boolean: (value: boolean) => tagged(0x01, Buffer.from([value ? 0xff : 0])),
  octets: (value: Buffer) => tagged(0x04, value),
  text: (value: string) => tagged(0x0c, Buffer.from(value, 'utf8')),
  /** @param unusedBits bits of the last byte that don't count */
  bits: (value: Buffer, unusedBits = 0) => tagged(0x03, Buffer.from([unusedBits]), value),
  /** An object identifier in its dotted form. */
  oid: (dotted: string) => tagged(0x06, oidBytes(dotted)),
  time: (date: Date) => time(date),
  /** Context-specific and constructed: `[n]`. */
  context: (number: number, ...parts: Buffer[]) => tagged(0xa0 + number, ...parts),
  /** Context-specific and primitive: `[n] IMPLICIT`. */
  implicit: (number: number, value: Buffer) => tagged(0x80 + number, value),
};

function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), length(body.length), body]);
}

function length(value: number): Buffer {
  if (value < 0x80) return Buffer.from([value]);
  const bytes = bigEndian(value);
  return Buffer.from([0x80 + bytes.length, ...bytes]);
}

function bigEndian(value: number): number[] {
  return value < 0x100 ? [value] : [...bigEndian(Math.floor(value / 0x100)), value % 0x100];
}

/** A leading bit would make the number negative. */
function positive(value: Buffer): Buffer {
  return (value[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), value]) : value;
}

function oidBytes(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return Buffer.from([first * 40 + second, ...rest.flatMap(base128)]);
}

function base128(value: number): number[] {
  const groups: number[] = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
  return groups;
}

/** RFC 5280: two digits of the year until 2049, four from 2050. */
function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}
