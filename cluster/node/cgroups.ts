import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const mountPoint = '/sys/fs/cgroup';

/**
 * The control groups of a cluster: one tree per cluster, a branch per node, under which the kubelet makes its own.
 * Works with one hierarchy (v2) and with one for each controller (v1).
 */
export class Cgroups {
  private readonly tree: string;

  public constructor(cluster: string) {
    this.tree = `dbop-${cluster}`;
  }

  /** What the kubelet of a node calls its root. */
  public rootOf(node: string): string {
    return `/${this.tree}/${node}`;
  }

  /** Makes a node's branch in every hierarchy. */
  public ensure(node: string): void {
    for (const hierarchy of hierarchies().filter((one) => !isUnusedUnified(one))) {
      let folder = hierarchy;
      for (const name of [this.tree, node]) {
        const parent = folder;
        folder = join(parent, name);
        if (existsSync(join(parent, 'cgroup.subtree_control'))) delegateControllers(parent);
        mkdirSync(folder, { recursive: true });
        // A new v1 cpuset has no processors and no memory, and nothing can run in it.
        for (const file of ['cpuset.cpus', 'cpuset.mems']) inheritCpuset(parent, folder, file);
      }
    }
  }

  /** Removes a node's branch, or the whole tree. Their processes must have been ended; the kernel may need a moment to notice. */
  public async remove(node?: string): Promise<void> {
    for (const hierarchy of hierarchies()) {
      const folder = join(hierarchy, this.tree, ...(node === undefined ? [] : [node]));
      for (let attempt = 1; existsSync(folder); attempt += 1) {
        if (tryRemove(folder)) break;
        if (attempt === 100) throw new Error(`${folder} is still in use; its processes are listed in cgroup.procs below it`);
        await sleep(50);
      }
    }
  }
}

/** The folders in which trees begin. */
function hierarchies(): string[] {
  if (existsSync(join(mountPoint, 'cgroup.controllers'))) return [mountPoint];
  return readdirSync(mountPoint, { withFileTypes: true })
    // Links such as cpu → cpu,cpuacct name a hierarchy twice.
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(mountPoint, entry.name));
}

/** Beside v1 hierarchies the v2 one has no controllers and needs no branch; the container runtime still leaves folders there. */
function isUnusedUnified(hierarchy: string): boolean {
  return hierarchy === join(mountPoint, 'unified');
}

function delegateControllers(folder: string): void {
  const controllers = readFileSync(join(folder, 'cgroup.controllers'), 'utf8').trim().split(' ').filter(Boolean);
  for (const controller of controllers) {
    try {
      writeFileSync(join(folder, 'cgroup.subtree_control'), `+${controller}`);
    } catch {
      // Some controllers can't be delegated on some machines; the kubelet says so if it needs one.
    }
  }
}

function inheritCpuset(parent: string, folder: string, file: string): void {
  if (existsSync(join(parent, 'cgroup.subtree_control')) || !existsSync(join(folder, file))) return;
  if (readFileSync(join(folder, file), 'utf8').trim() === '') writeFileSync(join(folder, file), readFileSync(join(parent, file)));
}

/** Children first; false when one is still in use. */
function tryRemove(folder: string): boolean {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !tryRemove(join(folder, entry.name))) return false;
    }
    rmdirSync(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    if (code === 'EBUSY') return false;
    throw error;
  }
}
