import { existsSync, rmSync } from 'node:fs';
import { ClusterFolder, type ClusterState } from './clusterState';
import { ControlPlane, controlPlaneDaemons } from './controlPlane';
import { Daemons } from './daemons';
import { clustersFolder } from './folders';
import { withLock } from './lock';
import { checkMachine } from './machine';
import { freePorts } from './ports';
import { programs } from './programs';
import type { Progress } from './progress';

/** What runs of a cluster right now. */
export interface ClusterStatus {
  readonly name: string;
  readonly nodes: number;
  readonly server: string | undefined;
  readonly daemons: Readonly<Record<string, 'running' | 'stopped'>>;
}

/**
 * A real Kubernetes cluster on this machine.
 *
 * Guarantees: `up` brings a missing, stopped or half-dead cluster to the wanted size and changes nothing on a healthy
 * one; `down` leaves nothing behind, whatever state the cluster is in; clusters of different names never meet.
 */
export class Cluster {
  public readonly folder: ClusterFolder;
  private readonly daemons: Daemons;

  public constructor(
    public readonly name: string,
    private readonly progress: Progress,
  ) {
    this.folder = new ClusterFolder(name);
    this.daemons = new Daemons(this.folder.path);
  }

  public up(nodes: number): Promise<void> {
    return this.locked(async () => {
      await checkMachine(nodes);
      const before = this.folder.read();
      const state = await this.stateFor(nodes, before);
      const controlPlane = await this.controlPlane(state);
      if (before && before.address !== state.address) await controlPlane.moved();
      this.folder.write(state);
      await this.progress.step('starting the control plane', '3 s', () => controlPlane.start());
    });
  }

  public down(): Promise<void> {
    return this.locked(async () => {
      await this.daemons.stop(undefined, 0);
      rmSync(this.folder.path, { recursive: true, force: true });
    });
  }

  /** Kills the API server at once and brings it back after `downMs`. */
  public restartApiServer(downMs = 0): Promise<void> {
    return this.locked(async () => (await this.controlPlane(this.demandState())).restartApiServer(downMs));
  }

  public status(): ClusterStatus | undefined {
    const state = this.folder.read();
    if (!state) return undefined;
    const expected = controlPlaneDaemons.filter((name) => name !== 'kube-scheduler' || state.nodes > 0);
    const daemons = Object.fromEntries(expected.map((name) => [name, this.daemons.isRunning(name) ? ('running' as const) : ('stopped' as const)]));
    return { name: this.name, nodes: state.nodes, server: `https://${state.address}:${state.ports.api}`, daemons };
  }

  /** The path of the administrator's kubeconfig. @throws Error when the cluster was never up. */
  public kubeconfig(): string {
    if (!existsSync(this.folder.kubeconfig)) throw new Error(`there is no cluster '${this.name}'; start it with: npm run cluster -- up --name ${this.name}`);
    return this.folder.kubeconfig;
  }

  private async controlPlane(state: ClusterState): Promise<ControlPlane> {
    const { kube, pki } = await programs(['kube', 'pki', 'kubectl'], this.progress);
    return new ControlPlane(this.folder, state, kube, pki);
  }

  private async stateFor(nodes: number, before: ClusterState | undefined): Promise<ClusterState> {
    if (before && before.nodes > nodes) return before;
    if (before) return { ...before, nodes };
    const [api, etcd, etcdPeer, dns] = await freePorts(4);
    return { name: this.name, nodes, address: '127.0.0.1', ports: { api: api!, etcd: etcd!, etcdPeer: etcdPeer!, dns: dns! } };
  }

  private demandState(): ClusterState {
    const state = this.folder.read();
    if (!state) throw new Error(`there is no cluster '${this.name}'; start it with: npm run cluster -- up --name ${this.name}`);
    return state;
  }

  /** The lock lies beside the cluster's folder, because `down` deletes that folder. */
  private locked<T>(work: () => Promise<T>): Promise<T> {
    return withLock(clustersFolder(`${this.name}.lock`), work, (holder) => this.progress.note(`… process ${holder} is working on cluster '${this.name}'; waiting for it`));
  }
}
