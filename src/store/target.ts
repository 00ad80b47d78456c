/** An object in a target. */
export interface StoredObject {
  /** Path from the target's root, with `/`. */
  readonly path: string;
  readonly modifiedAt: Date;
}

/**
 * Where artifacts rest. Paths have `/` between their parts, whatever the target is.
 *
 * Guarantees: an object is seen under its path only when it is whole and durable; a writer that is killed leaves nothing
 * under that path, and what it leaves elsewhere is found by `sweep`.
 */
export interface Target {
  /** As people are told where a path is. */
  location(path: string): string;

  /** Stores what the source yields. If the source throws, nothing is stored and its error is thrown on. */
  write(path: string, source: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void>;

  /** The object's bytes; undefined when there is none. Broken connections are resumed inside. */
  read(path: string, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined>;

  /** How many bytes the object has; undefined when there is none. */
  size(path: string, signal: AbortSignal): Promise<number | undefined>;

  /** Every object under a folder, at any depth. */
  list(folder: string, signal: AbortSignal): Promise<StoredObject[]>;

  /** Removes one object; it is no error when it is gone already. */
  remove(path: string, signal: AbortSignal): Promise<void>;

  /**
   * Removes what killed writers left under a folder (never whole objects), if nobody has written to it since `quietSince`.
   * @returns what was removed
   */
  sweep(folder: string, quietSince: Date, signal: AbortSignal): Promise<string[]>;
}

/** All of a small object as text; undefined when there is none. */
export async function readText(target: Target, path: string, signal: AbortSignal): Promise<string | undefined> {
  const source = await target.read(path, signal);
  if (source === undefined) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Stores a small object. */
export async function writeText(target: Target, path: string, text: string, signal: AbortSignal): Promise<void> {
  await target.write(
    path,
    (async function* () {
      yield Buffer.from(text, 'utf8');
    })(),
    signal,
  );
}
