import { existsSync, readdirSync } from 'node:fs';
import { run, tryRun } from './command';
import { LanAddresses, podNetwork, serviceNetwork } from './network';

/** Where `ip netns` keeps the names of network namespaces. */
const namespacesFolder = '/run/netns';

/**
 * The network of a cluster: a switch in a network namespace of its own, and each node in another one, plugged into it
 * with one cable; one more cable leads to this machine.
 *
 * Guarantees: no namespace has a default route, so no packet of a pod can leave the machine. All devices, routes and
 * packet filter rules of the cluster are inside the namespaces and vanish with them; the machine's own network sees
 * one device, and its packet filter is never touched.
 */
export class Lan {
  private readonly switchName: string;

  public constructor(cluster: string) {
    this.switchName = `dbop-${cluster}`;
  }

  /** Makes the switch and the cable to this machine, and returns the addresses; repairs what is missing of an existing one. */
  public async ensure(existing: LanAddresses | undefined): Promise<LanAddresses> {
    if (!this.exists(this.switchName)) {
      await run('ip', ['netns', 'add', this.switchName]);
      await this.inSwitch(['link', 'add', 'switch', 'type', 'bridge']);
      await this.inSwitch(['link', 'set', 'switch', 'up']);
    }
    if (existing && (await tryRun('ip', ['link', 'show', existing.device])).code === 0) return existing;
    const addresses = await this.claim(existing);
    await this.plugIn('host');
    await run('ip', ['addr', 'replace', `${addresses.host}/24`, 'dev', addresses.device]);
    await run('ip', ['link', 'set', addresses.device, 'up']);
    return addresses;
  }

  /** Makes a node's namespace, its cable and its routes. */
  public async ensureNode(addresses: LanAddresses, node: number, allNodes: number): Promise<void> {
    const name = this.namespaceOf(node);
    if (!this.exists(name)) {
      await run('ip', ['netns', 'add', name]);
      await run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
      await run('ip', ['-n', name, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', portOf(node), 'netns', this.switchName]);
      await this.plugIn(portOf(node));
    }
    await run('ip', ['-n', name, 'addr', 'replace', `${addresses.node(node)}/24`, 'dev', 'eth0']);
    await run('ip', ['-n', name, 'link', 'set', 'eth0', 'up']);
    // Service addresses are rewritten on their way out; a route must exist for there to be a way out.
    await run('ip', ['-n', name, 'route', 'replace', serviceNetwork.range, 'dev', 'eth0']);
    for (let other = 1; other <= allNodes; other += 1) {
      if (other !== node) await run('ip', ['-n', name, 'route', 'replace', podNetwork.ofNode(other), 'via', addresses.node(other)]);
    }
  }

  /** Pulls a node's cable, or plugs it in again. */
  public async setCable(node: number, isPlugged: boolean): Promise<void> {
    await this.inSwitch(['link', 'set', portOf(node), isPlugged ? 'up' : 'down']);
  }

  public async isPlugged(node: number): Promise<boolean> {
    const { code, stdout } = await tryRun('ip', ['-n', this.switchName, 'link', 'show', portOf(node)]);
    return code === 0 && /[<,]UP[,>]/.test(stdout);
  }

  /** The file by which a program enters a node's network. */
  public namespaceFile(node: number): string {
    return `${namespacesFolder}/${this.namespaceOf(node)}`;
  }

  /** Removes everything; the devices vanish with their namespaces. */
  public async remove(): Promise<void> {
    if (!existsSync(namespacesFolder)) return;
    const ours = new RegExp(`^${this.switchName}(-node[0-9]+)?$`);
    for (const name of readdirSync(namespacesFolder)) if (ours.test(name)) await run('ip', ['netns', 'delete', name]);
    if (readdirSync(namespacesFolder).length > 0) return;
    // 'ip netns' makes this folder a mount with its first namespace, and leaves it when the last one goes.
    await tryRun('umount', [namespacesFolder]);
    await tryRun('rmdir', [namespacesFolder]);
  }

  /** Creating the device is the claim: of two clusters that start at once only one can. */
  private async claim(wanted: LanAddresses | undefined): Promise<LanAddresses> {
    const routes = await run('ip', ['-4', 'route', 'show']);
    for (let index = wanted?.index ?? 0; index < LanAddresses.maximum; index += 1) {
      const addresses = new LanAddresses(index);
      if (!wanted && routes.includes(addresses.range)) continue;
      const made = await tryRun('ip', ['link', 'add', addresses.device, 'type', 'veth', 'peer', 'name', 'host', 'netns', this.switchName]);
      if (made.code === 0) return addresses;
      if (!made.stderr.includes('File exists')) throw new Error(`cannot make the network device ${addresses.device}: ${made.stderr.trim()}`);
    }
    throw new Error(`all ${LanAddresses.maximum} networks for clusters are taken; 'npm run cluster -- down --all' frees them`);
  }

  private async plugIn(port: string): Promise<void> {
    await this.inSwitch(['link', 'set', port, 'master', 'switch', 'up']);
  }

  private inSwitch(args: string[]): Promise<string> {
    return run('ip', ['-n', this.switchName, ...args]);
  }

  private namespaceOf(node: number): string {
    return `${this.switchName}-node${node}`;
  }

  private exists(name: string): boolean {
    return existsSync(`${namespacesFolder}/${name}`);
  }
}

function portOf(node: number): string {
  return `node${node}`;
}
