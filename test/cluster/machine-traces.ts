import { existsSync, readFileSync, readdirSync } from 'node:fs';
import type { Cluster } from '../../cluster/cluster';
import { run } from '../../cluster/command';
import { Daemons } from '../../cluster/daemons';
import { LanAddresses } from '../../cluster/network';

/**
 * Everything on this machine that belongs to one cluster: processes, mounts, control groups, network namespaces,
 * devices, routes and its folder. Of a cluster that is down, nothing. Made before `down`, because its network is
 * known by its state.
 */
export class MachineTraces {
  private readonly lan: LanAddresses | undefined;

  public constructor(private readonly cluster: Cluster) {
    this.lan = LanAddresses.ofHost(cluster.folder.read()?.address ?? '');
  }

  public async find(): Promise<string[]> {
    const { name, folder } = this.cluster;
    return [
      ...new Daemons(folder.path).processes().map((pid) => `process ${pid}`),
      ...readFileSync('/proc/mounts', 'utf8').split('\n').filter((line) => line.includes(folder.path) || line.includes(`dbop-${name}`)),
      ...names('/run/netns').filter((entry) => entry.startsWith(`dbop-${name}`)),
      ...names('/sys/fs/cgroup').flatMap((hierarchy) => [hierarchy, `${hierarchy}/dbop-${name}`].filter((path) => path.endsWith(`dbop-${name}`) && existsSync(`/sys/fs/cgroup/${path}`))),
      ...(await this.network()),
      ...(existsSync(folder.path) ? [folder.path] : []),
    ];
  }

  private async network(): Promise<string[]> {
    const { lan } = this;
    if (!lan) return [];
    const devices = (await run('ip', ['-brief', 'link'])).split('\n').filter((line) => line.startsWith(`${lan.device}@`));
    const routes = (await run('ip', ['route'])).split('\n').filter((line) => line.includes(lan.range));
    return [...devices, ...routes];
  }
}

function names(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
