import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Builds the package and packs it as `npm publish` would.
 * @param tarball - where to put it.
 */
export function pack(tarball: string): void {
  const folder = mkdtempSync(join(dirname(tarball), 'pack-'));
  try {
    const { status, stdout, stderr } = spawnSync('npm', ['pack', '--pack-destination', folder], { cwd: join(__dirname, '..'), encoding: 'utf8' });
    if (status !== 0) throw new Error(`cannot pack the package:\n${stdout}${stderr}`);
    renameSync(join(folder, readdirSync(folder)[0]!), tarball);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (require.main === module) pack(process.argv[2]!);
