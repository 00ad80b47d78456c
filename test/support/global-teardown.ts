import { removeClusters } from './test-run';

export default async function globalTeardown(): Promise<void> {
  await removeClusters(true);
}
