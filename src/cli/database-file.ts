import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { Database, DatabaseObject } from '../api/database';
import { InvalidSpecError } from '../kind/problem';
import { apiVersionOf } from '../kind/resource';
import { Failure } from './failure';
import type { Io } from './io';

/** What a file of manifests holds for us. */
export interface DatabaseFile {
  /** Its Databases, checked, with defaults and namespace filled in. */
  readonly databases: readonly DatabaseObject[];
  /** The specs as they are written, in the same order. */
  readonly written: readonly object[];
  /** Whatever else is in it, such as `Namespace shop`. */
  readonly others: readonly string[];
}

/** How the objects of a file are read. */
export interface DatabaseFileOptions {
  readonly kind: typeof Database;
  /** Namespace that was asked for; an object of another one contradicts it. */
  readonly namespace?: string;
  /** Namespace of objects that name none. @default 'default' */
  readonly fallbackNamespace?: string;
}

/** The text of a file, or of standard input for `-`. */
export async function readManifests(file: string, io: Pick<Io, 'stdin'>): Promise<string> {
  if (file === '-') return io.stdin();
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`cannot read ${file}: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}`, { cause: error });
  });
}

/**
 * The Databases of a file of YAML or JSON: several documents, or a List as `kubectl get -o yaml` prints it.
 * @throws with every problem of every object
 */
export function parseDatabases(text: string, source: string, options: DatabaseFileOptions): DatabaseFile {
  const { kind } = options;
  const objects = documents(text, source);
  const ours = objects.filter((object) => object.kind === kind.kind && object.apiVersion === apiVersionOf(kind));
  if (ours.length === 0) throw new Failure(`${source} holds no ${kind.kind} of ${apiVersionOf(kind)}${objects.length === 0 ? ': it is empty' : `, but ${objects.map(naming).join(', ')}`}`);
  const problems: string[] = [];
  const databases = ours.flatMap((object) => {
    try {
      return [checked(object, source, options)];
    } catch (error) {
      if (!(error instanceof InvalidSpecError)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  if (problems.length > 0) throw new InvalidSpecError(problems);
  return { databases, written: ours.map(({ spec }) => spec as object), others: objects.filter((object) => !ours.includes(object)).map(naming) };
}

interface Written {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> };
  readonly spec?: unknown;
  readonly items?: readonly Written[];
}

function documents(text: string, source: string): Written[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Failure(`${source} is not YAML: ${problem.message.split('\n')[0]}`);
    const value: unknown = document.toJS();
    if (value === null) return [];
    if (typeof value !== 'object' || Array.isArray(value)) throw new Failure(`${source} holds something that is no Kubernetes object`);
    const object = value as Written;
    return object.kind === 'List' ? (object.items ?? []) : [object];
  });
}

function checked({ metadata, spec }: Written, source: string, { kind, namespace: wanted, fallbackNamespace = 'default' }: DatabaseFileOptions): DatabaseObject {
  const name = metadata?.name;
  if (typeof name !== 'string' || name === '') throw new InvalidSpecError([`${source}: 'metadata.name' of a ${kind.kind} is missing; give it a name`]);
  const namespace = metadata?.namespace ?? wanted ?? fallbackNamespace;
  const where = `${namespace}/${name}`;
  if (wanted !== undefined && namespace !== wanted) throw new InvalidSpecError([`${where}: its namespace is not the one that was asked for (-n ${wanted}); leave one of the two out`]);
  kind.checkName(name, where);
  const { labels, annotations } = metadata ?? {};
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: kind.check(spec, where),
  };
}

function naming({ kind, apiVersion, metadata }: Written): string {
  return `${kind ?? 'something without a kind'} ${metadata?.name ?? ''}${kind === 'Database' ? ` (${apiVersion})` : ''}`.trim();
}
