import type { TestCluster } from '../support/test-cluster';
import { waitFor } from '../support/wait-for';

/** What differs between engines for one who writes without a pause. */
export interface WriterStory {
  readonly image: string;
  /** Variable that the client takes its password from. */
  readonly passwordVariable: string;
  /** The client: reads statements, prints answers at once, ends with the first error. */
  readonly client: string;
  /** What the server says to one whom it has shut out. */
  readonly refusal: string;
}

/**
 * A pod that writes row after row through a connection that stays open, each of them a transaction of its own, and prints a row's
 * number when the server has acknowledged it. When the connection breaks it makes another one, until it is refused.
 */
export class Writer {
  private readonly target;

  constructor(private readonly cluster: TestCluster, private readonly namespace: string, private readonly name: string) {
    this.target = { apiVersion: 'v1', resource: 'pods', namespace, name };
  }

  async start(database: string, { image, passwordVariable, client, refusal }: WriterStory): Promise<void> {
    // A row of which nobody knows whether it was written is not written again: the next connection goes on far above. One that a dead
    // pod has left half open would never end by itself.
    const script = `n=1
while :; do
  seq $n $((n + 999999)) | sed 's/.*/INSERT INTO acknowledged VALUES (&); SELECT &;/' | timeout 10 ${client} 2> /tmp/error
  if grep -e '${refusal}' /tmp/error >&2; then exit 0; fi
  n=$((n + 1000000))
  sleep 0.2
done`;
    const secretKeyRef = { name: `${database}-app`, key: 'password' };
    const security = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    await this.cluster.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: this.name, namespace: this.namespace },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 999, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [{ name: 'writer', image, command: ['sh', '-c', script], env: [{ name: passwordVariable, valueFrom: { secretKeyRef } }], securityContext: security }],
      },
    });
  }

  /** Waits until the server has refused to take more, and returns the numbers that it had acknowledged. */
  async refused(withinMs = 120_000): Promise<number[]> {
    await waitFor(this.cluster, this.target, (seen) => seen?.status?.phase === 'Succeeded', { what: 'the refusal of further rows', withinMs });
    const log = await this.cluster.kubectl(`logs ${this.name} -n ${this.namespace}`);
    await this.cluster.kubectl(`delete pod ${this.name} -n ${this.namespace} --wait=false`);
    return log.split('\n').filter((line) => /^\d+$/.test(line)).map(Number);
  }
}
