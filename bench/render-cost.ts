import { performance } from 'node:perf_hooks';
import { ApiObject } from 'cdk8s';
import { DatabaseServer, type DatabaseServerProps } from '../src';
import { render } from '../src/runtime';
import { childrenOf } from './children';

/** What rendering costs, by what is rendered. */
export type RenderCost = readonly {
  readonly what: string;
  readonly children: number;
  /** One sample a batch. */
  readonly msPerChild: readonly number[];
}[];

const batches = 9;
const rendersPerBatch = 200;

/** Renders over and over, as a reconcile does: with an app of its own each time. */
export function renderCost(): RenderCost {
  return [
    cost('raw ApiObjects of the benchmark', (chart) => {
      for (const child of childrenOf('shop', '1')) new ApiObject(chart, `${child.kind}-${child.metadata.name}`, child);
    }),
    ...servers.map(([what, props]) => cost(what, (chart) => void new DatabaseServer(chart, 'server', props))),
  ];
}

function cost(what: string, build: Parameters<typeof render>[0]): RenderCost[number] {
  const children = render(build).length;
  const batch = (): number => {
    const started = performance.now();
    for (let count = 0; count < rendersPerBatch; count++) render(build);
    return (performance.now() - started) / rendersPerBatch / children;
  };
  // The first batch warms the compiler up.
  batch();
  return { what, children, msPerChild: Array.from({ length: batches }, batch) };
}

const servers: readonly (readonly [string, DatabaseServerProps])[] = [
  ['DatabaseServer, MySQL with scheduled backups', server('mysql', '8.4')],
  ['DatabaseServer, PostgreSQL with scheduled backups', server('postgres', '17')],
];

function server(engine: DatabaseServerProps['engine'], version: string): DatabaseServerProps {
  return {
    name: 'orders',
    namespace: 'shop',
    engine,
    version,
    data: { size: '10Gi' },
    backup: { schedule: { cron: '0 3 * * *' }, target: { volume: { claimName: 'orders-backup' } }, storeImage: 'cdk8s-database-operator:bench' },
  };
}
