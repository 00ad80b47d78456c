import { z } from 'zod';
import { conditions, databaseDeclaration, defineKind, quantity } from '../../src';

const amounts = (description: string) => z.object({ cpu: quantity('CPU, such as 100m.').optional(), memory: quantity('Memory, such as 256Mi.').optional() }).optional().describe(description);

/** `databases.example.com/v1`: a version and a size, and nothing else that must be decided. */
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
    resources: z
      .object({ requests: amounts('What the node must have free; 100m and 256Mi unless said otherwise.'), limits: amounts('What the server may take; 500m and 512Mi unless said otherwise.') })
      .optional()
      .describe('CPU and memory of the server.'),
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
