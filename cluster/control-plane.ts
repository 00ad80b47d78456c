import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServer } from './api-server';
import { Certificates, type Identity } from './certificates';
import type { ClusterFolder, ClusterState } from './cluster-state';
import { Daemons, type DaemonSpec } from './daemons';
import { serviceNetwork } from './network';

/** How long the API server may take to answer; on an idle machine it takes 2 s. */
const startTimeoutMs = 60_000;

/** The programs of every control plane, in the order in which they need each other. */
export const controlPlaneDaemons = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const;

/** etcd, API server and controller manager; with nodes the scheduler too. */
export class ControlPlane {
  private readonly certificates: Certificates;
  private readonly daemons: Daemons;

  public constructor(
    private readonly folder: ClusterFolder,
    private readonly state: ClusterState,
    private readonly kube: string,
    pki: string,
  ) {
    this.certificates = new Certificates(folder.subfolder('pki'), pki);
    this.daemons = new Daemons(folder.path);
  }

  public get url(): string {
    return `https://${this.state.address}:${this.state.ports.api}`;
  }

  /** Starts what isn't running, and returns when the API server and the controllers answer. */
  public async start(): Promise<void> {
    await this.writeFiles();
    this.daemons.start(this.etcd());
    this.daemons.start(this.apiServer());
    const api = ApiServer.fromKubeconfig(this.folder.kubeconfig);
    try {
      await this.until('kube-apiserver', async () => (await api.request('GET', '/readyz')).status === 200);
      this.daemons.start(this.controllerManager());
      if (this.state.nodes > 0) this.daemons.start(this.scheduler());
      // Made by a controller: the sign that they are at work.
      await this.until('kube-controller-manager', async () => (await api.request('GET', '/api/v1/namespaces/default/serviceaccounts/default')).status === 200);
    } finally {
      api.close();
    }
  }

  /** Kills the API server without any farewell and starts it again: a fault that every client must survive. */
  public async restartApiServer(downMs = 0): Promise<void> {
    await this.daemons.stop('kube-apiserver', 0);
    await sleep(downMs);
    await this.start();
  }

  /** The API server's address changed: it and its clients must start anew with new files. */
  public async moved(): Promise<void> {
    await this.daemons.stop('kube-apiserver', 0);
    await this.daemons.stop('kube-controller-manager', 0);
    await this.certificates.ensure(this.identities().filter(({ hosts }) => hosts), true);
  }

  /** A kubeconfig by which a component reaches this API server. */
  public async kubeconfigFor(identity: Identity): Promise<string> {
    await this.certificates.ensure([identity]);
    const file = this.folder.file('pki', `${identity.name}.kubeconfig`);
    this.certificates.writeKubeconfig(file, identity.name, this.url, this.folder.name);
    return file;
  }

  /** A server certificate for something that the API server will call. */
  public async serverCertificate(identity: Identity): Promise<{ certificate: string; key: string; authority: string }> {
    await this.certificates.ensure([identity]);
    return { certificate: this.certificates.certificate(identity.name), key: this.certificates.key(identity.name), authority: this.certificates.authority };
  }

  private identities(): Identity[] {
    const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', 'localhost'];
    return [
      { name: 'apiserver', user: 'kube-apiserver', groups: ['system:masters'], hosts: [this.state.address, '127.0.0.1', serviceNetwork.apiServer, ...names] },
      { name: 'admin', user: 'admin', groups: ['system:masters'] },
      { name: 'controller-manager', user: 'system:kube-controller-manager' },
      { name: 'scheduler', user: 'system:kube-scheduler' },
      // Only its key is used: it signs the tokens of service accounts.
      { name: 'service-accounts', user: 'service-accounts' },
    ];
  }

  private async writeFiles(): Promise<void> {
    await this.certificates.ensure(this.identities());
    const { folder, url } = this;
    this.certificates.writeKubeconfig(folder.kubeconfig, 'admin', url, `dbop-${folder.name}`);
    for (const name of ['controller-manager', 'scheduler']) this.certificates.writeKubeconfig(folder.file('pki', `${name}.kubeconfig`), name, url, folder.name);
    if (!existsSync(folder.file('audit-policy.json'))) writeFileSync(folder.file('audit-policy.json'), JSON.stringify(auditPolicy));
  }

  private etcd(): DaemonSpec {
    const { etcd, etcdPeer } = this.state.ports;
    const [client, peer] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${etcdPeer}`];
    return this.component('etcd', {
      'data-dir': this.folder.file('etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
      // A test cluster that loses its data with the machine's power has lost nothing.
      'unsafe-no-fsync': 'true',
      'log-level': 'warn',
    });
  }

  private apiServer(): DaemonSpec {
    const pki = (file: string): string => this.folder.file('pki', file);
    return this.component('kube-apiserver', {
      'etcd-servers': `http://127.0.0.1:${this.state.ports.etcd}`,
      'bind-address': this.state.address,
      ...(this.state.nodes > 0 ? { 'advertise-address': this.state.address } : { 'endpoint-reconciler-type': 'none' }),
      'secure-port': String(this.state.ports.api),
      'tls-cert-file': pki('apiserver.crt'),
      'tls-private-key-file': pki('apiserver.key'),
      'client-ca-file': pki('ca.crt'),
      'kubelet-client-certificate': pki('apiserver.crt'),
      'kubelet-client-key': pki('apiserver.key'),
      'kubelet-certificate-authority': pki('ca.crt'),
      'kubelet-preferred-address-types': 'InternalIP',
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': pki('service-accounts.crt'),
      'service-account-signing-key-file': pki('service-accounts.key'),
      'service-cluster-ip-range': serviceNetwork.range,
      'authorization-mode': 'Node,RBAC',
      'enable-admission-plugins': 'NodeRestriction',
      'allow-privileged': 'true',
      'audit-policy-file': this.folder.file('audit-policy.json'),
      'audit-log-path': this.folder.auditLog,
      // Five minutes by default; a test of a lost node waits for it.
      'default-not-ready-toleration-seconds': '10',
      'default-unreachable-toleration-seconds': '10',
      profiling: 'false',
    });
  }

  private controllerManager(): DaemonSpec {
    return this.component('kube-controller-manager', {
      kubeconfig: this.folder.file('pki', 'controller-manager.kubeconfig'),
      'root-ca-file': this.folder.file('pki', 'ca.crt'),
      'service-account-private-key-file': this.folder.file('pki', 'service-accounts.key'),
      'use-service-account-credentials': 'true',
      'leader-elect': 'false',
      'secure-port': '0',
      'node-monitor-period': '1s',
      'node-monitor-grace-period': '8s',
      ...clientRates,
    });
  }

  private scheduler(): DaemonSpec {
    return this.component('kube-scheduler', {
      kubeconfig: this.folder.file('pki', 'scheduler.kubeconfig'),
      'leader-elect': 'false',
      'secure-port': '0',
      ...clientRates,
    });
  }

  private component(name: string, flags: Record<string, string>): DaemonSpec {
    // A tenth of an API server's time goes into collecting garbage; a test cluster has memory to spare.
    return { name, program: this.kube, args: [name, ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)], env: { GOGC: '400', GOMEMLIMIT: '1GiB' } };
  }

  private async until(daemon: string, isReady: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + startTimeoutMs;
    for (;;) {
      if (await isReady().catch(() => false)) return;
      const gone = controlPlaneDaemons.slice(0, 2).find((name) => !this.daemons.isRunning(name));
      if (gone || Date.now() > deadline) {
        const name = gone ?? daemon;
        throw new Error(`${name} ${gone ? 'ended' : 'was not ready in time'}; its log ${this.daemons.logFile(name)} ends with:\n${this.daemons.lastWords(name)}`);
      }
      await sleep(50);
    }
  }
}

/** The defaults slow a controller to 20 requests a second, which is what a busy test run then waits for. */
const clientRates = { 'kube-api-qps': '500', 'kube-api-burst': '1000' };

/** Who did what to which object, once per request; bodies would cost the API server a third of its speed. */
const auditPolicy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules: [{ level: 'Metadata' }] };
