import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { Database, defaultGroup } from '../api/database';
import { DatabaseBackup } from '../api/database-backup';

/** The label of volume claims that only their database lets go; the operator sets and removes it. */
export const protectedLabel = 'dbop.dev/protected';

/** The annotation by which a person allows that our definitions, and every object with them, are deleted. */
const allowedAnnotation = 'dbop.dev/deletion';

/** Props of `DeletionProtection`. */
export interface DeletionProtectionProps {
  /**
   * API group of the databases.
   * @default 'dbop.dev'
   */
  readonly group?: string;
}

/**
 * Refuses at the API server what would take data by the way, so that `kubectl delete` fails at once with the way out in its message:
 *
 * - to delete a protected database, also with its namespace;
 * - to delete the volume claims of any database that isn't to be deleted without a backup, also with their namespace: the database lets
 *   them go when its time has come;
 * - to delete our CustomResourceDefinitions, and with them every database of the cluster.
 *
 * Needs Kubernetes 1.30 or later, where ValidatingAdmissionPolicies are stable.
 */
export class DeletionProtection extends Construct {
  constructor(scope: Construct, id: string, props: DeletionProtectionProps = {}) {
    super(scope, id);
    const { group, plural, version } = Database.withGroup(props.group ?? defaultGroup);
    const resource = `${plural}.${group}`;
    const definitions = [resource, `${DatabaseBackup.plural}.${group}`];
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
          messageExpression: `"claim " + oldObject.metadata.namespace + "/" + oldObject.metadata.name + " belongs to a database, which lets it go when it is deleted itself; to delete the database and its volumes without a last backup, set its spec.deletionPolicy to Delete and spec.deletionProtection to false; if the database is gone, run: kubectl label pvc " + oldObject.metadata.name + " -n " + oldObject.metadata.namespace + " ${protectedLabel}-"`,
          reason: 'Forbidden',
        },
      ],
    });
    this.policy('definitions', `protected-definitions.${resource}`, {
      matchConstraints: { resourceRules: [deletionOf('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')] },
      matchConditions: [{ name: 'ours', expression: `oldObject.metadata.name in ${JSON.stringify(definitions)}` }],
      validations: [
        {
          expression: `has(oldObject.metadata.annotations) && "${allowedAnnotation}" in oldObject.metadata.annotations && oldObject.metadata.annotations["${allowedAnnotation}"] == "allowed"`,
          messageExpression: `"with this definition every " + oldObject.spec.names.kind + " of the cluster would be deleted, and of each what it holds; if that is what you want, first run: kubectl annotate crd " + oldObject.metadata.name + " ${allowedAnnotation}=allowed"`,
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
