import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics';

/** What is asked for when somebody wants to know how a process is. Each answers with what is wrong, or nothing. */
export interface HealthChecks {
  /** Wrong only if a restart would help. */
  alive(): string | undefined;
  /** Wrong as long as this process isn't ready to do its work, or to take it over. */
  ready(): string | undefined;
}

/** Where to listen. */
export interface HealthOptions {
  /** 0 means any free port. */
  readonly port: number;
  /** @default - all addresses */
  readonly host?: string;
}

/** Serves /healthz, /readyz and /metrics. */
export class HealthServer {
  private constructor(private readonly server: Server) {}

  static async start(checks: HealthChecks, metrics: Metrics, { port, host }: HealthOptions): Promise<HealthServer> {
    const server = createServer((request, response) => {
      const answer = (status: number, body: string, contentType = 'text/plain; charset=utf-8'): void => {
        response.writeHead(status, { 'content-type': contentType }).end(body);
      };
      const verdict = (wrong: string | undefined): void => (wrong === undefined ? answer(200, 'ok\n') : answer(503, `${wrong}\n`));
      switch (request.url?.split('?')[0]) {
        case '/healthz':
          return verdict(checks.alive());
        case '/readyz':
          return verdict(checks.ready());
        case '/metrics':
          return void metrics.text().then(
            ({ contentType, body }) => answer(200, body, contentType),
            (error: unknown) => answer(500, `${String(error)}\n`),
          );
        default:
          return answer(404, 'there are /healthz, /readyz and /metrics\n');
      }
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(new Error(`cannot serve health and metrics on port ${port}: ${error.message}; choose another port`, { cause: error })));
      server.listen(port, host, resolve);
    });
    return new HealthServer(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Stops listening and closes what is open. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}
