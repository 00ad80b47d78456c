import { engineOf } from '../engines/engine-of';
import { type BackupFacts, type StoreResult } from './result';
import { factsOf, type Manifest, newestGood } from './manifest';
import type { StoreWork } from './put';
import { send } from './send';
import { StoreError, storeError } from './store-error';

/**
 * Makes a data directory from a backup, if there is none yet.
 *
 * Guarantees: data that is there is left alone; the directory gets its name only after the whole artifact was sent with
 * the right checksum and loaded. Run again after being killed at any moment, it begins anew, or finds that all is done.
 */
export async function get(work: StoreWork): Promise<StoreResult> {
  const { settings, catalog, exchange, progress } = work;
  progress.reach('connect');
  const facts = parseFacts(await exchange.order('facts'));
  if (facts.data === 'present') {
    await exchange.order('end');
    const backup = facts.restored === undefined ? undefined : (JSON.parse(facts.restored) as BackupFacts);
    return { outcome: 'present', message: backup === undefined ? 'the volume holds data already; nothing was restored' : `the volume holds what was restored from ${backup.location}`, backup };
  }
  const manifest = await choose(work);
  if (manifest === undefined) {
    await exchange.order('end');
    return { outcome: 'none', message: `there is no backup of ${settings.database} in ${catalog.location('')}; the database starts empty` };
  }
  refuse(manifest, settings.engine ?? 'mysql', facts.version ?? '', catalog.location(manifest.name));
  progress.reach('chosen');
  await send(manifest, work);
  progress.reach('keep');
  const backup = factsOf(manifest, catalog.location(manifest.name));
  await exchange.put('restored.json', JSON.stringify(backup));
  await exchange.order('keep');
  progress.reach('kept');
  await exchange.order('end');
  return { outcome: 'restored', message: `${manifest.tables} tables with ${manifest.rows} rows were restored from ${backup.location}, taken ${manifest.completedAt}`, backup };
}

/** The backup to restore; undefined when there is none and that is fine. Doubt is never fine: an empty database would hide what is there. */
async function choose({ settings, catalog, exchange }: StoreWork): Promise<Manifest | undefined> {
  const where = catalog.location(settings.backup ?? '');
  if (settings.backup !== undefined) {
    const manifest = await catalog.find(settings.backup, exchange.signal).catch((error: unknown) => {
      throw storeError(error, 'TargetFailed', `cannot read ${where}`);
    });
    if (manifest === undefined) throw new StoreError('NoBackup', `there is no backup at ${where}`);
    if (manifest.verificationFailure !== undefined) throw new StoreError('NoBackup', `the backup at ${where} failed its verification: ${manifest.verificationFailure}`);
    return manifest;
  }
  const listing = await catalog.list(exchange.signal).catch((error: unknown) => {
    throw storeError(error, 'TargetFailed', `cannot list ${where}`);
  });
  const manifest = newestGood(listing.manifests);
  if (manifest !== undefined) return manifest;
  const found = [...listing.unreadable, ...listing.manifests.map(({ name, verificationFailure }) => `${name} failed its verification: ${verificationFailure}`)];
  if (found.length > 0) throw new StoreError('NoBackup', `there are backups in ${where}, but none that can be restored: ${found.join('; ')}`);
  if (settings.required === true) throw new StoreError('NoBackup', `there is no backup of ${settings.database} in ${where}`);
  return undefined;
}

function refuse(manifest: Manifest, engine: string, version: string, where: string): void {
  if (manifest.engine !== engine) throw new StoreError('OtherEngine', `the backup at ${where} is of ${manifest.engine}, the database is ${engine}`);
  if (version === '') throw new StoreError('Internal', 'the server program of the image does not tell its version, so nobody knows whether it can read the backup');
  if (engineOf(engine).compareVersions(manifest.serverVersion, version) > 0) {
    throw new StoreError('NewerVersion', `the backup at ${where} was taken from version ${manifest.serverVersion}, the server is ${version}; use version ${manifest.serverVersion} or newer`);
  }
}

function parseFacts(text: string): Partial<Record<'data' | 'version' | 'restored', string>> {
  return Object.fromEntries(text.split('\n').flatMap((line) => (line.includes('=') ? [[line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]] : [])));
}
