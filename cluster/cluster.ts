import { existsSync, rmSync } from 'node:fs';
import { Addons } from './addons';
import { ClusterFolder, type ClusterState } from './cluster-state';
import { ControlPlane, controlPlaneDaemons } from './control-plane';
import { Daemons } from './daemons';
import { ensureImages, sharedImages } from './images/images';
import { pauseImageName } from './images/small-images';
import { ImageStore } from './images/image-store';
import { buildOperatorImage } from './images/operator-image';
import { buildUserImage } from './images/user-image';
import { Lan } from './lan';
import { withLock } from './lock';
import { checkMachine } from './machine';
import { LanAddresses } from './network';
import { Cgroups } from './node/cgroups';
import { Node, type NodeSurroundings } from './node/node';
import { nodeRoot } from './node/node-root';
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
  /** Images that this cluster alone has: what its developer is working on. */
  public readonly ownImages: ImageStore;
  private readonly daemons: Daemons;
  private readonly lan: Lan;

  public constructor(
    public readonly name: string,
    private readonly progress: Progress,
  ) {
    this.folder = new ClusterFolder(name);
    this.ownImages = new ImageStore(this.folder.file('images'));
    this.daemons = new Daemons(this.folder.path);
    this.lan = new Lan(name);
  }

  /** @param nodes how many there shall be at least; nodes beyond that stay. */
  public up(nodes: number): Promise<void> {
    return this.locked(async () => {
      await checkMachine(nodes);
      const before = this.folder.read();
      const state = await this.stateFor(nodes, before);
      const controlPlane = await this.controlPlane(state);
      if (before && before.address !== state.address) await controlPlane.moved();
      this.folder.write(state);
      await this.progress.step('starting the control plane', '3 s', () => controlPlane.start());
      if (state.nodes > 0) await this.startNodes(state);
    });
  }

  public down(): Promise<void> {
    return this.locked(async () => {
      await this.daemons.stop(undefined, 0);
      await new Cgroups(this.name).remove();
      await this.lan.remove();
      rmSync(this.folder.path, { recursive: true, force: true });
    });
  }

  /** One of the cluster's nodes, by the name that kubectl shows. */
  public async node(name: string): Promise<Node> {
    const state = this.demandState();
    const number = Number(/^node([0-9]+)$/.exec(name)?.[1]);
    if (!(number >= 1 && number <= state.nodes)) throw new Error(`cluster '${this.name}' has no node '${name}'; it has ${nodeNames(state).join(', ') || 'none'}`);
    return new Node(number, await this.surroundings(state));
  }

  /** Starts a stopped node, or plugs a cut one in again. */
  public startNode(name: string): Promise<void> {
    return this.locked(async () => (await this.node(name)).start(this.demandState().nodes));
  }

  /**
   * Builds the operator's image from the sources as they are, and has every node fetch it, so that pods made from now
   * on run it; returns its name. Pods that run already keep the old one.
   */
  public async loadOperator(): Promise<string> {
    const state = this.demandState();
    const image = await buildOperatorImage(this.ownImages, this.progress);
    await this.pull(image, state);
    return image;
  }

  /** Builds the Dockerfile of a folder, and has every node fetch the image under that name. */
  public async loadImage(name: string, folder: string): Promise<void> {
    const state = this.demandState();
    await buildUserImage(name, folder, this.ownImages, this.progress);
    await this.pull(name, state);
  }

  /** Makes images that pods will ask for. */
  public ensureImages(names: readonly string[]): Promise<void> {
    return ensureImages(names, this.progress);
  }

  /** Kills the API server at once and brings it back after `downMs`. */
  public restartApiServer(downMs = 0): Promise<void> {
    return this.locked(async () => (await this.controlPlane(this.demandState())).restartApiServer(downMs));
  }

  public status(): ClusterStatus | undefined {
    const state = this.folder.read();
    if (!state) return undefined;
    const withNodes = ['kube-scheduler', 'registry', 'dns', 'volumes', ...nodeNames(state)];
    const expected = [...controlPlaneDaemons, ...(state.nodes > 0 ? withNodes : [])];
    const daemons = Object.fromEntries(expected.map((name) => [name, this.daemons.isRunning(name) ? ('running' as const) : ('stopped' as const)]));
    return { name: this.name, nodes: state.nodes, server: `https://${state.address}:${state.ports.api}`, daemons };
  }

  /** The path of the administrator's kubeconfig. @throws Error when the cluster was never up. */
  public kubeconfig(): string {
    if (!existsSync(this.folder.kubeconfig)) throw new Error(`there is no cluster '${this.name}'; start it with: npm run cluster -- up --name ${this.name}`);
    return this.folder.kubeconfig;
  }

  private async pull(image: string, state: ClusterState): Promise<void> {
    const nodes = (await Promise.all(nodeNames(state).map((name) => this.node(name)))).filter((node) => node.isRunning());
    await this.progress.step(`loading ${image}`, '3 s', async () => {
      await Promise.all(nodes.map((node) => node.pull(image)));
    });
  }

  private async controlPlane(state: ClusterState): Promise<ControlPlane> {
    const { kube, pki } = await programs(['kube', 'pki', 'kubectl'], this.progress);
    return new ControlPlane(this.folder, state, kube, pki);
  }

  /** What pods need first, then the nodes, all at once. */
  private async startNodes(state: ClusterState): Promise<void> {
    const controlPlane = await this.controlPlane(state);
    const addons = new Addons(this.folder, state, controlPlane);
    // First, because a node that waits for its file system looks like one that doesn't start.
    await nodeRoot(this.progress);
    await ensureImages([pauseImageName, 'busybox'], this.progress);
    await addons.start(await programs(['dns', 'volumes', 'registry'], this.progress), [this.ownImages.folder, sharedImages.folder]);
    const nodes = await Promise.all(nodeNames(state).map((name) => this.node(name)));
    await this.progress.step(`starting ${nodes.map(({ name }) => name).join(' and ')}`, '6 s', async () => {
      await Promise.all(nodes.map((node) => node.start(state.nodes)));
    });
  }

  private async surroundings(state: ClusterState): Promise<NodeSurroundings> {
    const controlPlane = await this.controlPlane(state);
    const { kube, policies } = await programs(['kube', 'policies'], this.progress);
    const registry = new Addons(this.folder, state, controlPlane).registryUrl;
    const addresses = LanAddresses.ofHost(state.address)!;
    return { folder: this.folder, controlPlane, lan: this.lan, addresses, registry, pauseImage: pauseImageName, kube, policies, progress: this.progress };
  }

  private async stateFor(nodes: number, before: ClusterState | undefined): Promise<ClusterState> {
    const wanted = Math.max(nodes, before?.nodes ?? 0);
    const address = wanted === 0 ? '127.0.0.1' : (await this.lan.ensure(before && LanAddresses.ofHost(before.address))).host;
    if (before) return { ...before, nodes: wanted, address };
    const [api, etcd, etcdPeer, dns, registry] = await freePorts(5, address);
    return { name: this.name, nodes: wanted, address, ports: { api: api!, etcd: etcd!, etcdPeer: etcdPeer!, dns: dns!, registry: registry! } };
  }

  private demandState(): ClusterState {
    const state = this.folder.read();
    if (!state) throw new Error(`there is no cluster '${this.name}'; start it with: npm run cluster -- up --name ${this.name}`);
    return state;
  }

  private locked<T>(work: () => Promise<T>): Promise<T> {
    return withLock(this.folder.path, work, (holder) => this.progress.note(`… process ${holder} is working on cluster '${this.name}'; waiting for it`));
  }
}

function nodeNames(state: ClusterState): string[] {
  return Array.from({ length: state.nodes }, (_, index) => `node${index + 1}`);
}
