import { z } from 'zod';
import { defineKind, type ObjectOf } from '../src/kind/define-kind';

/** The benchmark's kind: small, with the status that every operator writes. */
export const shop = defineKind({
  group: 'bench.dbop.dev',
  version: 'v1',
  kind: 'Shop',
  spec: z.object({ version: z.string().min(1).max(20) }),
  status: z.object({
    observedGeneration: z.int().optional(),
    conditions: z
      .array(
        z.object({
          type: z.string(),
          status: z.enum(['True', 'False', 'Unknown']),
          reason: z.string(),
          message: z.string(),
          observedGeneration: z.int().optional(),
          lastTransitionTime: z.string(),
        }),
      )
      .optional(),
  }),
});

export type Shop = ObjectOf<typeof shop>;
