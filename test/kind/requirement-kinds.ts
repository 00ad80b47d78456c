import { z } from 'zod';
import { defineKind } from '../../src/kind/define-kind';

/** R1: the simple claim. */
export const SimpleDatabase = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Database',
  shortNames: ['db'],
  spec: z.object({ version: z.string(), size: z.string().regex(/^[0-9]+[a-zA-Z]+$/) }),
  status: z.object({ phase: z.enum(['Creating', 'Running', 'Failed']).optional() }),
  columns: [
    { name: 'Version', jsonPath: '.spec.version' },
    { name: 'Size', jsonPath: '.spec.size' },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
});

/** R2: the full life of one MySQL. */
export const MySQL = defineKind({
  group: 'otus.homework',
  version: 'v1',
  kind: 'MySQL',
  shortNames: ['ms'],
  spec: z.object({ image: z.string(), database: z.string(), password: z.string().meta({ format: 'password' }), storage_size: z.string() }),
  status: z.object({ message: z.string().optional() }),
});

/** R3: what a controller is. */
export const Fruit = defineKind({
  group: 'user.k8sasdb.org',
  version: 'v1',
  kind: 'Fruit',
  spec: z.object({ comment: z.string().optional(), sweetness: z.boolean().optional(), weight: z.int().optional() }),
  status: z.object({ phase: z.string().optional() }),
});

/** R4: SampleDB. */
export const SampleDB = defineKind({
  group: 'stable.imaginedata.com',
  version: 'v1',
  kind: 'Database',
  shortNames: ['db'],
  spec: z.object({ name: z.string().optional(), port: z.int().optional(), 'storage-size': z.string().optional(), image: z.string().optional(), replicas: z.int().optional() }),
});

/** R5: CronTab. */
export const CronTab = defineKind({
  group: 'stable.example.com',
  version: 'v1',
  kind: 'CronTab',
  shortNames: ['ct'],
  spec: z.object({ cronSpec: z.string().optional(), image: z.string().optional(), replicas: z.int().optional() }),
});
