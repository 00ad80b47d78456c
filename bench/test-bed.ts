import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServer } from '../cluster/api-server';
import { Cluster } from '../cluster/cluster';
import type { Progress } from '../cluster/progress';
import { shop } from './shop';

/** Where the accounts of the measured programs live. */
const accounts = 'bench-accounts';

/** By which a program reaches the API server, and by which its writes are found in the audit log. */
export interface Identity {
  readonly kubeconfig: string;
  readonly username: string;
}

/** A control plane of the benchmark's own, with the benchmark's kind and an account for each measured program. */
export class TestBed {
  readonly api: ApiServer;

  private constructor(
    private readonly cluster: Cluster,
  ) {
    this.api = ApiServer.fromKubeconfig(cluster.kubeconfig());
  }

  static async start(name: string, progress: Progress): Promise<TestBed> {
    const cluster = new Cluster(name, progress);
    // Whatever an earlier run left would be measured too.
    await cluster.down();
    await cluster.up(0);
    const bed = new TestBed(cluster);
    await bed.prepare();
    return bed;
  }

  get auditLog(): string {
    return this.cluster.folder.auditLog;
  }

  /** A file for what a program prints. */
  logFile(name: string): string {
    return this.cluster.folder.file(`${name}.log`);
  }

  /** An account with all rights, known by its token. */
  async identity(name: string): Promise<Identity> {
    const account = { kind: 'ServiceAccount', namespace: accounts, name };
    await this.api.demand('POST', `/api/v1/namespaces/${accounts}/serviceaccounts`, { metadata: { name } });
    await this.api.demand('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: `bench-${name}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [account],
    });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } };
    const { status } = await this.api.demand<{ status: { token: string } }>('POST', `/api/v1/namespaces/${accounts}/serviceaccounts/${name}/token`, request);
    return { kubeconfig: this.writeKubeconfig(name, status.token), username: `system:serviceaccount:${accounts}:${name}` };
  }

  async remove(): Promise<void> {
    this.api.close();
    await this.cluster.down();
  }

  private async prepare(): Promise<void> {
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const crd = shop.crd();
    await this.api.demand('POST', crds, crd);
    await this.api.demand('POST', '/api/v1/namespaces', { metadata: { name: accounts } });
    while ((await this.api.request('GET', '/apis/bench.dbop.dev/v1/shops')).status !== 200) await sleep(100);
  }

  private writeKubeconfig(name: string, token: string): string {
    const ca = this.cluster.folder.file('bench-ca.crt');
    writeFileSync(ca, this.api.access.ca ?? '');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'bench',
      contexts: [{ name: 'bench', context: { cluster: 'bench', user: name } }],
      clusters: [{ name: 'bench', cluster: { server: this.api.access.server, 'certificate-authority': ca } }],
      users: [{ name, user: { token } }],
    };
    const file = this.cluster.folder.file(`${name}.kubeconfig`);
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  }
}
