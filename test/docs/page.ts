/** A fenced block of a Markdown page. */
export interface Block {
  /** Where it begins, such as `docs/tutorial.md:17`. */
  readonly where: string;
  /** First word after the fence: `sh`, `console`, `yaml`, `text` … */
  readonly language: string;
  /** Second word after the fence: the file that a reader would put the block into. */
  readonly file?: string;
  readonly text: string;
}

/** Something that a reader types, and what the page says will be seen. */
export interface Command {
  readonly where: string;
  readonly line: string;
  /** Lines of output; undefined where the page shows none. */
  readonly shown?: string;
}

/** The fenced blocks of a page, in order. */
export function blocksOf(page: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { where: string; info: string[]; lines: string[] } | undefined;
  markdown.split('\n').forEach((line, index) => {
    const fence = /^```(.*)$/.exec(line);
    if (open === undefined) {
      if (fence !== null) open = { where: `${page}:${index + 1}`, info: fence[1]!.split(' ').filter(Boolean), lines: [] };
    } else if (fence === null) {
      open.lines.push(line);
    } else {
      blocks.push({ where: open.where, language: open.info[0] ?? '', file: open.info[1], text: open.lines.map((text) => `${text}\n`).join('') });
      open = undefined;
    }
  });
  if (open !== undefined) throw new Error(`${open.where}: the block is never closed`);
  return blocks;
}

/** Whether a reader types what stands in this block. */
export function isTyped({ language }: Block): boolean {
  return language === 'sh' || language === 'console';
}

/**
 * What is typed: of `sh` the whole block as one script; of `console` each line after a `$`, with those after a `>` that go on with it,
 * and the lines below as what is seen.
 */
export function commandsOf(block: Block): Command[] {
  if (block.language === 'sh') return [{ where: block.where, line: block.text }];
  const commands: { where: string; line: string; shown?: string }[] = [];
  for (const text of block.text.split('\n').slice(0, -1)) {
    const last = commands.at(-1);
    if (text.startsWith('$ ')) commands.push({ where: block.where, line: text.slice(2) });
    else if (last === undefined) throw new Error(`${block.where}: output before any command; a line that is typed begins with '$ '`);
    else if (text.startsWith('> ') && last.shown === undefined) last.line += `\n${text.slice(2)}`;
    else last.shown = `${last.shown ?? ''}${text}\n`;
  }
  return commands;
}
