import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './command';

/** One certificate: whom it names, and for a server the addresses it may answer on. */
export interface Identity {
  readonly name: string;
  readonly user: string;
  readonly groups?: readonly string[];
  readonly hosts?: readonly string[];
}

/** The cluster's authority and what it has signed, as PEM files in one folder. */
export class Certificates {
  public constructor(
    private readonly folder: string,
    private readonly pki: string,
  ) {}

  public get authority(): string {
    return join(this.folder, 'ca.crt');
  }

  /** Issues what is missing. A server whose addresses changed needs `renew`. */
  public async ensure(identities: readonly Identity[], renew = false): Promise<void> {
    const wanted = identities.filter(({ name }) => renew || !existsSync(this.certificate(name)));
    if (wanted.length === 0) return;
    await run(this.pki, ['-dir', this.folder, ...wanted.flatMap((identity) => ['-issue', describe(identity)])]);
  }

  public certificate(name: string): string {
    return join(this.folder, `${name}.crt`);
  }

  public key(name: string): string {
    return join(this.folder, `${name}.key`);
  }

  /** Writes a kubeconfig, readable by its owner only, by which `name` reaches the API server. */
  public writeKubeconfig(file: string, name: string, server: string, context: string): void {
    const data = (path: string): string => readFileSync(path).toString('base64');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': context,
      clusters: [{ name: context, cluster: { server, 'certificate-authority-data': data(this.authority) } }],
      users: [{ name: context, user: { 'client-certificate-data': data(this.certificate(name)), 'client-key-data': data(this.key(name)) } }],
      contexts: [{ name: context, context: { cluster: context, user: context } }],
    };
    // JSON is YAML, and every reader of kubeconfigs takes it.
    const text = `${JSON.stringify(config, undefined, 2)}\n`;
    if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
    // By rename: somebody may be reading it.
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
}

function describe(identity: Identity): string {
  const parts = [`name=${identity.name}`, `cn=${identity.user}`];
  for (const group of identity.groups ?? []) parts.push(`org=${group}`);
  for (const host of identity.hosts ?? []) parts.push(`host=${host}`);
  return parts.join(',');
}
