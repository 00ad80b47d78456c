import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../src/api/database';
import { DatabaseBackup } from '../src/api/database-backup';

/**
 * What `cdk8s import` makes of our own CRDs: the text of imports/dbop.dev.ts.
 * The CRDs come from the kinds and not from dist/, because dist/ is synthesized by constructs that stand on this very file.
 */
export function importedClasses(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dbop-imports-'));
  try {
    writeFileSync(join(folder, 'crds.yaml'), [Database, DatabaseBackup].map((kind) => JSON.stringify(kind.crd())).join('\n---\n'));
    const cli = join(__dirname, '..', 'node_modules', 'cdk8s-cli', 'bin', 'cdk8s');
    execFileSync(process.execPath, [cli, 'import', 'crds.yaml', '--language', 'typescript', '--output', 'out', '--no-save', '--no-check-upgrade'], { cwd: folder, stdio: 'pipe' });
    return readFileSync(join(folder, 'out', 'dbop.dev.ts'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (require.main === module) writeFileSync(join(__dirname, '..', 'imports', 'dbop.dev.ts'), importedClasses());
