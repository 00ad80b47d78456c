import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');

/** The files of a folder by name. */
const contents = (folder: string) => Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));

test.each(['example-com-database', 'otus-mysql'])('the manifests of %s are what its app synthesizes', (example) => {
  const folder = mkdtempSync(join(tmpdir(), 'dbop-example-'));
  try {
    const tsx = require.resolve('tsx/cli', { paths: [root] });
    execFileSync(process.execPath, [tsx, join(root, 'examples', example, 'main.ts')], { cwd: root, env: { ...process.env, CDK8S_OUTDIR: folder } });
    expect(contents(folder)).toEqual(contents(join(root, 'examples', example, 'dist')));
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);
