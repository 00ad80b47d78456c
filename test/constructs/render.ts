import { App, Chart } from 'cdk8s';
import type { KubeObject } from '../../src/kind/resource';

/** What a chart with these constructs renders. */
export function rendered(build: (chart: Chart) => void, props: { namespace?: string } = {}): KubeObject[] {
  const chart = new Chart(new App(), 'test', props);
  build(chart);
  return chart.toJson() as KubeObject[];
}

/** The one object of a kind and, where there are several, of a name. */
export function find<T extends object = Record<string, never>>(objects: readonly KubeObject[], kind: string, name?: string): KubeObject & T {
  const found = objects.filter((object) => object.kind === kind && (name === undefined || object.metadata.name === name));
  if (found.length !== 1) throw new Error(`expected one ${kind} ${name ?? ''}, found ${found.length} among ${objects.map((o) => `${o.kind}/${o.metadata.name}`).join(', ')}`);
  return found[0] as KubeObject & T;
}
