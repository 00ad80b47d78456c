import { Writable } from 'node:stream';
import pc from 'picocolors';
import { pino, type Level, type Logger } from 'pino';

/** Options of {@link createLog}. */
export interface LogOptions {
  /** @default 'info' */
  readonly level?: Level | 'silent';
  /**
   * Where lines go.
   * @default - standard output
   */
  readonly to?: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Logs as JSON, one line each; for people when they go to a terminal. */
export function createLog({ level = 'info', to = process.stdout }: LogOptions = {}): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, to.isTTY === true ? pretty(to) : to);
}

const colours: Record<string, (text: string) => string> = { trace: pc.gray, debug: pc.gray, info: pc.green, warn: pc.yellow, error: pc.red, fatal: pc.red };

/** A stream that turns each line of JSON into one for people: time, level, message, then the rest as name=value. */
function pretty(to: NodeJS.WritableStream): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, written) {
      for (const line of chunk.toString().split('\n').filter(Boolean)) to.write(`${forPeople(line)}\n`);
      written();
    },
  });
}

function forPeople(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as { time: string; level: string; msg?: string; err?: { message: string; stack?: string } };
  const fields = Object.entries(rest).map(([name, value]) => pc.dim(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`));
  const colour = colours[level] ?? String;
  const text = [pc.dim(time.slice(11, 23)), colour(level.toUpperCase().padEnd(5)), msg ?? '', ...fields].join(' ');
  return err === undefined ? text : `${text}\n  ${pc.red(err.stack ?? err.message)}`;
}
