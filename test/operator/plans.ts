import { Database } from '../../src/api/database';
import { databasePlan } from '../../src/operator/database-api';
import type { DatabasePlan } from '../../src/operator/plan';

/** The plan of a small MySQL named orders. */
export function mysqlPlan(): DatabasePlan {
  const spec = Database.check({ engine: 'mysql', version: '9.7', size: '1Gi' }, 'orders');
  return databasePlan({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name: 'orders', namespace: 'shop', uid: 'u1' }, spec }, { storeImage: 'dbop:test' });
}
