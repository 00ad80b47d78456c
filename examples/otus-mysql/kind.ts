import { z } from 'zod';
import { builtin, conditions, databaseDeclaration, defineKind } from '../../src';

/** `mysqls.otus.homework/v1`: one MySQL with its volumes, its backups and its whole life. */
export const MySQL = defineKind({
  group: 'otus.homework',
  version: 'v1',
  kind: 'MySQL',
  shortNames: ['ms'],
  description: 'One MySQL that is restored when it is created and backed up when it is deleted.',
  spec: z.object({
    image: z.string().min(1).describe('Image of the server, such as mysql:5.7.'),
    database: z.string().min(1).max(64).describe('Name of the database inside the server.'),
    password: z.string().min(1).describe('Password of root; a change reaches the running server.'),
    storage_size: z.string().min(1).describe('Size of the volumes, such as 1Gi.'),
  }),
  status: z.object({
    phase: z.string().optional().describe('Where the instance stands in its life.'),
    message: z.string().optional().describe('What happened, and what is waited for.'),
    conditions: conditions().optional(),
  }),
  columns: [
    { name: 'Image', jsonPath: '.spec.image' },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Message', jsonPath: '.status.message' },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
});

/** What the controller touches; the rights in the manifests follow from it. */
export const declaration = databaseDeclaration(MySQL, { finalizer: 'otus.homework/mysql', workload: 'Deployment', alsoOwns: [builtin.PersistentVolume] });
