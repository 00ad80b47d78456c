import type { KubeObject } from '../kind/resource';

/** What a StatefulSet or a Deployment tells of the pods that it makes. */
export interface Rollout extends KubeObject {
  status?: { observedGeneration?: number; updatedReplicas?: number };
}

/** Whether the workload's own controller has seen the newest template, and made the pod from it. */
export function isRolledOut(workload: Rollout | undefined): boolean {
  const { observedGeneration = 0, updatedReplicas = 0 } = workload?.status ?? {};
  return observedGeneration >= (workload?.metadata.generation ?? 0) && updatedReplicas > 0;
}
