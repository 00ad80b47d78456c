import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { podNetwork, serviceNetwork } from '../network';

/** What a node's configuration is made from. */
export interface NodeFacts {
  readonly name: string;
  readonly number: number;
  readonly address: string;
  readonly cgroupRoot: string;
  /** Where the images come from. */
  readonly registry: string;
  readonly pauseImage: string;
}

/** Writes the configuration of a node's daemons; certificates and kubeconfigs lie beside it. */
export function writeNodeFiles(folder: string, facts: NodeFacts): void {
  mkdirSync(folder, { recursive: true });
  const files: Record<string, string> = {
    'kubelet.json': json(kubelet(facts)),
    'kube-proxy.json': json(kubeProxy(facts)),
    'cni.conflist': json(cni(facts)),
    'containerd.toml': containerd(facts),
    'hosts.toml': `server = "${facts.registry}"\n\n[host."${facts.registry}"]\n  capabilities = ["pull", "resolve"]\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

function kubelet(facts: NodeFacts): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: facts.address,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: '/etc/node/ca.crt' } },
    authorization: { mode: 'Webhook' },
    tlsCertFile: '/etc/node/kubelet.crt',
    tlsPrivateKeyFile: '/etc/node/kubelet.key',
    clusterDNS: [serviceNetwork.dns],
    clusterDomain: 'cluster.local',
    // Nothing of the machine's own name resolution: names outside the cluster don't resolve.
    resolvConf: '',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: facts.cgroupRoot,
    failCgroupV1: false,
    failSwapOn: false,
    // A developer's disk is often fuller than a node's should be.
    evictionHard: { 'memory.available': '1Mi', 'nodefs.available': '0%', 'nodefs.inodesFree': '0%', 'imagefs.available': '0%', 'imagefs.inodesFree': '0%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    // Tests wait for what these delay: a lost node is noticed after 8 s instead of 40.
    nodeStatusUpdateFrequency: '2s',
    nodeStatusReportFrequency: '10s',
    nodeLeaseDurationSeconds: 8,
    serializeImagePulls: false,
    registryPullQPS: 0,
    eventRecordQPS: 0,
    kubeAPIQPS: 100,
    kubeAPIBurst: 200,
  };
}

function kubeProxy(facts: NodeFacts): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    hostnameOverride: facts.name,
    clusterCIDR: podNetwork.range,
    clientConnection: { kubeconfig: '/etc/node/kube-proxy.kubeconfig' },
    // Limits of the whole machine's kernel: not ours to set.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    iptables: { minSyncPeriod: '100ms' },
  };
}

function cni(facts: NodeFacts): object {
  const ipam = { type: 'host-local', ranges: [[{ subnet: podNetwork.ofNode(facts.number) }]], dataDir: '/run/cni-addresses' };
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      { type: 'bridge', bridge: 'pods', isDefaultGateway: true, hairpinMode: true, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

function containerd(facts: NodeFacts): string {
  return `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${facts.pauseImage}"
  # Some machines (containers, small virtual machines) may not lower the score.
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "overlayfs"
  default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "/etc/cni/net.d"
[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "/etc/containerd/certs.d"
`;
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
