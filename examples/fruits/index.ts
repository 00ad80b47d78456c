import { ApiObject } from 'cdk8s';
import { z } from 'zod';
import { builtin, conditions, defineKind } from '../../src';
import { controller, done } from '../../src/runtime';

export const name = 'fruits';

/** `fruits.user.k8sasdb.org/v1`: the smallest kind that is worth a controller. */
export const Fruit = defineKind({
  group: 'user.k8sasdb.org',
  version: 'v1',
  kind: 'Fruit',
  description: 'A fruit, and what is to be said of it.',
  spec: z.object({
    comment: z.string().optional().describe('What there is to say.'),
    sweetness: z.boolean().optional().describe('Whether it is sweet.'),
    weight: z.int().optional().describe('In grams.'),
  }),
  status: z.object({
    observedGeneration: z.int().optional(),
    label: z.string().optional().describe('What stands on its label.'),
    conditions: conditions().optional(),
  }),
  columns: [
    { name: 'Weight', jsonPath: '.spec.weight', type: 'integer' },
    { name: 'Label', jsonPath: '.status.label' },
  ],
});

/** Prints a label for each fruit: a ConfigMap that goes with it. */
export const controllers = [
  controller({
    kind: Fruit,
    owns: [builtin.ConfigMap],
    async reconcile(context) {
      const { metadata, spec } = context.object;
      const words = [spec.sweetness === true ? 'sweet' : 'sour', metadata.name, spec.weight === undefined ? '' : `(${spec.weight} g)`, spec.comment === undefined ? '' : `- ${spec.comment}`];
      const label = words.filter((word) => word !== '').join(' ');
      const children = context.render((chart) => {
        new ApiObject(chart, 'label', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${metadata.name}-label` }, data: { label } });
      });
      await context.apply(children, { set: 'label' });
      return done({ label });
    },
  }),
];
