import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { Database as ExampleDatabase } from '../../examples/example-com-database/kind';
import { Database } from '../../src/api/database';
import { DatabaseBackup } from '../../src/api/database-backup';
import { runCommand } from '../../src/cli/run';
import type { Kind } from '../../src/kind/define-kind';
import { apiVersionOf } from '../../src/kind/resource';
import type { StructuralSchema } from '../../src/kind/structural-schema';
import { settings } from '../../src/runtime/options';

const root = join(__dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const filesUnder = (folder: string, ending: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

/** docs/api is made by typedoc, which checks its own links. */
const pages = ['README.md', ...filesUnder('docs', '.md'), ...filesUnder('examples', '.md')].filter((path) => !path.startsWith(join('docs', 'api')));
const reference = (name: string) => read(join('docs', 'reference', `${name}.md`));

/** What the first cells of a page's tables name. */
const namedIn = (page: string) => [...page.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
const found = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, ...groups]) => groups.find((group) => group !== undefined)!))];
const missingFrom = (page: string, names: readonly string[]) => names.filter((name) => !page.includes(`\`${name}\``));

const sources = (folder: string) => filesUnder(folder, '.ts').map(read).join('\n');
const operator = sources('src/operator');
const runtime = sources('src/runtime');

test.each(pages)('every relative link of %s leads to a file', (page) => {
  const prose = read(page).replace(/^```[\s\S]*?^```/gm, '');
  const links = found(prose, /\]\(([^)\s]+)\)/g).filter((link) => !/^([a-z]+:|#)/.test(link));
  const broken = links.filter((link) => !existsSync(join(root, dirname(page), link.replace(/#.*/, ''))));
  expect(broken).toEqual([]);
});

test('the index of the docs leads to every page', () => {
  const index = read('docs/README.md');
  const others = pages.filter((page) => page.startsWith('docs') && page !== join('docs', 'README.md')).map((page) => relative('docs', page));
  expect(others.filter((page) => !index.includes(`(${page})`))).toEqual([]);
});

test('every reason of a condition that the operator can tell is documented', () => {
  const told = found(operator, /\b(?:told|wait|stuck|Terminal)\(\s*(?:'(?:wait|stuck)',\s*)?'([A-Z][A-Za-z]+)'|\breason: '([A-Z][A-Za-z]+)'/g);
  const thrown = found(runtime, /new Terminal\(\s*'([A-Z][A-Za-z]+)'/g);
  expect(told).toEqual(expect.arrayContaining(['FinalBackupFailed', 'AccountsLost', 'Hibernated', 'Unschedulable', 'BackupFailed']));
  expect(missingFrom(reference('conditions'), [...told, ...thrown])).toEqual([]);
});

test('every Event of something done is documented', () => {
  const sent = found(operator, /\bevent\('(?:Normal|Warning)', '([A-Z][A-Za-z]+)'/g);
  expect(sent).toContain('PasswordChanged');
  expect(namedIn(reference('events')).filter((name) => /^[A-Z]/.test(name)).sort()).toEqual(sent.sort());
});

test('every act that leaves an audit line is documented', () => {
  const acts = found(operator, /\baudit\('([a-z-]+)'/g);
  expect(acts).toContain('password-changed');
  expect(namedIn(reference('events')).filter((name) => /^[a-z]/.test(name)).sort()).toEqual(acts.sort());
});

test('every documented reason is one that the code has', () => {
  const source = sources('src');
  expect(namedIn(reference('conditions')).filter((reason) => !source.includes(`'${reason}'`))).toEqual([]);
});

test('every flag and variable of the operator is documented, and no other flag', () => {
  const flags = runCommand().options.map((option) => option.long!);
  const documented = namedIn(reference('flags'));
  expect(documented.filter((name) => name.startsWith('--')).sort()).toEqual(flags.sort());
  expect(missingFrom(reference('flags'), Object.values(settings).map(({ env }) => env))).toEqual([]);
});

test('every metric that is registered is documented, and no other', () => {
  const registered = found(sources('src'), /\b(?:counter|gauge|histogram)\('([a-z_]+)'|new (?:Counter|Gauge|Histogram)\(\{ name: '([a-z_]+)'/g);
  expect(namedIn(reference('metrics')).sort()).toEqual(registered.sort());
});

describe.each<[string, Kind]>([['database', Database], ['database-backup', DatabaseBackup]])('the reference of %s', (page, kind) => {
  const [spec = '', status = ''] = reference(page).split('\n## Spec\n')[1]!.split('\n## Status\n');
  const schema = kind.crd().spec.versions[0]!.schema.openAPIV3Schema.properties!;

  test.each([['spec', spec], ['status', status]] as const)('names every field of the %s, and no other', (part, text) => {
    expect(namedIn(text).sort()).toEqual(fieldsOf(schema[part]!).sort());
  });
});

const kinds: readonly Kind[] = [Database, DatabaseBackup, ExampleDatabase];
const blocksOf = (page: string) => [...read(page).matchAll(/^```yaml[^\n]*\n([\s\S]*?)^```/gm)].map(([, text]) => text!);
const examples = pages.flatMap((page) =>
  blocksOf(page)
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as { apiVersion?: string; kind?: string; metadata: { name: string }; spec: unknown }))
    .filter((object) => kinds.some((kind) => kind.kind === object.kind))
    .map((object) => ({ page, object, kind: kinds.find((candidate) => candidate.kind === object.kind && apiVersionOf(candidate) === object.apiVersion) })),
);

test.each(examples)('$object.kind $object.metadata.name in $page passes the checks of its kind', ({ page, kind, object }) => {
  if (kind === undefined) throw new Error(`${page}: no kind is served as ${object.apiVersion} ${object.kind}`);
  const where = `${page}: ${object.metadata.name}`;
  kind.checkName(object.metadata.name, where);
  expect(kind.check(object.spec, where)).toBeDefined();
});

/** The paths of all fields of a schema; what a list holds is left to its own description. */
function fieldsOf({ properties = {} }: StructuralSchema): string[] {
  return Object.entries(properties).flatMap(([name, inner]) => [name, ...fieldsOf(inner).map((field) => `${name}.${field}`)]);
}
