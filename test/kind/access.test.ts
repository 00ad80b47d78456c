import { z } from 'zod';
import { leaseAccess, rulesOf, toRules } from '../../src/kind/access';
import { defineKind } from '../../src/kind/define-kind';
import { builtin } from '../../src/kind/resource';

const database = defineKind({ group: 'example.com', version: 'v1', kind: 'Database', spec: z.object({}), status: z.object({ phase: z.string() }) });
const plain = defineKind({ group: 'example.com', version: 'v1', kind: 'Plain', spec: z.object({}) });

test('a controller may do to its kind and its children what it declares, and nothing else', () => {
  expect(rulesOf([{ kind: database, owns: [builtin.Secret, builtin.Service, builtin.StatefulSet], watches: [builtin.Pod], finalizer: 'example.com/f' }])).toEqual([
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    { apiGroups: [''], resources: ['secrets', 'services'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
    { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: ['example.com'], resources: ['databases'], verbs: ['get', 'list', 'watch', 'patch'] },
    { apiGroups: ['example.com'], resources: ['databases/finalizers'], verbs: ['update'] },
    { apiGroups: ['example.com'], resources: ['databases/status'], verbs: ['patch'] },
  ]);
});

test('a kind without status, finalizer and children is only read', () => {
  expect(rulesOf([{ kind: plain }])).toEqual([
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: ['example.com'], resources: ['plains'], verbs: ['get', 'list', 'watch'] },
  ]);
});

test('what one controller watches and another owns stands in one rule with the verbs of both', () => {
  const rules = rulesOf([{ kind: plain, watches: [builtin.Job] }, { kind: database, owns: [builtin.Job] }]);
  expect(rules.filter((rule) => rule.resources.includes('jobs'))).toEqual([
    { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  ]);
});

test('the order of declarations does not change the rules', () => {
  const a = { kind: plain, owns: [builtin.Secret, builtin.Pod] };
  const b = { kind: database, watches: [builtin.Node, builtin.Secret] };
  expect(rulesOf([b, a])).toEqual(rulesOf([a, b]));
});

test('leader election may renew its own Lease and no other', () => {
  expect(toRules(leaseAccess('dbop'))).toEqual([
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['dbop'], verbs: ['get', 'patch'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  ]);
});

test('children that only a label ties to their object need no right on its finalizers', () => {
  const rules = rulesOf([{ kind: database, owns: [builtin.Secret], ownership: 'label' }]);
  expect(rules.flatMap(({ resources }) => resources)).toEqual(['secrets', 'events', 'databases', 'databases/status']);
});
