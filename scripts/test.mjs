/** `npm test`: everything that this machine can check, from fast to real. With CI=true, what it can't is a failure. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { install, program, root, run, step } from './workshop.mjs';

// Where Kubernetes will be built, its sources come while npm installs. Without Go or a network the build itself will say so.
if (process.env.DBOP_TEST_KUBECONFIG === undefined) spawn('go', ['mod', 'download'], { cwd: join(root, 'cluster', 'programs', 'kubernetes'), stdio: 'ignore' }).on('error', () => undefined).unref();
install();

/** The package as it would be published; the checks and tests of the package all look at this one. */
const shelf = mkdtempSync(join(tmpdir(), 'dbop-package-'));
const tarball = join(shelf, 'package.tgz');

const gates = [
  ['types', () => run(program('typescript/bin/tsc'), ['--noEmit', '-p', 'tsconfig.json'])],
  ['lint', () => run(program('eslint/bin/eslint.js'), ['.', '--max-warnings', '0'])],
  ['layers and cycles', () => run(program('dependency-cruiser/bin/dependency-cruise.mjs'), ['src', '--config', '.dependency-cruiser.cjs'])],
  ['unused exports and dependencies', () => run(program('knip/bin/knip.js'))],
  ['build and pack', () => run(program('tsx/dist/cli.mjs'), ['scripts/pack.ts', tarball])],
  ['package as publishers see it', () => run(program('publint/src/cli.js'), ['run', tarball, '--strict'])],
  ['types as consumers see them', () => run(program('@arethetypeswrong/cli/dist/index.js'), [tarball, '--profile', 'node16'])],
  ['API reference', () => run(program('typedoc/bin/typedoc'))],
];

const pure = { name: 'pure', title: 'pure tests', workers: cpus().length };
const controlPlane = { name: 'control-plane', title: 'tests on a real API server', nodes: 0, workers: 1 };
// Much of their time is waiting for servers to start, but many at once would wait for each other.
const cluster = { name: 'cluster', title: 'tests on a real cluster', nodes: 1, workers: 2 };

/** Layers that share their workers, so that none is idle as long as there is a test. On one given cluster they would meet. */
const oneCluster = process.env.DBOP_TEST_KUBECONFIG !== undefined || process.env.DBOP_CLUSTER !== undefined;
const rounds = oneCluster ? [[pure], [controlPlane], [cluster]] : [[pure], [controlPlane, cluster]];

// What clusters are made of is built beside the checks, which leave processors idle. Should it fail, the tests that need it build it again, and say why they can't.
if (process.env.DBOP_TEST_KUBECONFIG === undefined && whyNot({ nodes: 1 }) === '') spawn(process.execPath, [program('tsx/dist/cli.mjs'), 'cluster/main.ts', 'build'], { cwd: root, stdio: 'ignore' }).unref();

const failed = gates.filter(([title, work]) => !step(title, work)).map(([title]) => title);
const skipped = [];
const totals = { passed: 0, failed: failed.length, skipped: 0 };
for (const round of rounds) {
  const layers = round.filter(canRun);
  if (layers.length > 0) await test(layers);
}

rmSync(shelf, { recursive: true, force: true });
console.log('');
for (const text of skipped) console.log(`Not run here: ${text}`);
if (failed.length > 0) console.log(`Failed: ${failed.join(', ')}`);
console.log(`${totals.passed} passed, ${totals.failed} failed${totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''}`);
process.exitCode = totals.failed === 0 ? 0 : 1;

/** Whether this machine can run a layer of tests; if not, the user will read why. */
function canRun(layer) {
  const why = whyNot(layer);
  if (why === '') return true;
  if (process.env.CI === 'true') fail(layer.title, why);
  else skipped.push(`${layer.title}: ${why}`);
  return false;
}

/** Why this machine can't run a layer; empty if it can. */
function whyNot({ nodes }) {
  if (nodes === undefined) return '';
  const { ok, output } = run(program('tsx/dist/cli.mjs'), ['scripts/machine.ts', String(nodes)]);
  return ok ? output.trim() : `cannot tell whether this machine can host a cluster: ${output.trim()}`;
}

/** Runs layers of tests in sight of the user, and adds up what jest counted. A suite that could not even start is a failure. */
async function test(layers) {
  const title = layers.map((layer) => layer.title).join(' and ');
  const names = layers.map((layer) => layer.name);
  const workers = layers.reduce((sum, layer) => sum + layer.workers, 0);
  console.log(`\n${title}`);
  const folder = mkdtempSync(join(tmpdir(), 'dbop-test-'));
  const report = join(folder, 'report.json');
  const jest = spawn(process.execPath, [program('jest/bin/jest.js'), '--selectProjects', ...names, '--maxWorkers', String(workers), '--passWithNoTests', '--json', '--outputFile', report], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...(existsSync(tarball) && { DBOP_TARBALL: tarball }) } });
  const [status] = await once(jest, 'exit');
  const counts = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
  rmSync(folder, { recursive: true, force: true });
  if (counts === undefined) return fail(title, 'jest ended without a report');
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests } = counts;
  totals.passed += numPassedTests;
  totals.failed += numFailedTests + numRuntimeErrorTestSuites;
  totals.skipped += numPendingTests;
  if (numPendingTests > 0 && process.env.CI === 'true') fail(title, `${numPendingTests} tests were skipped`);
  if (status !== 0) failed.push(title);
}

function fail(title, why) {
  console.log(`✗ ${title}: ${why}`);
  failed.push(title);
  totals.failed += 1;
}
