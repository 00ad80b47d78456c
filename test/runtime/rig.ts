import { Writable } from 'node:stream';
import { z } from 'zod';
import { defineKind, type Kind, type ObjectOf } from '../../src/kind/define-kind';
import { conditions } from '../../src/kind/fields';
import { builtin, type Condition, type KubeObject, type ResourceType } from '../../src/kind/resource';
import { Client, conditionOf, controller, createLog, done, findCluster, Manager, type Context, type Controller, type ManagerOptions } from '../../src/runtime';
import { FaultProxy } from '../support/fault-proxy';
import type { ProxiedRequest } from '../support/fault';
import type { TestCluster } from '../support/test-cluster';
import { waitFor, type AnyObject } from '../support/wait-for';
import { eightChildren } from './children';

/** The kind that tests of the runtime reconcile. Each test file has a group of its own, so that files don't meet in one cluster. */
export function basketKind(group: string) {
  return defineKind({
    group,
    version: 'v1',
    kind: 'Basket',
    spec: z.object({ comment: z.string().default('one'), size: z.string().default('1Gi') }),
    status: z.object({ observedGeneration: z.int().optional(), phase: z.string().optional(), conditions: conditions().optional() }),
  });
}

export type BasketKind = ReturnType<typeof basketKind>;
export type Basket = ObjectOf<BasketKind>;

/** The kinds of the eight children. */
const eightKinds: ResourceType[] = [builtin.Secret, builtin.ConfigMap, builtin.Service, builtin.StatefulSet, builtin.CronJob, builtin.PodDisruptionBudget, builtin.NetworkPolicy];

/** A controller that gives each basket eight children; `more` overrides. */
export function basketController(kind: BasketKind, more: Partial<Controller<BasketKind>> = {}): Controller<BasketKind> {
  return controller({
    kind,
    owns: eightKinds,
    backoff: { initialMs: 20, maxMs: 200 },
    async reconcile(context: Context<BasketKind>) {
      await context.apply(eightChildren(context.object.metadata.name, { comment: context.object.spec.comment }), { set: 'all' });
      return done({ phase: 'Running' });
    },
    ...more,
  });
}

/** Makes a kind known to the cluster, and waits until it is served. */
export async function install(cluster: TestCluster, kind: Kind): Promise<void> {
  await cluster.apply(kind.crd());
  const target = { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions', name: `${kind.plural}.${kind.group}` };
  await waitFor(cluster, target, (crd) => conditionOf((crd?.status as { conditions?: Condition[] } | undefined)?.conditions, 'Established')?.status === 'True', { what: 'Established' });
}

export function basket(kind: BasketKind, namespace: string, name: string, spec: Partial<Basket['spec']> = {}): object {
  return { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata: { name, namespace }, spec };
}

/** A manager behind a fault proxy. */
export class Rig {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  private constructor(
    readonly proxy: FaultProxy,
    readonly client: Client,
    readonly manager: Manager,
    /** What the manager logged, line by line. */
    readonly lines: readonly Record<string, unknown>[],
    private readonly ownsProxy: boolean,
  ) {}

  static async start(cluster: TestCluster, controllers: readonly Controller[], options: Partial<ManagerOptions> & { proxy?: FaultProxy } = {}): Promise<Rig> {
    const { proxy: given, ...more } = options;
    const proxy = given ?? (await FaultProxy.start(cluster.api.access));
    const client = new Client(await findCluster({ kubeconfig: proxy.kubeconfig }));
    const lines: Record<string, unknown>[] = [];
    const to = new Writable({
      write(chunk: Buffer, _encoding, written) {
        lines.push(...chunk.toString().split('\n').filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>));
        written();
      },
    });
    const manager = new Manager({ name: 'rig', client, controllers, log: createLog({ level: 'debug', to }), gracePeriodMs: 2_000, ...more });
    const rig = new Rig(proxy, client, manager, lines, given === undefined);
    rig.running = manager.run(rig.stopping.signal);
    return rig;
  }

  /** Stops the manager as SIGTERM does, and closes what it used. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the test is over'));
    await this.running;
    await this.client.close();
    if (this.ownsProxy) await this.proxy.close();
  }

  /** Writes that reached for the objects of a test, without Events. */
  writes(filter: (request: ProxiedRequest) => boolean = () => true): string[] {
    return this.proxy
      .writes()
      .filter((request) => !request.path.includes('/events') && filter(request))
      .map(({ method, path }) => `${method} ${path.split('/').slice(-2).join('/')}`);
  }
}

/** Waits until an object's Ready condition is as wanted for its present generation. */
export function untilReady(cluster: TestCluster, kind: Kind, namespace: string, name: string, status: Condition['status'] = 'True', reason?: string): Promise<AnyObject> {
  const target = { apiVersion: `${kind.group}/${kind.version}`, resource: kind.plural, namespace, name };
  const isSo = (object: AnyObject | undefined): boolean => {
    const ready = readyOf(object);
    return ready?.status === status && ready.observedGeneration === object?.metadata.generation && (reason === undefined || ready.reason === reason);
  };
  return waitFor(cluster, target, isSo, { what: `Ready ${status}${reason === undefined ? '' : ` (${reason})`}` });
}

export function readyOf(object: (KubeObject & { status?: unknown }) | undefined): Condition | undefined {
  return conditionOf((object?.status as { conditions?: Condition[] } | undefined)?.conditions, 'Ready');
}
