import { z } from 'zod';
import { dnsLabel, dnsSubdomain } from '../kind/fields';
import { immutable, withRules } from '../kind/rule';
import { volumeSize } from './volume-size';

/** A volume for backups: a claim of its own, which outlives the database. */
export const backupVolume = z
  .object({
    size: volumeSize('Size of the volume; it may grow, never shrink.'),
    storageClassName: immutable(dnsSubdomain('Class of the volume; the cluster’s default when left out.'), 'a claim keeps its storage class').optional(),
  })
  .describe('Keep backups on a volume of their own, which outlives the database.');

/** A bucket for backups. */
export const backupBucket = z
  .object({
    endpoint: z
      .string()
      .max(253)
      .regex(/^https?:\/\/[A-Za-z0-9.-]+(:[0-9]{1,5})?$/, 'is not the address of an S3 service; write it with its scheme and without a path, such as https://s3.eu-central-1.amazonaws.com')
      .describe('Address of the S3 service, such as https://s3.eu-central-1.amazonaws.com.'),
    bucket: z
      .string()
      .min(3)
      .max(63)
      .regex(/^[a-z0-9][a-z0-9.-]*[a-z0-9]$/, 'is not a bucket’s name; use lower-case letters, digits, hyphens and dots')
      .describe('Name of the bucket, which must exist.'),
    prefix: z
      .string()
      .max(512)
      .regex(/^[A-Za-z0-9!_.*'()-]+(\/[A-Za-z0-9!_.*'()-]+)*$/, 'is not a key prefix; write it without a slash at either end, such as backups/production')
      .optional()
      .describe('Put before each key, without a slash at either end; namespace and name of the database follow it.'),
    region: z.string().min(1).max(64).regex(/^[a-z0-9-]+$/, 'is not a region; write it such as eu-central-1').optional().describe('Region, where the service asks for one.'),
    credentialsSecretName: dnsSubdomain('Secret with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.'),
    caSecretName: dnsSubdomain('Secret with the key ca.crt, where the service’s certificate is not signed by a public authority.').optional(),
  })
  .describe('Keep backups in a bucket of any S3 service.');

/** A bucket to restore from, whoever has put backups there. */
export const restoreBucket = backupBucket
  .extend({
    namespace: dnsLabel('Namespace that the backup was taken in; this one when left out.').optional(),
    database: dnsLabel('Database that the backup is of; one of the same name when left out.').optional(),
    backup: dnsLabel('Name of the backup; the newest good one when left out.').optional(),
  })
  .describe('A bucket with backups of this or another cluster.');

/** What is kept when backups are pruned. */
export const retention = withRules(
  z.object({
    count: z.int().min(1).max(1000).optional().describe('Keep at least this many good backups; older ones go.'),
    age: z
      .string()
      .max(8)
      .regex(/^[1-9][0-9]{0,4}d$/, 'is not an age; write a number of days, such as 30d')
      .optional()
      .describe('Keep backups that are younger, in days, such as 30d.'),
  }),
  {
    cel: 'has(self.count) || has(self.age)',
    message: 'keeps nothing in particular; give it count, age or both, or leave it out to keep every backup',
    holds: ({ count, age }) => count !== undefined || age !== undefined,
  },
).describe('Which backups are kept; with both count and age, a backup goes only when neither keeps it. The newest good one is never removed.');
