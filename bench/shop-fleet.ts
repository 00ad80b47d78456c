import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiServer } from '../cluster/api-server';
import type { Shop } from './shop';

const shops = '/apis/bench.dbop.dev/v1';
const requestsAtOnce = 16;

/** The shops of one namespace: makes them, changes them, and sees when all are answered. */
export class ShopFleet {
  private readonly path: string;

  constructor(
    private readonly api: ApiServer,
    private readonly namespace: string,
    private readonly count: number,
  ) {
    this.path = `${shops}/namespaces/${namespace}/shops`;
  }

  /** The namespace with all its shops. */
  async create(): Promise<void> {
    await this.demand('PATCH', `/api/v1/namespaces/${this.namespace}?fieldManager=bench`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace } }, 'application/apply-patch+yaml');
    await this.each((name) => this.demand('PATCH', `${this.path}/${name}?fieldManager=bench`, { apiVersion: 'bench.dbop.dev/v1', kind: 'Shop', metadata: { name }, spec: { version: '1' } }, 'application/apply-patch+yaml'));
  }

  /** A new version for every shop. */
  async change(version: string): Promise<void> {
    await this.each((name) => this.demand('PATCH', `${this.path}/${name}`, { spec: { version } }, 'application/merge-patch+json'));
  }

  /**
   * Begins to watch; the promise inside resolves to the moment, on the clock of `performance.now()`, when the last shop's status has
   * answered this generation.
   */
  async answered(generation: number, timeoutMs: number): Promise<{ moment: Promise<number> }> {
    const list = await this.demand<{ metadata: { resourceVersion: string } }>('GET', `${this.path}?limit=1`);
    const signal = AbortSignal.timeout(timeoutMs);
    const stream = await this.api.open('GET', `${this.path}?watch=true&resourceVersion=${list.metadata.resourceVersion}`, undefined, undefined, signal);
    const missing = new Set(this.names());
    const moment = (async () => {
      let rest = '';
      stream.setEncoding('utf8');
      try {
        for await (const chunk of stream) {
          const lines = (rest + String(chunk)).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) {
            const { object } = JSON.parse(line) as { object: Shop };
            if (object.status?.observedGeneration === generation) missing.delete(object.metadata.name);
          }
          if (missing.size === 0) return performance.now();
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        stream.destroy();
      }
      throw new Error(`${missing.size} of ${this.count} shops in ${this.namespace} were not answered within ${timeoutMs / 1000} s`);
    })();
    // Whoever awaits it may be busy elsewhere when it fails.
    moment.catch(() => undefined);
    return { moment };
  }

  /** How many objects of a kind are there, to check that the work was done. */
  async countOf(collection: string): Promise<number> {
    const path = collection.replace('{namespace}', this.namespace);
    const list = await this.demand<{ items: unknown[] }>('GET', path);
    return list.items.length;
  }

  /** Takes the namespace away with all that is in it. */
  async remove(): Promise<void> {
    const path = `/api/v1/namespaces/${this.namespace}`;
    await this.demand('DELETE', path);
    while ((await this.patiently(() => this.api.request('GET', path))).status !== 404) await sleep(250);
  }

  private demand<T>(method: string, path: string, body?: unknown, contentType?: string): Promise<T> {
    return this.patiently(() => this.api.demand<T>(method, path, body, contentType));
  }

  /** Between phases connections idle so long that the API server may close one just as we use it. All that is sent here may be sent twice. */
  private async patiently<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
      return await send();
    }
  }

  private names(): string[] {
    return Array.from({ length: this.count }, (_, index) => `shop-${index}`);
  }

  private async each(work: (name: string) => Promise<unknown>): Promise<void> {
    const names = this.names().values();
    await Promise.all(
      Array.from({ length: requestsAtOnce }, async () => {
        for (const name of names) await work(name);
      }),
    );
  }
}
