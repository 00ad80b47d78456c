import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../src/runtime/version';

test('the version that the user agent tells is that of the package', () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { version: string };
  expect(VERSION).toBe(version);
});
