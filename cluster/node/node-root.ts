import { type DebianRecipe, debianFolder } from '../debian';
import type { Progress } from '../progress';

/** What every node's file system holds besides Kubernetes itself, which is added when a node starts. */
export const nodeRecipe: DebianRecipe = {
  suite: 'trixie',
  packages: ['containerd', 'runc', 'iptables', 'containernetworking-plugins', 'iproute2', 'mount', 'procps', 'busybox-static'],
};

/** The file system that all nodes start from; nobody may write to it. */
export function nodeRoot(progress: Progress): Promise<string> {
  return debianFolder('node', nodeRecipe, progress);
}
