import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import type { Engine } from '../engines/engine';
import { engineOf } from '../engines/engine-of';
import { BackupJob } from './backup-job';
import { labelsOf, selectorOf } from './database-labels';
import type { DatabaseServerProps } from './database-server-props';
import { type ServerNames, serverNames } from './server-names';
import { serverPod } from './server-pod';
import { serverMemory, serverResources } from './server-resources';

export type { DatabaseServerProps, DataVolume, NetworkAccess, ServerBackup } from './database-server-props';

/**
 * A database server with everything that belongs to it: workload, Services, configuration, data claim, NetworkPolicy
 * and, with a schedule, its backups.
 *
 * Guarantees: a release of this package that renders the same props with other scripts or defaults restarts no pod;
 * no password is rendered.
 * Assumes: the two Secrets (`names.accountsSecret`, `names.applicationSecret`) are made by somebody else.
 */
export class DatabaseServer extends Construct {
  readonly names: ServerNames;
  readonly #props: DatabaseServerProps;
  readonly #engine: Engine;

  constructor(scope: Construct, id: string, props: DatabaseServerProps) {
    super(scope, id);
    this.#props = props;
    this.#engine = engineOf(props.engine);
    this.names = serverNames(props.name, props.names);
    this.check();
    this.configuration();
    this.claim();
    this.network();
    this.workload();
    this.schedule();
  }

  private check(): void {
    const { parameters = {}, workload = 'StatefulSet' } = this.#props;
    const problems = this.#engine.parameterProblems(parameters).map((problem) => `parameter ${problem}`);
    const expected = `data-${this.names.workload}-0`;
    if (workload === 'StatefulSet' && this.names.dataClaim !== expected) problems.push(`data claim '${this.names.dataClaim}' would not be found by the StatefulSet, which looks for '${expected}'; leave it out or use a Deployment`);
    if (problems.length > 0) throw new Error(`${this.node.path}: ${problems.join('; ')}`);
  }

  private configuration(): void {
    const { version, parameters, resources, tlsSecret } = this.#props;
    const files = this.#engine.configFiles({ version, parameters, memory: serverMemory(resources), tls: tlsSecret !== undefined });
    new ApiObject(this, 'service-account', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: this.metadata(this.names.serviceAccount), automountServiceAccountToken: false });
    new ApiObject(this, 'config', { apiVersion: 'v1', kind: 'ConfigMap', metadata: this.metadata(this.names.configMap), data: { ...this.#engine.scripts, ...files } });
  }

  /** Made before the pod that would otherwise make it, so that a restore can fill it first. */
  private claim(): void {
    new ApiObject(this, 'data', { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: this.metadata(this.names.dataClaim), spec: this.claimSpec() });
  }

  private network(): void {
    const { name, network = {} } = this.#props;
    const selector = selectorOf(name, 'server');
    const port = { name: this.#props.engine, port: this.#engine.port, targetPort: this.#props.engine };
    new ApiObject(this, 'service', { apiVersion: 'v1', kind: 'Service', metadata: this.metadata(this.names.service), spec: { selector, ports: [port] } });
    new ApiObject(this, 'headless-service', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: this.metadata(this.names.headlessService),
      // Replicas must find each other before they are ready.
      spec: { selector, clusterIP: 'None', publishNotReadyAddresses: true, ports: [port] },
    });
    const jobs = { podSelector: { matchLabels: selectorOf(name, 'backup') } };
    new ApiObject(this, 'network-policy', {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: this.metadata(this.names.networkPolicy),
      spec: {
        podSelector: { matchLabels: selector },
        policyTypes: ['Ingress'],
        ingress: [{ from: [jobs, ...(network.from ?? [{ podSelector: {} }])], ports: [{ protocol: 'TCP', port: this.#engine.port }] }],
      },
    });
  }

  private workload(): void {
    const { name, running = true, workload = 'StatefulSet', resources } = this.#props;
    const template = serverPod({ ...this.#props, resources: serverResources(resources), names: this.names, engine: this.#engine, claim: workload === 'Deployment' ? this.names.dataClaim : undefined });
    const common = { replicas: running ? 1 : 0, revisionHistoryLimit: 3, selector: { matchLabels: selectorOf(name, 'server') }, template };
    const metadata = this.metadata(this.names.workload);
    if (workload === 'Deployment') {
      // Two servers on one directory would destroy it.
      new ApiObject(this, 'workload', { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { ...common, strategy: { type: 'Recreate' } } });
      return;
    }
    new ApiObject(this, 'workload', {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata,
      spec: {
        ...common,
        serviceName: this.names.headlessService,
        // In order, a pod that can't start would keep the correction of its own template from being rolled out.
        podManagementPolicy: 'Parallel',
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
        volumeClaimTemplates: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec: this.claimSpec() }],
      },
    });
  }

  private schedule(): void {
    const { backup, name, namespace, engine, version, image, labels, scheduling, imagePullSecrets } = this.#props;
    if (backup === undefined) return;
    const { schedule, target, storeImage, verify, retention } = backup;
    new BackupJob(this, 'backup', { name: this.names.backupSchedule, database: name, namespace, engine, version, image, labels, scheduling, imagePullSecrets, names: this.names, schedule, target, storeImage, verify, retention });
  }

  private claimSpec(): object {
    const { size, storageClassName, volumeName } = this.#props.data;
    return {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: size } },
      ...(storageClassName !== undefined && { storageClassName }),
      ...(volumeName !== undefined && { volumeName }),
    };
  }

  private metadata(name: string): { name: string; namespace?: string; labels: Record<string, string> } {
    return { name, namespace: this.#props.namespace, labels: labelsOf(this.#props.name, 'server', this.#props.engine, this.#props.labels) };
  }
}
