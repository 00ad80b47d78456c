import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Block, type Command, blocksOf, commandsOf, isTyped } from './page';

const root = join(__dirname, '..', '..');

/** A page that is followed literally, and the namespace that the reader's kubectl is in. */
export interface Walk {
  readonly page: string;
  readonly namespace: string;
}

/**
 * The pages with commands, in the order in which one reader goes through them on one cluster. The first ones come before our own API,
 * so that `db` means theirs; the README makes the database `orders`, and the how-to pages go on with it until it is deleted safely.
 */
export const walks: readonly Walk[] = [
  { page: 'examples/example-com-database/README.md', namespace: 'default' },
  { page: 'examples/otus-mysql/README.md', namespace: 'default' },
  { page: 'docs/tutorial.md', namespace: 'default' },
  { page: 'README.md', namespace: 'shop' },
  { page: 'docs/cli.md', namespace: 'shop' },
  { page: 'docs/how-to/backup.md', namespace: 'shop' },
  { page: 'docs/how-to/restore.md', namespace: 'shop' },
  { page: 'docs/how-to/rotate-passwords.md', namespace: 'shop' },
  { page: 'docs/how-to/resize.md', namespace: 'shop' },
  { page: 'docs/how-to/gitops.md', namespace: 'shop' },
  { page: 'docs/troubleshooting.md', namespace: 'shop' },
  { page: 'docs/how-to/delete-safely.md', namespace: 'shop' },
];

/** All pages of the repository that have fenced blocks, with what is typed in them. */
export function pagesWithBlocks(): { page: string; blocks: Block[]; commands: Command[] }[] {
  const folders = ['', 'cluster', 'docs', 'docs/how-to', 'docs/reference', ...readdirSync(join(root, 'examples')).map((name) => `examples/${name}`)];
  return folders
    .flatMap((folder) => readdirSync(join(root, folder)).filter((name) => name.endsWith('.md')).map((name) => join(folder, name)))
    .map((page) => {
      const blocks = pageBlocks(page);
      return { page, blocks, commands: blocks.filter(isTyped).flatMap(commandsOf) };
    })
    .filter(({ blocks }) => blocks.length > 0);
}

/** The blocks of a page of this repository. */
export function pageBlocks(page: string): Block[] {
  return blocksOf(page, readFileSync(join(root, page), 'utf8'));
}
