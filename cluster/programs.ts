import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from './command';
import { cacheFolder, sourceFolder } from './folders';
import { withLock } from './lock';
import type { Progress } from './progress';

/** The Kubernetes that the test bed runs. */
const kubernetesVersion = 'v1.34.4';

/** A Go module of the test bed, and the programs it makes. */
interface Module {
  readonly folder: string;
  /** Each in a folder of its name. */
  readonly programs: readonly string[];
  /** Of all its programs on two cores, with an empty Go cache. */
  readonly usually: string;
}

const modules: readonly Module[] = [
  { folder: 'kubernetes', programs: ['kube', 'kubectl', 'pki', 'dns', 'pause', 'volumes', 'policies', 'registry'], usually: '7 min the first time' },
  { folder: 's3', programs: ['versitygw'], usually: '1 min the first time' },
];

export const programNames = ['kube', 'kubectl', 'pki', 'dns', 'pause', 'volumes', 'policies', 'registry', 'versitygw'] as const;
export type ProgramName = (typeof programNames)[number];

/**
 * The paths of programs built from Go source, built now where the cache lacks them.
 * The cache is keyed by the content of each program's sources and of its module's go.mod and go.sum.
 */
export async function programs<N extends ProgramName>(names: readonly N[], progress: Progress): Promise<Record<N, string>> {
  for (const module of modules) {
    const wanted = module.programs.filter((program) => (names as readonly string[]).includes(program));
    if (missing(module, wanted).length === 0) continue;
    await withLock(
      cacheFolder('programs', module.folder),
      () => build(module, missing(module, wanted), progress),
      (holder) => progress.note(`… process ${holder} is building the programs; waiting for it`),
    );
  }
  return Object.fromEntries(names.map((name) => [name, pathOf(moduleOf(name), name)])) as Record<N, string>;
}

async function build(module: Module, wanted: readonly string[], progress: Progress): Promise<void> {
  if (wanted.length === 0) return;
  const out = cacheFolder('programs', `.building-${process.pid}`);
  mkdirSync(out, { recursive: true });
  try {
    await progress.step(`building ${wanted.join(', ')} from Go source`, module.usually, () =>
      run('go', ['build', '-trimpath', ...buildFlags, '-o', `${out}/`, ...wanted.map((program) => `./${program}`)], {
        cwd: moduleFolder(module),
        // Hardly any package needs a gigabyte: below that, collecting garbage would cost a fifth of the compiler's time.
        env: { CGO_ENABLED: '0', GOGC: 'off', GOMEMLIMIT: '1GiB', GOFLAGS: '-buildvcs=false' },
        nice: true,
      }),
    );
    for (const program of wanted) {
      mkdirSync(dirname(pathOf(module, program)), { recursive: true });
      renameSync(join(out, program), pathOf(module, program));
    }
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/**
 * No debug information: nobody steps through the API server here, and the linker takes half the time.
 * One thread for each compiler: there are always more packages than processors.
 */
const buildFlags = ['-gcflags=all=-dwarf=false -c=1', '-ldflags', ['-s', '-w', ...versionFlags()].join(' ')];

function versionFlags(): string[] {
  const [major, minor] = kubernetesVersion.slice(1).split('.');
  const variables = { gitVersion: kubernetesVersion, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((holder) =>
    Object.entries(variables).map(([name, value]) => `-X ${holder}.${name}=${value}`),
  );
}

function missing(module: Module, wanted: readonly string[]): string[] {
  return wanted.filter((program) => !existsSync(pathOf(module, program)));
}

function moduleOf(program: string): Module {
  return modules.find((module) => module.programs.includes(program))!;
}

function pathOf(module: Module, program: string): string {
  // A folder each, so that the file has the program's own name: it shows in process lists and user agents.
  return cacheFolder('programs', `${program}-${keyOf(module, program)}`, program);
}

/** What the program is made of; a different key is a different program. */
function keyOf(module: Module, program: string): string {
  const hash = createHash('sha256').update(buildFlags.join());
  const folder = moduleFolder(module);
  const own = readdirSync(join(folder, program)).sort().map((name) => join(program, name));
  for (const file of ['go.mod', 'go.sum', ...own]) {
    hash.update(file).update(readFileSync(join(folder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

function moduleFolder(module: Module): string {
  return sourceFolder('programs', module.folder);
}
