import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pack } from '../../scripts/pack';

const installed = join(__dirname, '..', '..', 'node_modules');
const folder = mkdtempSync(join(tmpdir(), 'dbop-consumer-'));
const modules = join(folder, 'node_modules');
const packed = join(modules, 'cdk8s-database-operator');

/** What a platform engineer would write. */
const source = `
import { App, Chart, YamlOutputType } from 'cdk8s';
import { Deployment } from 'cdk8s-plus-27';
import { DatabaseCrd, MysqlInstance, OperatorDeployment, defineKind, type SpecOf } from 'cdk8s-database-operator';
import { z } from 'zod';

const Shop = defineKind({ group: 'example.com', version: 'v1', kind: 'Shop', spec: z.object({ replicas: z.int().default(1) }) });
const spec: SpecOf<typeof Shop> = Shop.check({}, 'shop');
const replicas: number = spec.replicas;

const app = new App({ outdir: process.argv[2], yamlOutputType: YamlOutputType.FILE_PER_APP });
const chart = new Chart(app, 'shop', { namespace: 'shop' });
const { group } = new DatabaseCrd(chart, 'crds', { group: 'db.acme.com' });
new OperatorDeployment(chart, 'operator', { group, image: 'registry.example.com/dbop:1.0.0', watchNamespaces: ['shop'] });
const orders = new MysqlInstance(chart, 'orders', { group, version: '8.4', size: '10Gi' });
const application = new Deployment(chart, 'application', { replicas });
orders.connect(application.addContainer({ image: 'registry.example.com/shop:1.0.0' }));
app.synth();
`;

/** What npm would install, without its time: the packed files, and of what is installed here only what the package says that it needs. */
beforeAll(() => {
  const tarball = process.env['DBOP_TARBALL'] ?? join(folder, 'package.tgz');
  if (process.env['DBOP_TARBALL'] === undefined) pack(tarball);
  mkdirSync(packed, { recursive: true });
  execFileSync('tar', ['--extract', '--gzip', '--file', tarball, '--directory', packed, '--strip-components', '1']);
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;
  for (const name of [...Object.keys({ ...dependencies, ...peerDependencies }), 'typescript', '@types/node']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(installed, name), join(modules, name));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles the app as an ES module and as a CommonJS one, runs each, and returns the YAML that they wrote. */
function synthesized(): string[] {
  const options = { module: 'node16', moduleResolution: 'node16', target: 'es2022', strict: true, noUncheckedIndexedAccess: true, types: ['node'], skipLibCheck: false };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['app.mts', 'app.cts'] }));
  for (const file of ['app.mts', 'app.cts']) writeFileSync(join(folder, file), source);
  node(join(modules, 'typescript', 'bin', 'tsc'));
  return ['app.mjs', 'app.cjs'].map((app) => {
    const out = join(folder, `${app}.out`);
    node(app, out);
    return readdirSync(out).map((name) => readFileSync(join(out, name), 'utf8')).join('');
  });
}

function node(...args: string[]): string {
  try {
    return execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`node ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

const loadedBy = (entry: string) => {
  const loaded = JSON.parse(node('-e', `require('${entry}'); console.log(JSON.stringify(Object.keys(require.cache)))`)) as string[];
  return new Set(loaded.map((path) => /node_modules\/((@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1]));
};

test('the packed package works in another project, from ES modules and from CommonJS alike', () => {
  const [esm, cjs] = synthesized();
  expect(esm).toBe(cjs);
  for (const part of ['name: databases.db.acme.com', 'image: registry.example.com/dbop:1.0.0', 'apiVersion: db.acme.com/v1alpha1', 'name: DB_PASSWORD', 'name: orders-app']) expect(esm).toContain(part);
});

test('importing the package loads no HTTP client, no driver, no logger and no command line', () => {
  const loaded = loadedBy('cdk8s-database-operator');
  expect(['undici', 'ws', 'mysql2', 'pg', 'pino', 'prom-client', '@aws-sdk/client-s3', 'commander'].filter((name) => loaded.has(name))).toEqual([]);
});

test.each(['cdk8s-database-operator/runtime', 'cdk8s-database-operator/operator'])('importing %s does not load cdk8s-plus, which would cost each operator 20 MB', (entry) => {
  expect(loadedBy(entry)).not.toContain('cdk8s-plus-27');
});

test('the package holds declarations, sources and maps that lead to them, and nothing of how it was made', () => {
  const files = readdirSync(packed, { recursive: true, encoding: 'utf8' });
  expect(files.filter((name) => /\.test\.|tsbuildinfo|^(test|cluster|bench)\b/.test(name))).toEqual([]);
  expect(files).toContain(join('lib', 'src', 'index.d.ts'));
  const maps = files.filter((name) => name.endsWith('.map'));
  const sources = maps.flatMap((map) => (JSON.parse(readFileSync(join(packed, map), 'utf8')) as { sources: string[] }).sources.map((path) => join(dirname(map), path)));
  expect(sources.filter((path) => !files.includes(path))).toEqual([]);
  const texts = files.filter((name) => /\.(js|ts|map|json)$/.test(name)).map((name) => readFileSync(join(packed, name), 'utf8'));
  expect(texts.filter((text) => text.includes(join(__dirname, '..', '..')))).toEqual([]);
});
