import type { KubeObject } from '../kind/resource';

/** How a child fares, in a few words; empty for kinds that only are. */
export function childState(child: KubeObject): string {
  const { spec, status } = child as AnyChild;
  switch (child.kind) {
    case 'StatefulSet':
    case 'Deployment':
      return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1} ready`;
    case 'PersistentVolumeClaim':
      return [status?.phase ?? 'Pending', status?.capacity?.storage ?? spec?.resources?.requests?.storage].filter(Boolean).join(', ');
    case 'Service':
      return [spec?.clusterIP === 'None' ? 'headless' : spec?.clusterIP, spec?.ports?.map(({ port }) => `port ${port}`).join(' ')].filter(Boolean).join(', ');
    case 'CronJob':
      return [spec?.schedule, spec?.suspend === true ? 'suspended' : undefined, status?.lastScheduleTime && `last ${status.lastScheduleTime}`].filter(Boolean).join(', ');
    case 'Job':
      return jobState(status);
    case 'PodDisruptionBudget':
      return `${status?.disruptionsAllowed ?? 0} disruptions allowed`;
    default:
      return '';
  }
}

/** The fields that tell, of whichever kind. */
interface AnyChild {
  readonly spec?: {
    readonly replicas?: number;
    readonly resources?: { readonly requests?: { readonly storage?: string } };
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly port: number }[];
    readonly schedule?: string;
    readonly suspend?: boolean;
  };
  readonly status?: {
    readonly readyReplicas?: number;
    readonly phase?: string;
    readonly capacity?: { readonly storage?: string };
    readonly lastScheduleTime?: string;
    readonly disruptionsAllowed?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

function jobState(status: AnyChild['status']): string {
  const condition = (type: string) => status?.conditions?.find((candidate) => candidate.type === type && candidate.status === 'True');
  if (condition('Complete') !== undefined) return 'complete';
  const failed = condition('Failed');
  return failed === undefined ? 'running' : `failed: ${failed.message ?? 'no reason given'}`;
}
