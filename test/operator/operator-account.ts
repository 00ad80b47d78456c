import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorDeployment } from '../../src/constructs/operator-deployment';
import type { PolicyRule } from '../../src/kind/access';
import type { KubeObject } from '../../src/kind/resource';
import { render } from '../../src/runtime';
import type { AuditEvent, AuditLog } from '../support/audit-log';
import type { TestCluster } from '../support/test-cluster';

/** A right in the words `verb resource.group`, with `/subresource` where it is for one. */
export type Right = string;

/** The operator's own account, with the rights that `OperatorDeployment` grants and no other but the way through port-forwards. */
export class OperatorAccount {
  private readonly folder = mkdtempSync(join(tmpdir(), 'dbop-account-'));
  private readonly log: AuditLog | undefined;

  private constructor(cluster: TestCluster, private readonly namespace: string, readonly name: string, private readonly rules: readonly PolicyRule[]) {
    this.log = cluster.tryAuditLog();
  }

  /** Makes the account, limited to one namespace. */
  static async make(cluster: TestCluster, namespace: string, name: string): Promise<OperatorAccount> {
    const objects = render((chart) => new OperatorDeployment(chart, 'operator', { name, namespace, createNamespace: false, watchNamespaces: [namespace], deletionProtection: false }));
    const access = objects.filter(({ kind }) => ['ServiceAccount', 'Role', 'RoleBinding'].includes(kind)) as (KubeObject & { rules?: PolicyRule[] })[];
    const account = new OperatorAccount(cluster, namespace, name, access.flatMap(({ rules = [] }) => rules));
    await cluster.apply(...access, ...laptop(name, namespace));
    const token = (await cluster.kubectl(`create token ${name} -n ${namespace} --duration=2h`)).trim();
    const { server, ca } = cluster.api.access;
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': name,
      clusters: [{ name, cluster: { server, ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }) } }],
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
    };
    writeFileSync(account.kubeconfig, JSON.stringify(kubeconfig), { mode: 0o600 });
    return account;
  }

  get kubeconfig(): string {
    return join(this.folder, 'kubeconfig');
  }

  /** What was asked for and not granted. */
  denied(): Right[] {
    return this.events().filter(({ annotations }) => annotations?.['authorization.k8s.io/decision'] === 'forbid').flatMap(rightsOf);
  }

  /** What is granted and was never asked for. */
  unused(): Right[] {
    const used = new Set(this.events().flatMap(rightsOf));
    return this.granted().filter((right) => !used.has(right));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private granted(): Right[] {
    return this.rules.flatMap(({ apiGroups: [group = ''], resources, verbs }) => resources.flatMap((resource) => verbs.map((verb) => right(verb, group, ...(resource.split('/') as [string, string?])))));
  }

  private events(): AuditEvent[] {
    if (this.log === undefined) throw new Error('this cluster tells nobody what was asked of it');
    return this.log.eventsOf(`system:serviceaccount:${this.namespace}:${this.name}`);
  }
}

/** An operator outside of the cluster reaches servers through port-forwards. */
function laptop(name: string, namespace: string): object[] {
  const metadata = { name: `${name}-laptop`, namespace };
  const apiGroup = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: `${apiGroup}/v1`, kind: 'Role', metadata, rules: [{ apiGroups: [''], resources: ['pods/portforward'], verbs: ['create', 'get'] }] },
    { apiVersion: `${apiGroup}/v1`, kind: 'RoleBinding', metadata, roleRef: { apiGroup, kind: 'Role', name: metadata.name }, subjects: [{ kind: 'ServiceAccount', name, namespace }] },
  ];
}

/** The rights that a request needs. One that applies an object which isn't there yet needs to create as well. */
function rightsOf({ verb, objectRef, responseStatus }: AuditEvent): Right[] {
  if (objectRef?.resource === undefined) return [];
  const verbs = verb === 'patch' && responseStatus?.code === 201 ? ['patch', 'create'] : [verb];
  return verbs.map((each) => right(each, objectRef.apiGroup ?? '', objectRef.resource!, objectRef.subresource));
}

function right(verb: string, group: string, resource: string, subresource?: string): Right {
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
}
