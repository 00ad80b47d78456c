import { compareQuantities, parseQuantity, tryParseQuantity } from '../../src/kind/quantity';

const one = 1_000_000_000n;

test.each<[string | number, bigint]>([
  ['1', one],
  [2, 2n * one],
  ['1000m', one],
  ['0.5', one / 2n],
  ['.5', one / 2n],
  ['5.', 5n * one],
  ['1.5Gi', 3n * 2n ** 29n * one],
  ['1024Mi', 2n ** 30n * one],
  ['10G', 10n ** 10n * one],
  ['12e6', 12_000_000n * one],
  ['1E', 10n ** 18n * one],
  ['1E3', 1000n * one],
  ['100n', 100n],
  ['-1', -one],
  ['0.0000000001', 1n],
])('%s is %s billionths', (text, value) => {
  expect(parseQuantity(text)).toBe(value);
});

test.each(['', 'Gi', '1 Gi', '1gi', '1GiB', '0x10', '.', '1e', 'one', '1e99'])('%p is no quantity', (text) => {
  expect(tryParseQuantity(text)).toBeUndefined();
  expect(() => parseQuantity(text)).toThrow(/no Kubernetes quantity; write a number/);
});

test('quantities compare by value, not by unit', () => {
  expect(compareQuantities('1Gi', '1024Mi')).toBe(0);
  expect(compareQuantities('1G', '1Gi')).toBe(-1);
  expect(compareQuantities('1', '999m')).toBe(1);
});
