import { z } from 'zod';
import { builtin, conditions, defineKind, type KubeObject, type ObjectOf } from '../../src';
import { controller, done, wait } from '../../src/runtime';

export const name = 'secsynch';

/** `secsynches.user.k8sasdb.org/v1`: one Secret, copied into other namespaces. */
export const SecSynch = defineKind({
  group: 'user.k8sasdb.org',
  version: 'v1',
  kind: 'SecSynch',
  description: 'Copies a Secret of its own namespace into others, and keeps the copies as the Secret is.',
  spec: z.object({
    secret: z.string().min(1).describe('Name of the Secret.'),
    namespaces: z.array(z.string().min(1)).meta({ 'x-kubernetes-list-type': 'set' }).describe('Where copies are wanted.'),
  }),
  status: z.object({
    observedGeneration: z.int().optional(),
    copies: z.int().optional().describe('How many namespaces have a copy.'),
    conditions: conditions().optional(),
  }),
  columns: [
    { name: 'Secret', jsonPath: '.spec.secret' },
    { name: 'Copies', jsonPath: '.status.copies', type: 'integer' },
    { name: 'Ready', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  ],
});

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Record<string, string>;
}

export const controllers = [
  controller({
    kind: SecSynch,
    owns: [builtin.Secret],
    watches: [builtin.Secret, builtin.Namespace],
    // Tokens and Helm's releases are nobody's source, and there are many of them.
    select: [{ type: builtin.Secret, fieldSelector: 'type!=kubernetes.io/service-account-token,type!=helm.sh/release.v1' }],
    finalizer: 'user.k8sasdb.org/copies',

    /** A Secret wakes those who copy it, a namespace those who want a copy in it. */
    wakes: (watched, read) =>
      read<ObjectOf<typeof SecSynch>>(SecSynch)
        .list()
        .filter(({ metadata, spec }) =>
          watched.kind === 'Namespace' ? spec.namespaces.includes(watched.metadata.name) : metadata.namespace === watched.metadata.namespace && spec.secret === watched.metadata.name,
        )
        .map(({ metadata }) => metadata),

    async reconcile(context) {
      const { metadata, spec } = context.object;
      const source = context.read<Secret>(builtin.Secret).get(spec.secret);
      if (source === undefined) return wait('NoSource', `waiting for Secret '${spec.secret}' in namespace '${metadata.namespace}'`);

      const here = (namespace: string): boolean => context.read(builtin.Namespace).get(namespace) !== undefined;
      const copies = spec.namespaces.filter(here).map((namespace) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: spec.secret, namespace },
        type: source.type,
        data: source.data,
      }));
      // An owner reference can't leave its namespace: what is no longer wanted is pruned, and finalize removes the rest.
      await context.apply(copies, { own: 'label', set: 'copies' });

      const missing = spec.namespaces.filter((namespace) => !here(namespace));
      if (missing.length === 0) return done({ copies: copies.length });
      return wait('NoNamespace', `waiting for namespace ${missing.join(', ')}`, { status: { copies: copies.length } });
    },

    async finalize(context) {
      const copies = context.read(builtin.Secret).children();
      const gone = await Promise.all(copies.map((copy) => context.remove(copy)));
      return gone.every(Boolean) ? done() : wait('Removing', 'waiting until the copies are gone', { after: 1_000 });
    },
  }),
];
