import { z } from 'zod';
import { conditions, defineKind, type ObjectOf } from '../src';

/** The benchmark's kind: small, with the status that every operator writes. */
export const shop = defineKind({
  group: 'bench.dbop.dev',
  version: 'v1',
  kind: 'Shop',
  spec: z.object({ version: z.string().min(1).max(20) }),
  status: z.object({ observedGeneration: z.int().optional(), conditions: conditions().optional() }),
});

export type Shop = ObjectOf<typeof shop>;
