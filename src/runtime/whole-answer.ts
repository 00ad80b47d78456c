import type { Dispatcher } from 'undici';

/** An answer that has been read to its end. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * Sends a request and reads its answer whole. What `pool.request()` does on top, a stream for the body, would cost a controller more than
 * all its own work on an object.
 */
export function wholeAnswer(pool: Dispatcher, options: Dispatcher.DispatchOptions, signal?: AbortSignal): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    pool.dispatch(options, new Reading(signal, resolve, reject));
  });
}

class Reading implements Dispatcher.DispatchHandler {
  private status = 0;
  private headers: WholeAnswer['headers'] = {};
  private readonly chunks: Buffer[] = [];
  private controller: Dispatcher.DispatchController | undefined;

  constructor(
    private readonly signal: AbortSignal | undefined,
    private readonly resolve: (answer: WholeAnswer) => void,
    private readonly reject: (error: Error) => void,
  ) {
    signal?.addEventListener('abort', this.abort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.signal?.aborted === true) this.abort();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: WholeAnswer['headers']): void {
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.signal?.removeEventListener('abort', this.abort);
    const [first, ...others] = this.chunks;
    const body = others.length === 0 ? first : Buffer.concat(this.chunks);
    this.resolve({ status: this.status, headers: this.headers, text: body?.toString('utf8') ?? '' });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.signal?.removeEventListener('abort', this.abort);
    this.reject(error);
  }

  /** Ends the call at once, even while the request waits for a connection; if it ever gets one, it ends there too. */
  private readonly abort = (): void => {
    const reason = this.signal?.reason as Error;
    this.controller?.abort(reason);
    this.reject(reason);
  };
}
