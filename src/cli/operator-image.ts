import { builtin, type KubeObject } from '../kind/resource';
import { isForbidden } from '../runtime/api-error';
import type { Client } from '../runtime/client';
import { VERSION } from '../runtime/version';
import type { Io } from './io';

interface Deployment extends KubeObject {
  spec?: { template?: { spec?: { containers?: { env?: { name: string; value?: string }[] }[] } } };
}

/**
 * The image that the operator of a cluster gives to its Jobs: what was said, else what its Deployment says, else the release
 * of this version. Whoever may not see that Deployment has to say it, where it is another one.
 */
export async function operatorImage(client: Client, flag: string | undefined, io: Pick<Io, 'env' | 'signal'>): Promise<string> {
  return flag ?? io.env.DBOP_IMAGE ?? (await deployedImage(client, io.signal)) ?? `cdk8s-database-operator:${VERSION}`;
}

async function deployedImage(client: Client, signal: AbortSignal): Promise<string | undefined> {
  const labelSelector = 'app.kubernetes.io/component=operator,app.kubernetes.io/part-of=cdk8s-database-operator';
  const { items } = await client.list<Deployment>(builtin.Deployment, { labelSelector, signal }).catch((error: unknown) => {
    if (isForbidden(error)) return { items: [] };
    throw error;
  });
  const variables = items.flatMap(({ spec }) => spec?.template?.spec?.containers ?? []).flatMap(({ env }) => env ?? []);
  return variables.find(({ name }) => name === 'DBOP_IMAGE')?.value;
}
