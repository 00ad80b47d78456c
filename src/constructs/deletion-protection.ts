import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { Database, defaultGroup } from '../api/database';

/** The label of volume claims that belong to a protected database; the operator sets and removes it. */
export const protectedLabel = 'dbop.dev/protected';

/** Props of `DeletionProtection`. */
export interface DeletionProtectionProps {
  /**
   * API group of the databases.
   * @default 'dbop.dev'
   */
  readonly group?: string;
}

/**
 * Refuses to delete protected databases and their volume claims at the API server, so that `kubectl delete` fails at once with
 * the way out in its message and nothing ever hangs half deleted. Even deleting the namespace can't take them.
 *
 * Needs Kubernetes 1.30 or later, where ValidatingAdmissionPolicies are stable.
 */
export class DeletionProtection extends Construct {
  constructor(scope: Construct, id: string, props: DeletionProtectionProps = {}) {
    super(scope, id);
    const { group, plural, version } = Database.withGroup(props.group ?? defaultGroup);
    const resource = `${plural}.${group}`;
    this.policy('databases', `protected.${resource}`, {
      matchConstraints: { resourceRules: [deletionOf(group, version, plural)] },
      validations: [
        {
          expression: '!has(oldObject.spec.deletionProtection) || !oldObject.spec.deletionProtection',
          messageExpression: `"database " + oldObject.metadata.namespace + "/" + oldObject.metadata.name + " is protected from deletion; to delete it all the same, first run: kubectl patch ${resource} " + oldObject.metadata.name + " -n " + oldObject.metadata.namespace + " --type merge -p '{\\"spec\\":{\\"deletionProtection\\":false}}'"`,
          reason: 'Forbidden',
        },
      ],
    });
    this.policy('claims', `protected-claims.${resource}`, {
      matchConstraints: { resourceRules: [deletionOf('', 'v1', 'persistentvolumeclaims')], objectSelector: { matchLabels: { [protectedLabel]: 'true' } } },
      validations: [
        {
          expression: `!has(oldObject.metadata.labels) || !("${protectedLabel}" in oldObject.metadata.labels) || oldObject.metadata.labels["${protectedLabel}"] != "true"`,
          messageExpression: `"claim " + oldObject.metadata.namespace + "/" + oldObject.metadata.name + " holds the data of a protected database; set spec.deletionProtection of the database to false, or, if the database is gone, run: kubectl label pvc " + oldObject.metadata.name + " -n " + oldObject.metadata.namespace + " ${protectedLabel}-"`,
          reason: 'Forbidden',
        },
      ],
    });
  }

  private policy(id: string, name: string, spec: object): void {
    const apiVersion = 'admissionregistration.k8s.io/v1';
    new ApiObject(this, id, { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec: { failurePolicy: 'Fail', ...spec } });
    new ApiObject(this, `${id}-binding`, { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } });
  }
}

function deletionOf(group: string, version: string, resource: string): object {
  return { apiGroups: [group], apiVersions: [version], resources: [resource], operations: ['DELETE'] };
}
