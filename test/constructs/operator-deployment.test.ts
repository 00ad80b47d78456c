import { z } from 'zod';
import { OperatorDeployment, type OperatorDeploymentProps } from '../../src/constructs/operator-deployment';
import type { PolicyRule } from '../../src/kind/access';
import { defineKind } from '../../src/kind/define-kind';
import { builtin } from '../../src/kind/resource';
import { find, rendered } from './render';

const operator = (props: OperatorDeploymentProps = {}) => rendered((chart) => new OperatorDeployment(chart, 'operator', props));

interface Role {
  rules: PolicyRule[];
}
interface Container {
  args?: string[];
  image: string;
  env: { name: string; value?: string }[];
  securityContext: object;
  resources: { requests: object; limits: object };
}
interface Deployment {
  spec: { replicas: number; selector: { matchLabels: object }; template: { metadata: { labels: object }; spec: { securityContext: object; containers: [Container] } } };
}
const container = (props?: OperatorDeploymentProps) => find<Deployment>(operator(props), 'Deployment').spec.template.spec.containers[0];
const variables = (props?: OperatorDeploymentProps) => Object.fromEntries(container(props).env.map(({ name, value }) => [name, value]));

test('an operator is all that it needs: namespace, account, rights, Deployment, Service, budget and deletion policy', () => {
  expect(operator().map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([
    'Namespace/dbop-system',
    'ServiceAccount/dbop',
    'ClusterRole/dbop',
    'ClusterRoleBinding/dbop',
    'Role/dbop-leader-election',
    'RoleBinding/dbop-leader-election',
    'Deployment/dbop',
    'Service/dbop-metrics',
    'PodDisruptionBudget/dbop',
    'ValidatingAdmissionPolicy/protected.databases.dbop.dev',
    'ValidatingAdmissionPolicyBinding/protected.databases.dbop.dev',
    'ValidatingAdmissionPolicy/protected-claims.databases.dbop.dev',
    'ValidatingAdmissionPolicyBinding/protected-claims.databases.dbop.dev',
    'ValidatingAdmissionPolicy/protected-definitions.databases.dbop.dev',
    'ValidatingAdmissionPolicyBinding/protected-definitions.databases.dbop.dev',
  ]);
});

test('no rule has a wildcard, and no right that no controller declares', () => {
  const { rules } = find<Role>(operator(), 'ClusterRole');
  expect(JSON.stringify(rules)).not.toContain('*');
  expect(rules.flatMap(({ resources, verbs }) => resources.map((resource) => `${resource}: ${verbs.join()}`))).toEqual([
    'configmaps: get,list,watch,create,patch,delete',
    'persistentvolumeclaims: get,list,watch,create,patch,delete',
    'secrets: get,list,watch,create,patch,delete',
    'serviceaccounts: get,list,watch,create,patch,delete',
    'services: get,list,watch,create,patch,delete',
    'pods: list,watch',
    'pods/log: get',
    'statefulsets: get,list,watch,create,patch,delete',
    'cronjobs: get,list,watch,create,patch,delete',
    'jobs: get,list,watch,create,patch,delete',
    'databasebackups: get,list,watch,create,patch,delete',
    'databasebackups/status: patch',
    'databases/status: patch',
    'databases: get,list,watch,patch',
    'events: create,patch',
    'networkpolicies: get,list,watch,create,patch,delete',
  ]);
});

test('an operator limited to namespaces has Roles there and no ClusterRole', () => {
  const objects = operator({ watchNamespaces: ['shop', 'bank'] });
  expect(objects.map(({ kind }) => kind)).not.toContain('ClusterRole');
  const roles = objects.filter(({ kind, metadata }) => kind === 'Role' && metadata.name === 'dbop');
  expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(['shop', 'bank']);
  expect(variables({ watchNamespaces: ['shop', 'bank'] })['DBOP_NAMESPACES']).toBe('shop,bank');
});

test('a limited operator keeps a ClusterRole only for what lives in no namespace', () => {
  const Shop = defineKind({ group: 'example.com', version: 'v1', kind: 'Shop', spec: z.object({}) });
  const objects = operator({ watchNamespaces: ['shop'], controllers: [{ kind: Shop, owns: [builtin.Secret], watches: [builtin.StorageClass] }], image: 'shop-operator:1' });
  expect(find<Role>(objects, 'ClusterRole').rules).toEqual([{ apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['list', 'watch'] }]);
});

test('its pods meet the Pod Security level "restricted" and leave their image alone', () => {
  const { template } = find<Deployment>(operator(), 'Deployment').spec;
  expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  expect(template.spec.containers[0].securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
});

test('the selector selects the pods', () => {
  const { selector, template } = find<Deployment>(operator(), 'Deployment').spec;
  expect(template.metadata.labels).toMatchObject(selector.matchLabels);
});

test('the process leads by its own Lease and hands its image to the Jobs', () => {
  expect(container().args).toEqual(['run']);
  expect(variables({ name: 'mine', image: 'registry.example.com/dbop:1' })).toMatchObject({ DBOP_LEADER_ELECT: 'true', DBOP_LEASE_NAME: 'mine', DBOP_IMAGE: 'registry.example.com/dbop:1' });
});

test('another group reaches the rights, the policies and the process', () => {
  const text = JSON.stringify(operator({ group: 'db.acme.com' }));
  expect(text).not.toContain('"dbop.dev"');
  expect(variables({ group: 'db.acme.com' })['DBOP_GROUP']).toBe('db.acme.com');
  expect(text).toContain('protected.databases.db.acme.com');
});

test('an operator of other kinds has rights on these alone, starts as its image says, and installs no policy for our databases', () => {
  const Shop = defineKind({ group: 'example.com', version: 'v1', kind: 'Shop', spec: z.object({}) });
  const objects = operator({ controllers: [{ kind: Shop }], image: 'shop-operator:1', name: 'shop-operator', namespace: 'shops' });
  expect(find<Role>(objects, 'ClusterRole').rules.flatMap(({ resources }) => resources)).toEqual(['events', 'shops']);
  expect(find<Deployment>(objects, 'Deployment').spec.template.spec.containers[0].args).toBeUndefined();
  expect(objects.map(({ kind }) => kind)).not.toContain('ValidatingAdmissionPolicy');
});

test.each<[OperatorDeploymentProps, string]>([
  [{ replicas: 0 }, "test/operator: 'replicas' (0) is not a whole number from 1; scale the Deployment to stop the operator"],
  [{ watchNamespaces: [] }, "test/operator: 'watchNamespaces' is empty; name at least one namespace, or leave it out for all"],
])('%j is refused', (props, message) => {
  expect(() => operator(props)).toThrow(message);
});
