import { debianFolder } from '../debian';
import type { Progress } from '../progress';

/** The file system that all nodes start from; nobody may write to it. Kubernetes itself is added when a node starts. */
export function nodeRoot(progress: Progress): Promise<string> {
  return debianFolder(
    'node',
    { suite: 'trixie', packages: ['containerd', 'runc', 'iptables', 'containernetworking-plugins', 'iproute2', 'mount', 'procps', 'busybox-static'] },
    progress,
  );
}
