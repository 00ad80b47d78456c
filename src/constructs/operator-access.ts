import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { accessOf, leaseAccess, toRules, type Access, type ControllerDeclaration } from '../kind/access';

/** Props of `OperatorAccess`. */
export interface OperatorAccessProps {
  /** Name of the account, its roles and its Lease. */
  readonly name: string;
  /** Where the operator runs. */
  readonly namespace: string;
  /** What its controllers touch; the rules follow from it. */
  readonly controllers: readonly ControllerDeclaration[];
  /**
   * Namespaces that the operator is limited to.
   * @default - all namespaces
   */
  readonly watchNamespaces?: readonly string[];
  /** Labels of every object. */
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The operator's account and what it may do, verb by verb.
 *
 * Guarantees: no wildcard. With `watchNamespaces`, rights on namespaced objects are granted in these namespaces only; a ClusterRole
 * remains only where a controller reads objects that live in no namespace.
 */
export class OperatorAccess extends Construct {
  readonly #props: OperatorAccessProps;

  constructor(scope: Construct, id: string, props: OperatorAccessProps) {
    super(scope, id);
    this.#props = props;
    const { name, namespace, controllers, watchNamespaces, labels } = props;
    new ApiObject(this, 'account', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels } });
    const rights = accessOf(controllers);
    if (watchNamespaces === undefined) this.grant('cluster', name, rights);
    else {
      this.grant('cluster', name, rights.filter(({ type }) => !type.namespaced));
      for (const watched of watchNamespaces) this.grant(`namespace-${watched}`, name, rights.filter(({ type }) => type.namespaced), watched);
    }
    this.grant('leader-election', `${name}-leader-election`, leaseAccess(name), namespace);
  }

  private grant(id: string, role: string, rights: readonly Access[], namespace?: string): void {
    if (rights.length === 0) return;
    const { name, namespace: home, labels } = this.#props;
    const [kind, binding] = namespace === undefined ? ['ClusterRole', 'ClusterRoleBinding'] : ['Role', 'RoleBinding'];
    const metadata = { name: role, ...(namespace !== undefined && { namespace }), labels };
    new ApiObject(this, id, { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata, rules: toRules(rights) });
    new ApiObject(this, `${id}-binding`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: binding,
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace: home }],
    });
  }
}
