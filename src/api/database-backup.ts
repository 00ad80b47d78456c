import { z } from 'zod';
import { defineKind, type ObjectOf, type SpecOf, type StatusOf } from '../kind/define-kind';
import { conditions, dnsLabel, timestamp } from '../kind/fields';
import { immutable } from '../kind/rule';
import { defaultGroup } from './database';

const spec = z
  .object({
    database: immutable(dnsLabel('The Database of this namespace to back up.'), 'a backup is of one database; create another'),
    verify: immutable(z.boolean(), 'the backup may be under way; create another')
      .optional()
      .describe('Restore the backup into a throw-away server before it counts as good; as the database says when left out.'),
  })
  .describe('What is asked for.');

const count = (description: string) => z.int().min(0).optional().describe(description);

const status = z
  .object({
    phase: z.enum(['Pending', 'Running', 'Succeeded', 'Failed']).optional().describe('Pending, Running, Succeeded or Failed.'),
    message: z.string().max(32768).optional().describe('What is, what is waited for and what to do.'),
    observedGeneration: z.int().min(0).optional().describe('Generation of the spec that this status speaks of.'),
    conditions: conditions().optional(),
    progress: z
      .object({
        stage: z.string().max(32).describe('What the Job is at, such as dump or load.'),
        bytes: count('Bytes of the dump that have gone by in this stage so far.'),
        of: count('Bytes that it will be in the end, where that is known.'),
      })
      .optional()
      .describe('How far the Job is; there only while it runs, and at most ten seconds old.'),
    startedAt: timestamp('When the dump began.').optional(),
    completedAt: timestamp('When the backup was complete at its location.').optional(),
    location: z.string().max(2048).optional().describe('Where it rests: a folder of the backup volume, or s3://bucket/key.'),
    bytes: count('Size at rest in bytes.'),
    sha256: z.string().max(64).regex(/^[0-9a-f]{64}$/).optional().describe('Checksum of what rests there.'),
    verified: z.boolean().optional().describe('Whether a throw-away server could be restored from it and held the same number of rows.'),
    verifiedAt: timestamp('When that was proved.').optional(),
    engine: z.string().max(32).optional().describe('Engine of the database.'),
    version: z.string().max(63).optional().describe('Version that the server reported.'),
    position: z.string().max(8192).optional().describe('Place in the server’s log that the backup stands for: a set of GTIDs or an LSN.'),
    tables: count('Number of tables.'),
    rows: count('Number of rows, counted while they went by.'),
  })
  .describe('What is.');

/** `DatabaseBackup` (`dbb`): asks for one backup, or records one that the schedule took. */
export const DatabaseBackup = defineKind({
  group: defaultGroup,
  version: 'v1alpha1',
  kind: 'DatabaseBackup',
  shortNames: ['dbb'],
  categories: ['databases-all'],
  description: 'Asks for one backup of a Database, or records one that the schedule took.',
  names: { maxLength: 56, why: 'its Jobs append a suffix and may have 63; choose a shorter name' },
  columns: [
    { name: 'Database', jsonPath: '.spec.database' },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Verified', jsonPath: '.status.verified', type: 'boolean' },
    { name: 'Completed', jsonPath: '.status.completedAt', type: 'date' },
    { name: 'Bytes', jsonPath: '.status.bytes', type: 'integer' },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
    { name: 'Location', jsonPath: '.status.location', wide: true },
    { name: 'Version', jsonPath: '.status.version', wide: true },
    { name: 'Tables', jsonPath: '.status.tables', type: 'integer', wide: true },
    { name: 'Rows', jsonPath: '.status.rows', type: 'integer', wide: true },
    { name: 'Message', jsonPath: '.status.message', wide: true },
  ],
  spec,
  status,
});

/** What a `DatabaseBackup` asks for. */
export type DatabaseBackupSpec = SpecOf<typeof DatabaseBackup>;
/** What the operator answers. */
export type DatabaseBackupStatus = StatusOf<typeof DatabaseBackup>;
/** A whole `DatabaseBackup` object. */
export type DatabaseBackupObject = ObjectOf<typeof DatabaseBackup>;
