import { Command } from 'commander';
import type { Io } from './io';

/** `dbop store`: the half of a backup or restore Job that speaks to the volume or the bucket. */
export function storeCommand(io: Io): Command {
  return new Command('store')
    .description('Put, get, list or delete backups in a volume or bucket. Runs in the pods of backup and restore Jobs, which say in DBOP_STORE what to do.')
    .addHelpText('after', '\nExit code: 0, or 1 if it failed; the result is one line of JSON and, in a pod, the termination message.')
    .action(async () => {
      const { runStore } = await import('../store/run-store.js');
      io.exitCode = await runStore({ env: io.env, signal: io.signal, write: (text) => io.out(text) });
    });
}
