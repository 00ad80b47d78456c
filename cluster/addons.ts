import { writeFileSync } from 'node:fs';
import { ApiServer } from './api-server';
import type { ClusterFolder, ClusterState } from './cluster-state';
import type { ControlPlane } from './control-plane';
import { Daemons } from './daemons';
import { serviceNetwork } from './network';

export interface AddonPrograms {
  readonly dns: string;
  readonly volumes: string;
  readonly registry: string;
}

/** The program that makes volumes; its name is in each storage class. */
const provisioner = 'dbop.dev/test-volumes';

/**
 * What pods take for granted: names, storage and images. All three are processes of this machine rather than pods,
 * which makes them quick to start and independent of the nodes that tests stop.
 */
export class Addons {
  private readonly daemons: Daemons;

  public constructor(
    private readonly folder: ClusterFolder,
    private readonly state: ClusterState,
    private readonly controlPlane: ControlPlane,
  ) {
    this.daemons = new Daemons(folder.path);
  }

  /** Where nodes fetch their images. */
  public get registryUrl(): string {
    return `http://${this.state.address}:${this.state.ports.registry}`;
  }

  public async start(programs: AddonPrograms, imageStores: readonly string[]): Promise<void> {
    const listen = `${this.state.address}:${this.state.ports.registry}`;
    this.daemons.start({ name: 'registry', program: programs.registry, args: ['-listen', listen, ...imageStores.flatMap((store) => ['-store', store])] });
    await this.startDns(programs.dns);
    await this.startVolumes(programs.volumes);
    await this.applyObjects();
  }

  private async startDns(program: string): Promise<void> {
    const kubeconfig = await this.controlPlane.kubeconfigFor({ name: 'dns', user: 'system:dns', groups: ['system:masters'] });
    const corefile = this.folder.file('Corefile');
    writeFileSync(corefile, dnsConfig(this.state, kubeconfig, this.folder.name));
    this.daemons.start({ name: 'dns', program, args: ['-conf', corefile, '-quiet'] });
  }

  private async startVolumes(program: string): Promise<void> {
    const kubeconfig = await this.controlPlane.kubeconfigFor({ name: 'volumes', user: 'system:volumes', groups: ['system:masters'] });
    this.daemons.start({ name: 'volumes', program, args: ['-kubeconfig', kubeconfig, '-folder', this.folder.subfolder('volumes'), '-node-folder', '/volumes'] });
  }

  private async applyObjects(): Promise<void> {
    const api = ApiServer.fromKubeconfig(this.folder.kubeconfig);
    try {
      for (const [path, object] of this.objects()) {
        await api.demand('PATCH', `${path}?fieldManager=test-cluster&force=true`, object, 'application/apply-patch+yaml');
      }
    } finally {
      api.close();
    }
  }

  private objects(): [string, object][] {
    const { address, ports } = this.state;
    const port = (protocol: 'UDP' | 'TCP'): object => ({ name: `dns-${protocol.toLowerCase()}`, protocol, port: 53 });
    const target = (protocol: 'UDP' | 'TCP'): object => ({ name: `dns-${protocol.toLowerCase()}`, protocol, port: ports.dns });
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'kube-dns' }, spec: { clusterIP: serviceNetwork.dns, ports: [port('UDP'), port('TCP')] } };
    const slice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'kube-dns', labels: { 'kubernetes.io/service-name': 'kube-dns' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address] }],
      ports: [target('UDP'), target('TCP')],
    };
    const proxyRights = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'kube-proxy' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:kube-proxy' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-proxier' },
    };
    return [
      ['/api/v1/namespaces/kube-system/services/kube-dns', service],
      ['/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices/kube-dns', slice],
      ['/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/kube-proxy', proxyRights],
      ['/apis/storage.k8s.io/v1/storageclasses/standard', storageClass('standard', { isDefault: true, expands: true, waits: true })],
      ['/apis/storage.k8s.io/v1/storageclasses/fixed', storageClass('fixed', { isDefault: false, expands: false, waits: false })],
    ];
  }
}

/** Answers for the cluster's own names; every other name doesn't exist, and nobody outside is asked. */
function dnsConfig(state: ClusterState, kubeconfig: string, context: string): string {
  return `.:${state.ports.dns} {
  bind ${state.address}
  errors
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfig} ${context}
    pods insecure
    ttl 2
  }
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`;
}

function storageClass(name: string, is: { isDefault: boolean; expands: boolean; waits: boolean }): object {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': String(is.isDefault) } },
    provisioner,
    reclaimPolicy: 'Delete',
    allowVolumeExpansion: is.expands,
    volumeBindingMode: is.waits ? 'WaitForFirstConsumer' : 'Immediate',
  };
}
