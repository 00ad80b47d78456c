import { performance } from 'node:perf_hooks';
import { ApiObject } from 'cdk8s';
import { DatabaseServer, type DatabaseServerProps } from '../src/constructs/database-server';
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
  const shop = childrenOf('shop', '1');
  return [
    cost('raw ApiObjects of the benchmark', (chart) => {
      for (const child of shop) new ApiObject(chart, `${child.kind}-${child.metadata.name}`, child);
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

const servers: readonly (readonly [string, DatabaseServerProps])[] = [];
