import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mysqlScripts } from '../../src/engines/mysql-scripts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dbop-mysql-'));
  writeFileSync(join(folder, 'common.sh'), mysqlScripts['common.sh']);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)', '8.4.3'],
  ['/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))', '9.7.4'],
  ['/usr/sbin/mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)', '8.0.36'],
  ['mysqld  Ver 5.7.44 for Linux on x86_64 (MySQL Community Server (GPL))', '5.7.44'],
  ['mysqld: no version here', ''],
])('the version that %p tells is %p', (words, version) => {
  writeFileSync(join(folder, 'mysqld'), `#!/bin/sh\necho '${words}'\n`, { mode: 0o755 });
  expect(execFileSync('sh', ['-c', `. ${folder}/common.sh; server_version`], { encoding: 'utf8', env: { PATH: `${folder}:${process.env['PATH']}` } }).trim()).toBe(version);
});
