/** `npm start`: installs what is missing, builds, synthesizes, and says what to do next. */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install, program, root, run, step } from './workshop.mjs';

const what = {
  'crds.yaml': 'the API: Database and DatabaseBackup',
  'operator.yaml': 'the operator, its rights and the deletion policy',
  'sample.yaml': 'a MySQL and a PostgreSQL to try',
};

install();
const done =
  step('import classes from our own CRDs', () => run(program('tsx/dist/cli.mjs'), ['scripts/imports.ts'])) &&
  step('build lib/', () => run(program('typescript/bin/tsc'), ['-p', 'tsconfig.build.json'])) &&
  step('synthesize dist/', synthesize);
if (!done) process.exit(1);

console.log('');
for (const name of readdirSync(join(root, 'dist')).sort()) {
  const objects = readFileSync(join(root, 'dist', name), 'utf8').match(/^kind:/gm)?.length ?? 0;
  console.log(`  dist/${name.padEnd(16)} ${String(objects).padStart(3)} objects  ${what[name] ?? ''}`);
}
console.log(`
Next
  kubectl apply --server-side -f dist/crds.yaml -f dist/operator.yaml
  kubectl apply -f dist/sample.yaml && kubectl get db -w
  npm test`);

/** `cdk8s synth` empties its output first; by way of another folder, an app that fails leaves dist/ as it was. */
function synthesize() {
  const folder = mkdtempSync(join(tmpdir(), 'dbop-synth-'));
  try {
    const result = run(program('cdk8s-cli/bin/cdk8s'), ['synth', '--no-check-upgrade', '--output', folder]);
    if (result.ok) {
      rmSync(join(root, 'dist'), { recursive: true, force: true });
      cpSync(folder, join(root, 'dist'), { recursive: true });
    }
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
