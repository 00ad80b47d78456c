import { POINTLESS } from '../constructs/store-container';
import { Catalog } from './catalog';
import { Exchange } from './exchange';
import { get } from './get';
import { isGood } from './manifest';
import { Progress } from './progress';
import { put, type StoreWork } from './put';
import { type FailureReason, type StoreResult, writeResult } from './result';
import { S3Target } from './s3';
import { folderOf, settingsFrom, type StoreSettings, type TargetSettings } from './settings';
import { StoreError, storeError } from './store-error';
import type { Target } from './target';
import { systemTime, type Time } from './time';
import { VolumeTarget } from './volume';

/** What the command takes from its process. */
export interface StoreProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the pod is told to stop. */
  readonly signal: AbortSignal;
  readonly write: (text: string) => void;
  /** @default the clock on the wall */
  readonly time?: Time;
}

/** Failures that another try can't mend. */
const pointless: ReadonlySet<FailureReason> = new Set(['NameTaken', 'NoBackup', 'NewerVersion', 'OtherEngine', 'ChecksumMismatch']);

/**
 * `dbop store`: what the variable DBOP_STORE asks for, with the result in the termination message.
 * @returns the exit code
 */
export async function runStore({ env, signal, write, time = systemTime }: StoreProcess): Promise<number> {
  const settings = settingsFrom(env);
  let result: StoreResult;
  try {
    result = await perform(settings, signal, new Progress(time, write), write, time);
  } catch (error) {
    const failure = storeError(error, 'Internal', `cannot ${settings.action} a backup of ${settings.database}`);
    result = { outcome: 'failed', reason: failure.reason, message: failure.message };
  }
  if (settings.action !== 'list') writeResult(result, settings.terminationLog);
  write(`${JSON.stringify({ time: time.now().toISOString(), ...result })}\n`);
  return result.outcome !== 'failed' ? 0 : pointless.has(result.reason) ? POINTLESS : 1;
}

async function perform(settings: StoreSettings, signal: AbortSignal, progress: Progress, write: (text: string) => void, time: Time): Promise<StoreResult> {
  const target = await connect(settings.target);
  const catalog = new Catalog(target, folderOf(settings));
  switch (settings.action) {
    case 'put':
      return converse(put, { settings, target, catalog, time, progress }, signal);
    case 'get':
      return converse(get, { settings, target, catalog, time, progress }, signal);
    case 'delete':
      return remove(settings.backup ?? '', settings, catalog, signal);
    case 'list': {
      const { manifests, unreadable } = await catalog.list(signal);
      for (const manifest of manifests) write(`${JSON.stringify(manifest)}\n`);
      return { outcome: 'none', message: `${manifests.length} backups${unreadable.map((text) => `; ${text}`).join('')}` };
    }
  }
}

async function remove(backup: string, { run }: StoreSettings, catalog: Catalog, signal: AbortSignal): Promise<StoreResult> {
  const found = run === undefined ? undefined : await catalog.find(backup, signal);
  if (found?.run !== undefined && found.run !== run && isGood(found)) return { outcome: 'deleted', message: `${catalog.location(backup)} holds a backup of another run, which is left as it is` };
  await catalog.remove(backup, signal);
  return { outcome: 'deleted', message: `${catalog.location(backup)} is gone` };
}

/** Runs the store's half of a Job, and tells the engine's half when it fails. */
async function converse(act: (work: StoreWork) => Promise<StoreResult>, work: Omit<StoreWork, 'exchange'>, signal: AbortSignal): Promise<StoreResult> {
  const exchange = new Exchange(work.settings.exchange, work.time);
  const over = new AbortController();
  const interrupt = () => over.abort(new StoreError('Interrupted', 'the pod was told to stop'));
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    await exchange.begin(over.signal);
    return await act({ ...work, exchange });
  } catch (error) {
    const failure = storeError(exchange.signal.aborted ? exchange.signal.reason : error, 'Internal', `cannot ${work.settings.action} a backup of ${work.settings.database}`);
    await exchange.fail(failure.reason);
    throw failure;
  } finally {
    signal.removeEventListener('abort', interrupt);
    over.abort();
  }
}

async function connect(target: TargetSettings): Promise<Target> {
  if (!('s3' in target)) return new VolumeTarget(target.volume.path);
  return S3Target.connect(target.s3).catch((error: unknown) => {
    throw storeError(error, 'TargetFailed', `cannot use the bucket ${target.s3.bucket}`);
  });
}
