import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { defaultGroup } from '../api/database';
import type { ControllerDeclaration } from '../kind/access';
import { packageVersion } from '../kind/package-version';
import { databaseControllers } from './database-controllers';
import { DeletionProtection } from './deletion-protection';
import { OperatorAccess } from './operator-access';
import type { Resources } from './pod-props';

/** Props of `OperatorDeployment`. */
export interface OperatorDeploymentProps {
  /**
   * Image that holds `dbop`. Backup Jobs use it too.
   * @default - cdk8s-database-operator, tagged with the version of this package
   */
  readonly image?: string;
  /** @default - what the image itself starts */
  readonly command?: readonly string[];
  /** @default - `run`; with controllers of your own, what the image itself starts */
  readonly args?: readonly string[];
  /**
   * API group of the databases; see `DatabaseCrd.group`.
   * @default 'dbop.dev'
   */
  readonly group?: string;
  /**
   * What the operator's controllers touch; its rights follow from it.
   * @default - the controllers of this package
   */
  readonly controllers?: readonly ControllerDeclaration[];
  /**
   * Namespaces that the operator is limited to. It then gets Roles in these, instead of a ClusterRole.
   * @default - all namespaces
   */
  readonly watchNamespaces?: readonly string[];
  /**
   * Name of the Deployment, its account, its roles and its Lease.
   * @default 'dbop'
   */
  readonly name?: string;
  /** @default 'dbop-system' */
  readonly namespace?: string;
  /**
   * Whether to make that namespace, with the Pod Security level "restricted".
   * @default true
   */
  readonly createNamespace?: boolean;
  /**
   * How many processes; one leads and the others take over when it goes.
   * @default 2
   */
  readonly replicas?: number;
  /** @default - requests 50m and 96Mi, limits 1 CPU and 256Mi */
  readonly resources?: Resources;
  /** @default - none */
  readonly imagePullSecrets?: readonly string[];
  /**
   * Whether to install the policy that refuses to delete protected databases. An operator of other kinds has no use for it.
   * @default - true with the controllers of this package
   */
  readonly deletionProtection?: boolean;
}

/** The port of /metrics, /healthz and /readyz. */
const port = 8080;

/** An operator in the cluster: namespace, account, rights, Deployment, metrics Service and the deletion policy. */
export class OperatorDeployment extends Construct {
  readonly name: string;
  readonly namespace: string;

  readonly #props: OperatorDeploymentProps;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #selector: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: OperatorDeploymentProps = {}) {
    super(scope, id);
    this.#props = props;
    this.name = props.name ?? 'dbop';
    this.namespace = props.namespace ?? 'dbop-system';
    this.#selector = { 'app.kubernetes.io/name': this.name, 'app.kubernetes.io/component': 'operator' };
    this.#labels = { ...this.#selector, 'app.kubernetes.io/part-of': 'cdk8s-database-operator' };
    this.check();

    if (props.createNamespace ?? true) new ApiObject(this, 'namespace', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace, labels: restricted } });
    const controllers = props.controllers ?? Object.values(databaseControllers(props.group));
    new OperatorAccess(this, 'access', { name: this.name, namespace: this.namespace, controllers, watchNamespaces: props.watchNamespaces, labels: this.#labels });
    this.deployment();
    this.service();
    this.disruptionBudget();
    if (props.deletionProtection ?? props.controllers === undefined) new DeletionProtection(this, 'deletion-protection', { group: props.group });
  }

  private check(): void {
    const { replicas, watchNamespaces } = this.#props;
    const refuse = (reason: string) => {
      throw new Error(`${this.node.path}: ${reason}`);
    };
    if (replicas !== undefined && (!Number.isInteger(replicas) || replicas < 1)) refuse(`'replicas' (${replicas}) is not a whole number from 1; scale the Deployment to stop the operator`);
    if (watchNamespaces?.length === 0) refuse("'watchNamespaces' is empty; name at least one namespace, or leave it out for all");
  }

  private deployment(): void {
    const { replicas = 2, imagePullSecrets } = this.#props;
    new ApiObject(this, 'deployment', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: this.metadata(),
      spec: {
        replicas,
        selector: { matchLabels: this.#selector },
        template: {
          metadata: { labels: this.#labels },
          spec: {
            serviceAccountName: this.name,
            securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: { type: 'RuntimeDefault' } },
            // The leader lets passes under way end for 20 s before it gives up its lead.
            terminationGracePeriodSeconds: 30,
            affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: this.#selector } } }] } },
            ...(imagePullSecrets && { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
            containers: [this.container()],
          },
        },
      },
    });
  }

  private container(): object {
    const { image = `cdk8s-database-operator:${packageVersion}`, command, controllers, args = controllers === undefined ? ['run'] : undefined, resources = defaultResources } = this.#props;
    return {
      name: 'operator',
      image,
      ...(command && { command }),
      ...(args && { args }),
      env: this.environment(image),
      ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 10, failureThreshold: 6 },
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 5 },
      resources,
      securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    };
  }

  /** Settings go by the environment, which every operator made with the runtime reads, ours and others. */
  private environment(image: string): object[] {
    const { group = defaultGroup, watchNamespaces = [] } = this.#props;
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    return [
      field('POD_NAMESPACE', 'metadata.namespace'),
      field('POD_NAME', 'metadata.name'),
      { name: 'DBOP_IMAGE', value: image },
      { name: 'DBOP_LEADER_ELECT', value: 'true' },
      { name: 'DBOP_LEASE_NAME', value: this.name },
      ...(group === defaultGroup ? [] : [{ name: 'DBOP_GROUP', value: group }]),
      ...(watchNamespaces.length === 0 ? [] : [{ name: 'DBOP_NAMESPACES', value: watchNamespaces.join(',') }]),
    ];
  }

  private service(): void {
    const spec = { selector: this.#selector, ports: [{ name: 'metrics', port, targetPort: 'http', protocol: 'TCP' }] };
    new ApiObject(this, 'metrics', { apiVersion: 'v1', kind: 'Service', metadata: this.metadata('-metrics'), spec });
  }

  private disruptionBudget(): void {
    // One at a time, also for a single replica, and any that is broken: a drain must never hang on the operator.
    const spec = { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: this.#selector } };
    new ApiObject(this, 'disruption-budget', { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: this.metadata(), spec });
  }

  private metadata(suffix = ''): { name: string; namespace: string; labels: Readonly<Record<string, string>> } {
    return { name: `${this.name}${suffix}`, namespace: this.namespace, labels: this.#labels };
  }
}

const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/warn': 'restricted' };

const defaultResources: Resources = { requests: { cpu: '50m', memory: '96Mi' }, limits: { cpu: '1', memory: '256Mi' } };
