import { ApiObject } from 'cdk8s';
import { builtin } from '../src';
import { Client, Manager, controller, createLog, done, findCluster } from '../src/runtime';
import { childrenOf } from './children';
import { shop } from './shop';

/** The benchmark's operator as a user of this package writes it: children are constructs, the rest is the runtime's. */
async function main([namespace, port]: readonly string[]): Promise<void> {
  const client = new Client(await findCluster());
  const manager = new Manager({
    name: 'bench-dbop',
    client,
    namespaces: [namespace as string],
    health: port === undefined ? undefined : { port: Number(port), host: '127.0.0.1' },
    log: createLog({ level: 'warn' }),
    controllers: [
      controller({
        kind: shop,
        owns: [builtin.Secret, builtin.ConfigMap, builtin.Service, builtin.StatefulSet, builtin.CronJob, builtin.PodDisruptionBudget, builtin.NetworkPolicy],
        async reconcile(context) {
          const { metadata, spec } = context.object;
          const children = context.render((chart) => {
            for (const child of childrenOf(metadata.name, spec.version)) new ApiObject(chart, `${child.kind}-${child.metadata.name}`, child);
          });
          await context.apply(children);
          return done();
        },
      }),
    ],
  });
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  await manager.run(stop.signal);
  await client.close();
}

void main(process.argv.slice(2));
