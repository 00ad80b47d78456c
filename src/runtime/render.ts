import { App, Chart } from 'cdk8s';
import type { KubeObject } from '../kind/resource';

/**
 * The objects that `build` puts into a chart, as JSON, in the order in which they depend on each other.
 *
 * Guarantees: each call has an app of its own, because one that is shared keeps every construct for ever; nothing touches the disk.
 */
export function render(build: (chart: Chart) => void): KubeObject[] {
  const chart = new Chart(new App(), 'render', { disableResourceNameHashes: true });
  build(chart);
  return chart.toJson() as KubeObject[];
}
