import { Database, type DatabaseObject } from '../../src/api/database';
import { childState } from '../../src/cli/child-state';
import type { DatabaseStory } from '../../src/cli/story';
import { databaseTable, storyText } from '../../src/cli/story-view';

const now = Date.parse('2026-01-31T12:00:00Z');
const view = { color: false, now };
const database = (status?: DatabaseObject['status']): DatabaseObject => ({
  apiVersion: 'dbop.dev/v1alpha1',
  kind: 'Database',
  metadata: { name: 'orders', namespace: 'shop', creationTimestamp: '2026-01-31T09:00:00Z' },
  spec: Database.check({ engine: 'mysql', version: '9.7', size: '1Gi' }, 'orders'),
  status,
});
const running: DatabaseObject['status'] = {
  phase: 'Running',
  message: 'MySQL 9.7.1 answers',
  version: '9.7.1',
  endpoint: { host: 'orders.shop.svc', port: 3306 },
  secretName: 'orders-app',
  conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: 'everything is as the spec asks', lastTransitionTime: '2026-01-31T11:55:00Z' }],
  lastBackup: { name: 'orders-1', at: '2026-01-31T11:00:00Z', verified: true },
};
const story: DatabaseStory = {
  database: database(running),
  children: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'orders' }, spec: { replicas: 1 }, status: { readyReplicas: 1 } } as DatabaseStory['children'][number]],
  pods: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'orders-0' }, spec: { nodeName: 'node1' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } }],
  backups: [{ apiVersion: 'dbop.dev/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'orders-1' }, spec: { database: 'orders' }, status: { phase: 'Succeeded', verified: true, bytes: 1_258_291, tables: 3, rows: 42, completedAt: '2026-01-31T11:00:00Z' } }],
  events: [{ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e' }, type: 'Warning', reason: 'Late', note: 'it was', eventTime: '2026-01-31T11:30:00Z', series: { count: 3, lastObservedTime: '2026-01-31T11:58:00Z' } }],
};

describe('the table of databases', () => {
  it('has one row a database, with what is waited for', () => {
    expect(databaseTable([database(running), database()], { ...view, withNamespace: false })).toBe(
      [
        'NAME     ENGINE   VERSION   SIZE   PHASE     READY     LAST BACKUP   AGE   MESSAGE',
        'orders   mysql    9.7.1     1Gi    Running   True      60m           3h    MySQL 9.7.1 answers',
        'orders   mysql    9.7       1Gi    Unknown   Unknown   none          3h    not seen by an operator yet',
        '',
      ].join('\n'),
    );
  });
});

describe('the story of a database', () => {
  it('tells phase, endpoint, conditions, children, pods, backups and Events', () => {
    expect(storyText(story, view)).toBe(
      [
        'shop/orders',
        'Phase         Running: MySQL 9.7.1 answers',
        'Asks for      mysql 9.7, 1Gi',
        'Runs          mysql 9.7.1',
        'Endpoint      orders.shop.svc:3306',
        'Connect by    Secret orders-app, or: dbop connect orders -n shop',
        'Last backup   orders-1, 60m ago, verified',
        'On deletion   Backup',
        'Age           3h',
        '',
        'Conditions',
        '  Ready   True   Ready   for 5m   everything is as the spec asks',
        '',
        'Children',
        '  StatefulSet orders   1/1 ready',
        '',
        'Pods',
        '  orders-0   node1   pod orders-0 is ready',
        '',
        'Backups',
        '  orders-1   Succeeded   60m ago   1.2 MiB, 3 tables, 42 rows   verified',
        '',
        'Events',
        '  2m   Warning   Late   it was (3 times)',
        '',
      ].join('\n'),
    );
  });

  it('says what to do where there is nothing yet', () => {
    const text = storyText({ database: database(), children: [], pods: [], backups: [], events: [] }, view);
    expect(text).toContain('none yet: does the operator run?');
    expect(text).toContain('none yet; take one with: dbop backup orders -n shop');
  });
});

describe('the state of a child', () => {
  it.each([
    ['PersistentVolumeClaim', { spec: { resources: { requests: { storage: '1Gi' } } } }, 'Pending, 1Gi'],
    ['PersistentVolumeClaim', { status: { phase: 'Bound', capacity: { storage: '2Gi' } } }, 'Bound, 2Gi'],
    ['Service', { spec: { clusterIP: 'None', ports: [{ port: 3306 }] } }, 'headless, port 3306'],
    ['CronJob', { spec: { schedule: '0 2 * * *', suspend: true } }, '0 2 * * *, suspended'],
    ['Job', {}, 'running'],
    ['Job', { status: { conditions: [{ type: 'Complete', status: 'True' }] } }, 'complete'],
    ['Job', { status: { conditions: [{ type: 'Failed', status: 'True', message: 'too often' }] } }, 'failed: too often'],
    ['ConfigMap', {}, ''],
  ])('of a %s with %j is “%s”', (kind, fields, state) => {
    expect(childState({ apiVersion: 'v1', kind, metadata: { name: 'x' }, ...fields })).toBe(state);
  });
});
