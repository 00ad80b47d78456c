import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clustersFolder } from './folders';

/** What must be remembered of a cluster between commands; everything else is read from the machine itself. */
export interface ClusterState {
  readonly name: string;
  readonly nodes: number;
  /** Where the API server listens: the loopback address, or with nodes the machine's address in their network. */
  readonly address: string;
  readonly ports: { readonly api: number; readonly etcd: number; readonly etcdPeer: number; readonly dns: number; readonly registry: number };
}

/** A cluster's folder: its state, keys, data, logs and volumes. */
export class ClusterFolder {
  public readonly path: string;

  public constructor(public readonly name: string) {
    if (!/^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$/.test(name)) {
      throw new Error(`'${name}' is no cluster name: use at most 20 lower-case letters, digits and dashes`);
    }
    this.path = clustersFolder(name);
  }

  /** The clusters that have a folder on this machine, running or not. */
  public static names(): string[] {
    if (!existsSync(clustersFolder())) return [];
    return readdirSync(clustersFolder(), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  }

  public file(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  /** Creates the sub-folder too. */
  public subfolder(...parts: string[]): string {
    mkdirSync(this.file(...parts), { recursive: true });
    return this.file(...parts);
  }

  public get kubeconfig(): string {
    return this.file('kubeconfig');
  }

  public get auditLog(): string {
    return this.file('audit.log');
  }

  public read(): ClusterState | undefined {
    try {
      return JSON.parse(readFileSync(this.file('cluster.json'), 'utf8')) as ClusterState;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new Error(`${this.file('cluster.json')} can't be read; 'down' removes the cluster`, { cause: error });
    }
  }

  public write(state: ClusterState): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    // By rename: a crash leaves the old state or the new one, never half of one.
    writeFileSync(this.file('cluster.json.new'), `${JSON.stringify(state, undefined, 2)}\n`);
    renameSync(this.file('cluster.json.new'), this.file('cluster.json'));
  }
}
