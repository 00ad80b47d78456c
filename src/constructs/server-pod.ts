import { accountKeys, applicationKeys, type Engine, paths } from '../engines/engine';
import { labelsOf } from './database-labels';
import { containerSecurity, engineMounts, folderOpener, type Mount, mountsOf, podFrame, secretMount, volumesOf } from './database-pod';
import type { DatabaseServerProps } from './database-server-props';
import { fingerprint } from './fingerprint';
import type { Resources } from './pod-props';
import type { ServerNames } from './server-names';

/** Changes when a setting changes that only a restart brings to the server; the pods then follow by themselves. */
const RESTART_ANNOTATION = 'dbop.dev/restart-parameters';

export interface ServerPodProps extends Omit<DatabaseServerProps, 'names' | 'engine' | 'resources'> {
  readonly names: ServerNames;
  readonly engine: Engine;
  readonly resources: Resources;
  /** Claim that the pod names itself; undefined when a StatefulSet gives it one. */
  readonly claim?: string;
}

/** The template of a server's pods. */
export function serverPod(props: ServerPodProps): object {
  const { engine, names } = props;
  const mounts = serverMounts(props);
  const inTemplate = mounts.filter(({ volume }) => props.claim !== undefined || volume.name !== 'data');
  return {
    metadata: {
      labels: { ...props.labels, ...props.podLabels, ...labelsOf(props.name, 'server', engine.name) },
      annotations: { ...props.podAnnotations, ...restartAnnotation(props) },
    },
    spec: {
      ...podFrame({ serviceAccountName: names.serviceAccount, scheduling: props.scheduling, imagePullSecrets: props.imagePullSecrets }),
      // A large cache takes its time to reach the disk.
      terminationGracePeriodSeconds: 120,
      ...folderOpener(props.image ?? engine.image(props.version), props.data.openFolder === true ? mounts.filter(({ volume }) => volume.name === 'data') : []),
      containers: [container(props, mounts)],
      volumes: volumesOf(inTemplate),
    },
  };
}

function container({ engine, names, image, version, resources, closed = false }: ServerPodProps, mounts: readonly Mount[]): object {
  const probe = { exec: { command: ['sh', `${paths.scripts}/ready.sh`] }, timeoutSeconds: 5 };
  return {
    name: 'server',
    image: image ?? engine.image(version),
    command: ['sh', `${paths.scripts}/start.sh`, ...(closed ? ['closed'] : [])],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'WORKLOAD_NAME', value: names.workload },
    ],
    ports: [{ name: engine.name, containerPort: engine.port }],
    resources,
    securityContext: containerSecurity,
    // Recovery after a crash may take hours; no liveness probe, because a server that is busy would be killed when it is needed most.
    startupProbe: { ...probe, periodSeconds: 1, failureThreshold: 6 * 3600 },
    readinessProbe: { ...probe, periodSeconds: 5, failureThreshold: 3 },
    lifecycle: { preStop: { exec: { command: ['sh', `${paths.scripts}/stop.sh`] } } },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: mountsOf(mounts),
  };
}

function serverMounts({ engine, names, claim, tlsSecret }: ServerPodProps): Mount[] {
  return [
    { volume: { name: 'data', ...(claim !== undefined && { persistentVolumeClaim: { claimName: claim } }) }, path: paths.data },
    ...engineMounts(engine, names.configMap),
    secretMount('accounts', paths.accounts, names.accountsSecret, Object.values(accountKeys)),
    secretMount('application', paths.application, names.applicationSecret, Object.values(applicationKeys)),
    ...(tlsSecret === undefined ? [] : [secretMount('tls', paths.tls, tlsSecret, ['tls.crt', 'tls.key', 'ca.crt'])]),
  ];
}

function restartAnnotation({ engine, parameters = {}, version }: ServerPodProps): Record<string, string> {
  const needed = engine.restartParameters(parameters, version);
  const names = Object.keys(needed).sort();
  return names.length === 0 ? {} : { [RESTART_ANNOTATION]: fingerprint(JSON.stringify(names.map((name) => [name, String(needed[name])]))) };
}
