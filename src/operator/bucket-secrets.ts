import type { BackupTarget } from '../constructs/backup-target';
import type { Context } from '../runtime/context';
import { decoded } from './accounts';
import type { SuppliedSecrets } from './supplied-secrets';

/**
 * Which Secret of a bucket is missing, or lacks a key, in words; undefined when a Job can be made.
 * A pod that waits for a Secret says so to nobody but its node.
 */
export async function missingBucketSecret(target: BackupTarget, { client, object, signal }: Pick<Context, 'client' | 'object' | 'signal'>, supplied: SuppliedSecrets): Promise<string | undefined> {
  if (target.s3 === undefined) return undefined;
  const { credentialsSecret, caSecret } = target.s3;
  const wanted = [
    { name: credentialsSecret, keys: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] },
    ...(caSecret === undefined ? [] : [{ name: caSecret, keys: ['ca.crt'] }]),
  ];
  for (const { name, keys } of wanted) {
    const secret = await supplied.get(client, { namespace: object.metadata.namespace, name }, signal);
    if (secret === undefined) return `Secret ${name} of the bucket does not exist; create it with ${keys.length > 1 ? 'the keys' : 'the key'} ${keys.join(' and ')}`;
    const missing = keys.find((key) => !decoded(secret, key));
    if (missing !== undefined) return `Secret ${name} of the bucket has no ${missing}; add the key`;
  }
  return undefined;
}
