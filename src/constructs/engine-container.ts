import type { Engine } from '../engines/engine';
import { containerSecurity, engineMounts, type Mount, mountsOf } from './database-pod';
import type { Resources } from './pod-props';

/** What a Job's engine container has unless it is told otherwise: enough for the throw-away server. */
const defaultResources: Resources = { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } };

export interface EngineContainerProps {
  readonly engine: Engine;
  readonly image: string;
  readonly configMap: string;
  readonly script: 'backup.sh' | 'restore.sh';
  readonly env?: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly resources?: Resources;
}

/** The container of a Job that has the database's own programs, and all of its mounts. */
export function engineContainer({ engine, image, configMap, script, env = {}, mounts, resources = defaultResources }: EngineContainerProps): { container: object; mounts: Mount[] } {
  const all = [...engineMounts(engine, configMap), ...mounts];
  const container = {
    name: 'engine',
    image,
    command: ['sh', `/dbop/scripts/${script}`],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    resources,
    securityContext: containerSecurity,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: mountsOf(all),
  };
  return { container, mounts: all };
}
