/** Tells a person what is being done, for how long it usually takes, and how long it took. */
export interface Progress {
  step<T>(what: string, usually: string, work: () => Promise<T>): Promise<T>;
  note(text: string): void;
}

/** How often a step that takes long says that it is still alive, when the output is no terminal. */
const heartbeatMs = 60_000;

/** Progress on standard error, so that standard output stays for what a command is asked for. */
export class TerminalProgress implements Progress {
  public async step<T>(what: string, usually: string, work: () => Promise<T>): Promise<T> {
    const started = Date.now();
    const seconds = (): string => `${((Date.now() - started) / 1000).toFixed(1)} s`;
    this.show(`… ${what} (usually ${usually})`, true);
    const timer = process.stderr.isTTY
      ? setInterval(() => this.show(`… ${what} (usually ${usually}): ${seconds()}`, true), 1000)
      : setInterval(() => this.note(`… ${what}: ${seconds()} so far`), heartbeatMs);
    try {
      const result = await work();
      this.show(`✓ ${what}: ${seconds()}`, false);
      return result;
    } catch (error) {
      this.show(`✗ ${what}: failed after ${seconds()}`, false);
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  public note(text: string): void {
    this.show(text, false);
  }

  private show(text: string, transient: boolean): void {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}${transient ? '' : '\n'}`);
    else process.stderr.write(`${text}\n`);
  }
}

/** For callers that show nothing, such as a second look at what is there already. */
export const silent: Progress = {
  step: (_what, _usually, work) => work(),
  note: () => undefined,
};
