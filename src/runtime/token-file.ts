import { readFile } from 'node:fs/promises';
import type { Clock } from './clock';
import type { Credential, Credentials } from './cluster-access';

/** For how long a token is used before its file is looked at again. The kubelet replaces tokens many minutes before they end. */
const FRESH_MS = 10_000;

/** A token in a file that somebody renews, as the kubelet does for service accounts. */
export class TokenFile implements Credentials {
  private read?: { readonly credential: Credential; readonly at: number };

  constructor(
    private readonly path: string,
    private readonly clock: Clock,
  ) {}

  async current(): Promise<Credential> {
    if (this.read === undefined || this.clock.monotonic() - this.read.at >= FRESH_MS) {
      this.read = { credential: { token: await this.token() }, at: this.clock.monotonic() };
    }
    return this.read.credential;
  }

  refused(): void {
    this.read = undefined;
  }

  private async token(): Promise<string> {
    let text: string;
    try {
      text = (await readFile(this.path, 'utf8')).trim();
    } catch (cause) {
      throw new Error(`cannot read the token file ${this.path}; without it the API server does not know us`, { cause });
    }
    if (text === '') throw new Error(`the token file ${this.path} is empty; without a token the API server does not know us`);
    return text;
  }
}
