import type { DebianRecipe } from '../debian';
import type { ImageConfig } from './image-store';

/** An image that this machine can make from Debian packages, and the names under which pods ask for it. */
export interface CatalogEntry {
  readonly title: string;
  /** The first is the honest one; the others are those that walk-throughs and tests type. */
  readonly names: readonly string[];
  readonly recipe: DebianRecipe;
  readonly config: ImageConfig;
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The user that official database images run as, which manifests therefore name. */
const databaseUser = 999;

/** What every container finds besides the packages that are asked for: a shell and its tools, and what the set-up of Debian's base would have made. */
function container({ packages, adjust = [], ...release }: DebianRecipe): DebianRecipe {
  const base = ['base-files', 'base-passwd', 'dash', 'bash', 'coreutils', 'findutils', 'sed', 'grep', 'libc-bin'];
  const users = 'for list in passwd group; do cp "$1/usr/share/base-passwd/$list.master" "$1/etc/$list"; done';
  return { ...release, packages: [...base, ...packages], adjust: ['rm -rf "$1/var/run" && ln -s /run "$1/var/run"', users, ...adjust] };
}

const mysql: CatalogEntry = {
  title: 'MySQL 9.7',
  names: ['mysql:9.7', 'mysql:8.4.9', 'mysql:8.4', 'mysql:8.0', 'mysql:5.7', 'mysql:9', 'mysql:latest'],
  recipe: container({
    suite: 'sid',
    packages: ['mysql-server-core', 'mysql-client-core', 'zstd'],
    adjust: [
      ...asUser('mysql', 'var/lib/mysql', 'run/mysqld'),
      without('usr/bin/my{isam,sql_}*', 'usr/bin/mysql{check,import,show,slap}', 'usr/bin/{perror,innochecksum,ibd2sdi}', 'usr/lib/mysql/plugin/*_client.so', 'usr/share/perl', 'usr/lib/*/perl'),
    ],
  }),
  config: { Env: [`PATH=${path}`], Cmd: ['mysqld'] },
};

function postgres(major: number, release: Pick<DebianRecipe, 'suite' | 'asReleased'>, names: readonly string[]): CatalogEntry {
  return {
    title: `PostgreSQL ${major}${release.asReleased ? ', an earlier minor version' : ''}`,
    names,
    recipe: container({
      ...release,
      packages: [`postgresql-${major}`, `postgresql-client-${major}`, 'zstd'],
      adjust: [
        ...asUser('postgres', 'var/lib/postgresql', 'var/lib/postgresql/data', 'run/postgresql'),
        without('usr/lib/*/libLLVM*', 'usr/lib/*/libz3*', 'usr/lib/postgresql/*/lib/{llvmjit*,bitcode}', 'usr/share/i18n'),
      ],
    }),
    config: { Env: [`PATH=${path}:/usr/lib/postgresql/${major}/bin`, 'PGDATA=/var/lib/postgresql/data'], Cmd: ['postgres'] },
  };
}

/** What the operator's image stands on. From the newest Debian, because the operator wants zstd in node:zlib (Node.js 22.15 and up). */
const nodejs: CatalogEntry = {
  title: 'Node.js 24',
  names: ['node:24-slim', 'node:24'],
  recipe: container({ suite: 'sid', packages: ['nodejs'] }),
  config: { Env: [`PATH=${path}`], Cmd: ['node'] },
};

export const catalog: readonly CatalogEntry[] = [
  mysql,
  postgres(15, { suite: 'bookworm' }, ['postgres:15', 'postgres:15.3', 'postgres:14.2', 'postgres:14']),
  postgres(15, { suite: 'bookworm', asReleased: true }, ['postgres:15.1']),
  postgres(17, { suite: 'trixie' }, ['postgres:17', 'postgres:17.6']),
  nodejs,
];

/** Tools that no pod here runs. The nodes of every cluster unpack an image anew, so its size is paid for many times. */
function without(...paths: string[]): string {
  return `cd "$1" && rm -rf ${paths.join(' ')}`;
}

/** An account of that name, and folders of its own; the first is its home. */
function asUser(name: string, ...folders: string[]): string[] {
  return [
    `echo '${name}:x:${databaseUser}:${databaseUser}::/${folders[0]}:/bin/sh' >> "$1/etc/passwd"`,
    `echo '${name}:x:${databaseUser}:' >> "$1/etc/group"`,
    ...folders.map((folder) => `mkdir -p "$1/${folder}" && chown ${databaseUser}:${databaseUser} "$1/${folder}"`),
  ];
}
