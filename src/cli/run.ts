import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { Command } from 'commander';
import type { Controller } from '../runtime/controller';
import { isInCluster } from '../runtime/in-cluster';
import { packageVersion } from '../kind/package-version';
import { settings, type SettingName } from '../runtime/options';
import type { DatabaseOperatorOptions } from '../operator/controllers';

/** What `dbop run MODULE` expects of a module. */
interface OperatorModule {
  /** The operator's name: it marks everything that it makes and must not change later. @default the name of the module's folder or file */
  readonly name?: string;
  /** The controllers, or a function that makes them for this process. */
  readonly controllers: readonly Controller[] | ((options: DatabaseOperatorOptions) => readonly Controller[]);
}

type Flags = Partial<Record<SettingName, string>> & { kubeconfig?: string; context?: string; group?: string; image?: string };

/** `dbop run`: the operator. */
export function runCommand(): Command {
  const command = new Command('run')
    .description('Run the operator, in a pod or on a laptop, until SIGTERM or SIGINT.')
    .argument('[module]', 'JavaScript module that exports `controllers` of its own (default: Database and DatabaseBackup)')
    .option('--kubeconfig <file>', 'kubeconfig to use (default: KUBECONFIG, ~/.kube/config, or the pod’s service account)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--group <group>', 'API group under which Database and DatabaseBackup are served (env DBOP_GROUP; default: dbop.dev)')
    .option('--image <image>', 'image with dbop, for backup and restore Jobs (env DBOP_IMAGE; default: the release of this version)');
  for (const { flag, env, description } of Object.values(settings)) command.option(`--${flag} <value>`, `${description} (env ${env})`);
  return command.action((module: string | undefined, flags: Flags) => run(module, flags));
}

async function run(path: string | undefined, flags: Flags): Promise<void> {
  const { findCluster, Client, Manager, Metrics, createLog, parseRunOptions } = await import('../runtime/index.js');
  const operator = await load(path);
  const name = operator.name ?? 'dbop';
  const options = parseRunOptions(name, flags);
  const access = await findCluster({ kubeconfig: flags.kubeconfig, context: flags.context });
  const metrics = new Metrics();
  const client = new Client(access, { userAgent: name, onRequest: (request) => metrics.request(request) });
  const controllers =
    typeof operator.controllers === 'function'
      ? operator.controllers({
          client,
          metrics,
          manager: name,
          operatorNamespace: process.env.POD_NAMESPACE,
          inCluster: isInCluster(process.env),
          storeImage: flags.image ?? process.env.DBOP_IMAGE ?? `cdk8s-database-operator:${packageVersion}`,
          group: flags.group ?? process.env.DBOP_GROUP,
        })
      : operator.controllers;
  const manager = new Manager({
    name,
    client,
    controllers,
    metrics,
    log: createLog({ level: options.logLevel }),
    namespaces: options.namespaces,
    election: options.election,
    health: options.port === 0 ? undefined : { port: options.port },
    gracePeriodMs: options.gracePeriodMs,
  });
  await manager.run(stopSignal());
  await client.close();
}

/** Our own operator, or somebody's module. */
async function load(path: string | undefined): Promise<OperatorModule> {
  if (path === undefined) return import('../operator/index.js');
  // As require finds it: a folder stands for its index, which import() alone doesn't know.
  const file = createRequire(__filename).resolve(resolve(path));
  const module = (await import(file)) as Partial<OperatorModule>;
  if (module.controllers === undefined) throw new Error(`module ${file} exports no 'controllers'; export a list of controllers, or a function that makes them`);
  return { name: path.replace(/\/(index)?(\.[cm]?js)?$/, '').split('/').pop(), ...module, controllers: module.controllers };
}

/** Aborted by the first SIGTERM or SIGINT; a second one ends the process at once, as people expect. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(new Error(`received ${signal}`)));
  return stop.signal;
}
