/** What an engine's scanner does with the text. */
export interface TextScan {
  /** Rows by table. */
  readonly rows: Map<string, number>;
  /** The position that the dump names. */
  position?: string;
  /** The next bytes, cut anywhere. */
  push(chunk: Buffer): void;
}
