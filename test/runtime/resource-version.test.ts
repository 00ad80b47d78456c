import { compareVersions } from '../../src/runtime/resource-version';

test.each([
  ['9', '10', -1],
  ['10', '9', 1],
  ['249', '249', 0],
  ['249', '250', -1],
  // Beyond what a number can hold exactly.
  ['9007199254740993', '9007199254740992', 1],
  ['18446744073709551615', '18446744073709551614', 1],
])('%s against %s', (a, b, expected) => {
  expect(Math.sign(compareVersions(a, b))).toBe(expected);
});
