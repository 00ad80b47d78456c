import { type Engine, paths } from '../engines/engine';
import type { Scheduling } from './pod-props';

/** The user that everything in a database's pods runs as; official images know it as mysql or postgres. */
const USER = 999;

/** Security of a pod that meets Pod Security "restricted". */
const podSecurity = {
  runAsNonRoot: true,
  runAsUser: USER,
  runAsGroup: USER,
  fsGroup: USER,
  // A large volume isn't walked through at every start.
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

/** Security of each of its containers. */
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const;

/** What every pod of a database has in common. */
export interface PodProps {
  readonly serviceAccountName?: string;
  readonly scheduling?: Scheduling;
  readonly imagePullSecrets?: readonly string[];
}

/** The fields of a pod that aren't its containers and volumes. */
export function podFrame({ serviceAccountName, scheduling, imagePullSecrets }: PodProps): Record<string, unknown> {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: podSecurity,
    ...(serviceAccountName !== undefined && { serviceAccountName }),
    ...(imagePullSecrets !== undefined && { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
    ...scheduling,
  };
}

/**
 * A container that hands volumes to the user that everything else runs as, or none if there is nothing to hand over.
 * It is the only one that runs as root, and may do nothing else with it.
 */
export function folderOpener(image: string, mounts: readonly Mount[]): { initContainers?: object[] } {
  if (mounts.length === 0) return {};
  const security = { ...containerSecurity, runAsUser: 0, runAsNonRoot: false, capabilities: { drop: ['ALL'], add: ['CHOWN'] } };
  const command = ['chown', `${USER}:${USER}`, ...mounts.map(({ path }) => path)];
  return { initContainers: [{ name: 'open-folders', image, command, securityContext: security, volumeMounts: mountsOf(mounts) }] };
}

/** A volume and where a container sees it. */
export interface Mount {
  readonly volume: Readonly<Record<string, unknown>> & { readonly name: string };
  readonly path: string;
  readonly readOnly?: boolean;
  readonly subPath?: string;
}

/** The volumes of some mounts, each once. */
export function volumesOf(mounts: readonly Mount[]): object[] {
  return [...new Map(mounts.map(({ volume }) => [volume.name, volume])).values()];
}

/** The mounts as a container lists them. */
export function mountsOf(mounts: readonly Mount[]): object[] {
  return mounts.map(({ volume, path, readOnly, subPath }) => ({ name: volume.name, mountPath: path, ...(readOnly === true && { readOnly }), ...(subPath !== undefined && { subPath }) }));
}

/** Scripts, configuration, and the folders that an engine's programs write to. */
export function engineMounts(engine: Engine, configMap: string): Mount[] {
  // All of it, not file by file: a release that brings another file must not change the pods.
  const config = { name: 'config', configMap: { name: configMap } };
  return [
    { volume: config, path: paths.scripts, readOnly: true },
    { volume: config, path: paths.config, readOnly: true },
    ...Object.entries(engine.files).map(([path, file]) => ({ volume: config, path, subPath: file, readOnly: true })),
    emptyDirectory('tmp', '/tmp'),
    emptyDirectory('private', paths.private, { medium: 'Memory', sizeLimit: '16Mi' }),
    ...engine.emptyDirectories.map(({ path, inMemory }) => emptyDirectory(path.slice(1).replaceAll('/', '-'), path, inMemory === true ? { medium: 'Memory' } : {})),
  ];
}

export function emptyDirectory(name: string, path: string, options: object = {}): Mount {
  return { volume: { name, emptyDir: options }, path };
}

/** Some keys of a Secret as files that only the pod's own user and group can read. */
export function secretMount(name: string, path: string, secretName: string, keys: readonly string[], optional = false): Mount {
  return { volume: { name, secret: { secretName, defaultMode: 0o440, items: itemsOf(keys), ...(optional && { optional }) } }, path, readOnly: true };
}

function itemsOf(keys: readonly string[]): object[] {
  return keys.map((key) => ({ key, path: key }));
}
