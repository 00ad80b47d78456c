import { checkMachine } from '../cluster/machine';

/** Prints why this machine can't host a cluster with so many nodes; prints nothing if it can. */
async function main(): Promise<void> {
  if (process.env['DBOP_TEST_KUBECONFIG'] !== undefined) return;
  await checkMachine(Number(process.argv[2])).catch((error: unknown) => process.stdout.write((error as Error).message));
}

void main();
