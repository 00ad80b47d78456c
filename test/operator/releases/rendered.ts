import { Database } from '../../../src/api/database';
import { isDataClaim, isWorkload, serverChildren } from '../../../src/operator/children';
import { databasePlan } from '../../../src/operator/database-api';
import { withOperator } from '../../../src/operator/database-life';
import type { Workload } from '../../../src/operator/kept-pods';
import type { DatabasePlan } from '../../../src/operator/plan';
import type { KubeObject } from '../../../src/kind/resource';

/** What some release made of a spec. */
export interface Recorded {
  readonly spec: object;
  readonly workload: Workload;
  readonly claim: KubeObject;
}

/** Specs that together reach every part of a pod's template. */
export const specs: Readonly<Record<string, object>> = {
  'a small MySQL': { engine: 'mysql', version: '9.7', size: '1Gi' },
  'a small PostgreSQL': { engine: 'postgres', version: '17', size: '1Gi' },
  'a MySQL with everything': {
    engine: 'mysql',
    version: '8.4',
    image: 'registry.example.com/mysql:8.4.3',
    size: '10Gi',
    storageClassName: 'fast',
    database: 'shop',
    credentials: { secretName: 'mine' },
    tls: { secretName: 'mine-tls' },
    parameters: { max_connections: '200', innodb_buffer_pool_instances: '2' },
    resources: { requests: { cpu: '1', memory: '2Gi' }, limits: { memory: '2Gi' } },
    podLabels: { team: 'shop' },
    podAnnotations: { 'example.com/contact': 'shop@example.com' },
    backup: { schedule: '0 3 * * *', retention: { count: 7 }, s3: { endpoint: 'https://s3.example.com', bucket: 'backups', credentialsSecretName: 's3' } },
    deletionProtection: true,
  },
  'a PostgreSQL with parameters': { engine: 'postgres', version: '15', size: '5Gi', parameters: { work_mem: '8MB', max_connections: '55' }, resources: { limits: { memory: '1Gi' } } },
};

/** The plan of a spec as the operator has it. */
export function planOf(spec: object): DatabasePlan {
  const object = { apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name: 'orders', namespace: 'shop', uid: 'u1' }, spec: Database.check(spec, 'orders') };
  return withOperator(databasePlan(object, { storeImage: 'dbop:test' }), { manager: 'dbop', operatorNamespace: 'dbop-system' });
}

/** All children that a running database of this spec has. */
export function childrenOf(spec: object): KubeObject[] {
  return serverChildren(planOf(spec), { running: true, holdsData: true, origin: 'empty' });
}

/** What its pods are made by. */
export function workloadOf(spec: object): Workload {
  return childrenOf(spec).find((child) => isWorkload(child, planOf(spec)))!;
}

/** What its data rests on. */
export function claimOf(spec: object): KubeObject {
  return childrenOf(spec).find((child) => isDataClaim(child, planOf(spec)))!;
}
