import { beginRun, removeClusters } from './test-run';

/** Starts nothing: the first test that needs a cluster does. */
export default async function globalSetup(): Promise<void> {
  beginRun();
  await removeClusters(false);
}
