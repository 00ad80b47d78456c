import { z } from 'zod';
import { conditions, databaseDeclaration, defineKind } from '../../src';

/** `databases.example.com/v1`: a version and a size, and nothing else to decide. */
export const Database = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Database',
  shortNames: ['db'],
  description: 'A database by version and size: PostgreSQL if its name contains "postgres", else MySQL.',
  spec: z.object({
    version: z.string().describe('Version of the server, such as 15.3 or 8.0.'),
    size: z
      .string()
      .regex(/^[0-9]+[a-zA-Z]+$/)
      .describe('Size of the volume, such as 5Gi.'),
  }),
  status: z.object({
    phase: z.enum(['Creating', 'Running', 'Failed']).optional().describe('Creating, Running once the server answers, Failed while it cannot.'),
    message: z.string().optional().describe('What is, what is waited for and what to do.'),
    conditions: conditions().optional(),
  }),
  columns: [
    { name: 'Version', jsonPath: '.spec.version' },
    { name: 'Size', jsonPath: '.spec.size' },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
});

/** What the controller touches; the rights in the manifests follow from it. */
export const declaration = databaseDeclaration(Database, { finalizer: 'example.com/database' });
