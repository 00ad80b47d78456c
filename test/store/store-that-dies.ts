import type { StoreSettings } from '../../src/store/settings';
import { lastStage } from '../../src/store/progress';
import { runStore } from '../../src/store/run-store';

/** `dbop store` that is killed, as by the kernel, the very moment it says that it has reached the stage of its first argument. */
const [, , stage] = process.argv;
const settings = JSON.parse(process.env['DBOP_STORE'] ?? '') as StoreSettings;

void runStore({
  env: { DBOP_STORE: JSON.stringify(settings), JOB_NAME: 'b1', POD_NAMESPACE: 'ns' },
  signal: new AbortController().signal,
  write: (line) => {
    if (lastStage(line)?.stage === stage) process.kill(process.pid, 'SIGKILL');
  },
});
