/** Repeatable chance: a seed that fails is a test that can be run again. */
export class Random {
  constructor(private state: number) {}

  /** A whole number from 0 to `bound - 1`. */
  below(bound: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * bound);
  }

  /** Characters out of an alphabet. */
  text(length: number, alphabet: string): string {
    return Array.from({ length }, () => alphabet[this.below(alphabet.length)]).join('');
  }
}
