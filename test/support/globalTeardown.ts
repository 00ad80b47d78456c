import { removeClusters } from './testRun';

export default async function globalTeardown(): Promise<void> {
  await removeClusters(true);
}
