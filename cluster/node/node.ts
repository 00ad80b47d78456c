import { copyFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServer } from '../api-server';
import type { ClusterFolder } from '../cluster-state';
import { type CommandOptions, run } from '../command';
import type { ControlPlane } from '../control-plane';
import { Daemons } from '../daemons';
import { sourceFolder } from '../folders';
import { fullName } from '../images/image-store';
import type { Lan } from '../lan';
import { type LanAddresses, podNetwork } from '../network';
import type { Progress } from '../progress';
import { Cgroups } from './cgroups';
import { writeNodeFiles } from './node-files';
import { nodeRoot } from './node-root';

/** How long a node may take to be Ready; on an idle machine it takes 4 s. */
const readyTimeoutMs = 90_000;

/** What a node shares with the rest of its cluster. */
export interface NodeSurroundings {
  readonly folder: ClusterFolder;
  readonly controlPlane: ControlPlane;
  readonly lan: Lan;
  readonly addresses: LanAddresses;
  readonly registry: string;
  readonly pauseImage: string;
  readonly kube: string;
  readonly policies: string;
  readonly progress: Progress;
}

/** One node: containerd, kubelet, kube-proxy and what enforces NetworkPolicies, in namespaces of their own, with a file system and an address of their own. */
export class Node {
  public readonly name: string;
  private readonly daemons: Daemons;
  private readonly cgroups: Cgroups;

  public constructor(
    private readonly number: number,
    private readonly around: NodeSurroundings,
  ) {
    this.name = `node${number}`;
    this.daemons = new Daemons(around.folder.path);
    this.cgroups = new Cgroups(around.folder.name);
  }

  /** Starts the node unless it runs, plugs its cable in, and returns when it is Ready. */
  public async start(allNodes: number): Promise<void> {
    const { lan, addresses } = this.around;
    await lan.ensureNode(addresses, this.number, allNodes);
    await lan.setCable(this.number, true);
    if (!this.isRunning()) await this.boot();
    await this.untilReady();
  }

  /** Ends the node and its pods at once, as a power failure would. Its disk stays. */
  public async stop(): Promise<void> {
    await this.daemons.stop(this.name, 0);
    await this.cgroups.remove(this.name);
  }

  /** Takes the node off the network; everything on it goes on running. */
  public async cut(): Promise<void> {
    await this.around.lan.setCable(this.number, false);
  }

  public isRunning(): boolean {
    return this.daemons.isRunning(this.name);
  }

  /** Runs a program of the node on the node. */
  public run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
    return run('nsenter', ['--target', String(this.firstProcess()), '--mount', '--pid', '--net', '--root', '--wdns=/', program, ...args], options);
  }

  /** Fetches an image, also when the node has an older one of that name. */
  public async pull(image: string): Promise<void> {
    await this.run('ctr', ['--namespace', 'k8s.io', 'images', 'pull', '--hosts-dir', '/etc/containerd/certs.d', fullName(image)]);
  }

  /** The one that the node lives and dies with: of the others, any may end before it is entered. */
  public firstProcess(): number {
    const first = this.daemons.processes(this.name).find(isFirst);
    if (first === undefined) throw new Error(`${this.name} is not running; start it with: npm run cluster -- node start ${this.name}`);
    return first;
  }

  private async boot(): Promise<void> {
    const { folder, lan, addresses, kube, policies, progress } = this.around;
    const root = await nodeRoot(progress);
    await this.writeConfig();
    this.cgroups.ensure(this.name);
    this.daemons.start({
      name: this.name,
      program: 'nsenter',
      args: [`--net=${lan.namespaceFile(this.number)}`, 'unshare', '--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child', '/bin/sh', sourceFolder('node', 'init.sh')],
      env: {
        NODE_NAME: this.name,
        NODE_ADDRESS: addresses.node(this.number),
        NODE_LABELS: `topology.kubernetes.io/zone=zone${this.number}`,
        NODE_FOLDER: folder.subfolder(this.name),
        NODE_ROOT: root,
        NODE_VOLUMES: folder.subfolder('volumes'),
        NODE_KUBE: kube,
        NODE_POLICIES: policies,
        NODE_POD_RANGE: podNetwork.ofNode(this.number),
        ALL_PODS_RANGE: podNetwork.range,
        LAN_RANGE: addresses.range,
      },
    });
  }

  private async writeConfig(): Promise<void> {
    const { folder, controlPlane, addresses, registry, pauseImage } = this.around;
    const config = (file: string): string => folder.file(this.name, 'config', file);
    const address = addresses.node(this.number);
    folder.subfolder(this.name, 'config');
    writeNodeFiles(config('.'), { name: this.name, number: this.number, address, cgroupRoot: this.cgroups.rootOf(this.name), registry, pauseImage });
    const serving = await controlPlane.serverCertificate({ name: `kubelet-${address}`, user: this.name, hosts: [address, this.name] });
    copyFileSync(serving.certificate, config('kubelet.crt'));
    copyFileSync(serving.key, config('kubelet.key'));
    copyFileSync(serving.authority, config('ca.crt'));
    const asNode = await controlPlane.kubeconfigFor({ name: this.name, user: `system:node:${this.name}`, groups: ['system:nodes'] });
    copyFileSync(asNode, config('kubelet.kubeconfig'));
    copyFileSync(await controlPlane.kubeconfigFor({ name: 'kube-proxy', user: 'system:kube-proxy' }), config('kube-proxy.kubeconfig'));
    copyFileSync(await controlPlane.kubeconfigFor({ name: 'policies', user: 'system:policies', groups: ['system:masters'] }), config('policies.kubeconfig'));
  }

  private async untilReady(): Promise<void> {
    const api = ApiServer.fromKubeconfig(this.around.folder.kubeconfig);
    const deadline = Date.now() + readyTimeoutMs;
    try {
      while (!(await this.isReady(api))) {
        if (!this.isRunning()) throw new Error(`${this.name} ended; it said:\n${this.daemons.lastWords(this.name)}`);
        if (Date.now() > deadline) throw new Error(`${this.name} was not Ready in ${readyTimeoutMs / 1000} s; its logs are in ${this.around.folder.file(this.name, 'logs')}, the kubelet's ends with:\n${this.lastWords('kubelet')}`);
        await sleep(100);
      }
    } finally {
      api.close();
    }
  }

  /** Ready, and said so by this boot's kubelet: right after a crash the API server still believes the last one. */
  private async isReady(api: ApiServer): Promise<boolean> {
    type Condition = { type: string; status: string };
    const { status, body } = await api.request<{ spec?: { taints?: { key: string }[] }; status: { conditions?: Condition[] } }>('GET', `/api/v1/nodes/${this.name}`);
    const isReady = status === 200 && body.status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
    return Boolean(isReady) && !body.spec?.taints?.some(({ key }) => key.startsWith('node.kubernetes.io/'));
  }

  private lastWords(daemon: string): string {
    try {
      return readFileSync(this.around.folder.file(this.name, 'logs', `${daemon}.log`), 'utf8').trimEnd().split('\n').slice(-12).join('\n');
    } catch {
      return '(it printed nothing)';
    }
  }
}

/** Whether a process is number 1 of a namespace right below this one's; those of containers are another level down. */
function isFirst(pid: number): boolean {
  try {
    const numbers = /^NSpid:\s+(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.split(/\s+/) ?? [];
    return numbers.length === 2 && numbers[1] === '1';
  } catch {
    return false;
  }
}
