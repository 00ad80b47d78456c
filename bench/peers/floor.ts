import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { parse } from 'yaml';
import { childrenOf, type ChildManifest } from '../children';

/** Shops whose requests are under way at once: enough to keep all connections busy. */
const shopsAtOnce = 16;
const connections = 32;
const fieldManager = 'bench-floor';
const apply = 'application/apply-patch+yaml';

interface Shop {
  metadata: { name: string; uid: string; generation: number; creationTimestamp: string };
  spec: { version: string };
}

/**
 * The floor: the writes of a cold start and nothing else. No cache, no watch, no comparison; answers are not even parsed.
 * What an operator takes beyond this is its own.
 */
async function main(namespace: string): Promise<void> {
  const { pool, authorization } = connect();
  const send = async (path: string, body: unknown, contentType: string): Promise<void> => {
    const answer = await pool.request({ method: 'PATCH', path: `${path}?fieldManager=${fieldManager}${contentType === apply ? '&force=true' : ''}`, body: JSON.stringify(body), headers: { authorization, 'content-type': contentType } });
    if (answer.statusCode >= 300) throw new Error(`PATCH ${path}: ${answer.statusCode} ${await answer.body.text()}`);
    await answer.body.dump();
  };
  const list = await pool.request({ method: 'GET', path: `/apis/bench.dbop.dev/v1/namespaces/${namespace}/shops`, headers: { authorization } });
  const { items } = (await list.body.json()) as { items: Shop[] };
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: shopsAtOnce }, async () => {
      for (const shop of waiting) {
        await Promise.all(childrenOf(shop.metadata.name, shop.spec.version).map((child) => send(pathOf(child, namespace), owned(child, shop, namespace), apply)));
        await send(`/apis/bench.dbop.dev/v1/namespaces/${namespace}/shops/${shop.metadata.name}/status`, { status: ready(shop) }, 'application/merge-patch+json');
      }
    }),
  );
  // Stays until it is told to end, so that what it used can still be read.
  setInterval(() => undefined, 60_000);
}

function connect(): { pool: Pool; authorization: string } {
  const config = parse(readFileSync(process.env['KUBECONFIG'] as string, 'utf8')) as { clusters: { cluster: { server: string; 'certificate-authority': string } }[]; users: { user: { token: string } }[] };
  const { server, 'certificate-authority': ca } = config.clusters[0]!.cluster;
  return { pool: new Pool(server, { connections, connect: { ca: readFileSync(ca) } }), authorization: `Bearer ${config.users[0]!.user.token}` };
}

function pathOf({ apiVersion, kind, metadata }: ChildManifest, namespace: string): string {
  const plural = kind === 'NetworkPolicy' ? 'networkpolicies' : `${kind.toLowerCase()}s`;
  return `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/namespaces/${namespace}/${plural}/${metadata.name}`;
}

function owned(child: ChildManifest, { metadata: { name, uid } }: Shop, namespace: string): object {
  const ownerReferences = [{ apiVersion: 'bench.dbop.dev/v1', kind: 'Shop', name, uid, controller: true, blockOwnerDeletion: true }];
  const labels = { ...child.metadata.labels, 'app.kubernetes.io/managed-by': fieldManager };
  return { ...child, metadata: { ...child.metadata, namespace, labels, ownerReferences } };
}

function ready({ metadata: { generation, creationTimestamp } }: Shop): object {
  const condition = { type: 'Ready', status: 'True', reason: 'Ready', message: 'all children are applied', observedGeneration: generation, lastTransitionTime: creationTimestamp };
  return { observedGeneration: generation, conditions: [condition] };
}

void main(process.argv[2] as string);
