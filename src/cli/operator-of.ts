import type { Command } from 'commander';
import { builtin, type KubeObject } from '../kind/resource';
import { isForbidden } from '../runtime/api-error';
import type { Client } from '../runtime/client';
import { packageVersion } from '../kind/package-version';
import type { Io } from './io';

/** What of the operator shows in the children of its databases. */
export interface Operator {
  /** Image with `dbop`, for its Jobs. */
  readonly storeImage: string;
  /** Namespace of its pods, which databases must let in. @default it runs outside of the cluster */
  readonly operatorNamespace?: string;
}

/** Flags that say it. */
export interface OperatorFlags {
  readonly image?: string;
  readonly operatorNamespace?: string;
}

/** Gives a command these flags. @param otherwise where else it is learnt from */
export function withOperatorFlags(command: Command, otherwise: { readonly image: string; readonly namespace: string }): Command {
  return command
    .option('--image <image>', `image with dbop, for backup Jobs (env DBOP_IMAGE; default: ${otherwise.image})`)
    .option('--operator-namespace <name>', `namespace of the operator, which databases let in; '' if it runs outside (default: ${otherwise.namespace})`);
}

/** The operator as a standard installation has it, unless the flags say otherwise. */
export function usualOperator(flags: OperatorFlags, io: Pick<Io, 'env'>): Operator {
  return { storeImage: flags.image ?? io.env.DBOP_IMAGE ?? `cdk8s-database-operator:${packageVersion}`, operatorNamespace: place(flags.operatorNamespace ?? 'dbop-system') };
}

/** The operator of a cluster: what was said, else what its Deployment says. Whoever may not see that has to say it. */
export async function operatorOf(client: Client, flags: OperatorFlags, io: Pick<Io, 'env' | 'signal'>): Promise<Operator> {
  const said = { storeImage: flags.image ?? io.env.DBOP_IMAGE, operatorNamespace: flags.operatorNamespace };
  const found = said.storeImage !== undefined && said.operatorNamespace !== undefined ? undefined : await deployed(client, io.signal);
  return {
    storeImage: said.storeImage ?? found?.storeImage ?? `cdk8s-database-operator:${packageVersion}`,
    operatorNamespace: place(said.operatorNamespace ?? found?.operatorNamespace),
  };
}

interface Deployment extends KubeObject {
  spec?: { template?: { spec?: { containers?: { env?: { name: string; value?: string }[] }[] } } };
}

async function deployed(client: Client, signal: AbortSignal): Promise<Operator | undefined> {
  const labelSelector = 'app.kubernetes.io/component=operator,app.kubernetes.io/part-of=cdk8s-database-operator';
  const { items } = await client.list<Deployment>(builtin.Deployment, { labelSelector, signal }).catch((error: unknown) => {
    if (isForbidden(error)) return { items: [] };
    throw error;
  });
  for (const { spec, metadata } of items) {
    const variables = (spec?.template?.spec?.containers ?? []).flatMap(({ env }) => env ?? []);
    const storeImage = variables.find(({ name }) => name === 'DBOP_IMAGE')?.value;
    if (storeImage !== undefined) return { storeImage, operatorNamespace: metadata.namespace };
  }
  return undefined;
}

function place(namespace: string | undefined): string | undefined {
  return namespace === '' ? undefined : namespace;
}
