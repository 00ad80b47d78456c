import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importedClasses } from '../../scripts/imports';
import { packageVersion } from '../../src/kind/package-version';

const root = join(__dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'dbop-current-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const filesOf = (path: string) => Object.fromEntries(readdirSync(path).sort().map((name) => [name, readFileSync(join(path, name), 'utf8')]));
const synth = (out: string, app?: string) =>
  execFileSync(process.execPath, [join(root, 'node_modules', 'cdk8s-cli', 'bin', 'cdk8s'), 'synth', '--no-check-upgrade', '--output', join(folder, out), ...(app === undefined ? [] : ['--app', app])], { cwd: root, stdio: 'pipe', encoding: 'utf8' });

test('imports/ is what cdk8s import makes of the kinds as they are now', () => {
  expect(readFileSync(join(root, 'imports', 'dbop.dev.ts'), 'utf8') === importedClasses() ? 'current' : 'run npm start and commit imports/').toBe('current');
});

test('dist/ is what cdk8s synth makes now, byte for byte, twice', () => {
  synth('first');
  synth('second');
  expect(filesOf(join(folder, 'second'))).toEqual(filesOf(join(folder, 'first')));
  expect(filesOf(join(root, 'dist'))).toEqual(filesOf(join(folder, 'first')));
});

test('an app with a wrong database ends with one clear error and writes nothing', () => {
  const app = join(folder, 'wrong.ts');
  writeFileSync(
    app,
    `import { App, Chart } from ${JSON.stringify(join(root, 'node_modules', 'cdk8s'))};
     import { MysqlInstance } from ${JSON.stringify(join(root, 'src', 'constructs', 'mysql-instance'))};
     const app = new App();
     new MysqlInstance(new Chart(app, 'shop'), 'orders', { version: '8.4', size: '5Gb' });
     app.synth();`,
  );
  let stderr = '';
  try {
    synth('wrong', `node --import tsx ${app}`);
  } catch (error) {
    stderr = (error as { stderr: string }).stderr;
  }
  expect(stderr).toContain("shop/orders: 'size' (5Gb) is not a size; write a number and a unit, such as 10Gi");
  expect(readdirSync(folder)).not.toContain('wrong');
});

test('the version in the code is the version of the package', () => {
  expect(packageVersion).toBe((JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version);
});

test('the lockfile names no download address', () => {
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toContain('"resolved": "http');
});
