import { App, Chart } from 'cdk8s';
import { Deployment } from 'cdk8s-plus-27';
import { MysqlInstance, type MysqlInstanceProps } from '../../src/constructs/mysql-instance';
import { PostgresInstance } from '../../src/constructs/postgres-instance';
import { find, rendered } from './render';

const least = { version: '8.4', size: '10Gi' };
const one = (props: MysqlInstanceProps) => rendered((chart) => new MysqlInstance(chart, 'orders', props), { namespace: 'shop' })[0];

test('an instance is a Database object that says what was asked for, and no more', () => {
  expect(one(least)).toEqual({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name: 'orders', namespace: 'shop' }, spec: { engine: 'mysql', ...least } });
});

test('every field of the API can be said', () => {
  const spec = {
    version: '8.4',
    image: 'registry.example.com/mysql:8.4',
    size: '10Gi',
    storageClassName: 'fast',
    database: 'orders',
    username: 'app',
    credentials: { secretName: 'mine' },
    resources: { requests: { cpu: '500m', memory: '1Gi', 'ephemeral-storage': '1Gi' }, limits: { memory: '1Gi' } },
    podLabels: { team: 'shop' },
    podAnnotations: { 'example.com/note': 'x' },
    backup: { schedule: '30 3 * * *', timeZone: 'Etc/UTC', retention: { count: 7, age: '30d' }, verify: false, volume: { size: '20Gi', storageClassName: 'slow' } },
    restore: { policy: 'Required', from: { database: 'old-orders' } },
    deletionPolicy: 'Retain',
    deletionProtection: true,
    paused: true,
    hibernated: true,
    rotatePasswords: '2026-01-01',
  } as const;
  expect(one({ ...spec, parameters: { max_connections: 200, slow_query_log: true, sql_mode: 'ANSI' } })).toMatchObject({
    spec: { engine: 'mysql', ...spec, parameters: { max_connections: '200', slow_query_log: 'ON', sql_mode: 'ANSI' } },
  });
});

test('a PostgreSQL is served under the group of the company', () => {
  const [database, backup] = rendered((chart) => new PostgresInstance(chart, 'stock', { version: '17', size: '1Gi', group: 'db.acme.com' }).addBackup('now'));
  expect(database).toMatchObject({ apiVersion: 'db.acme.com/v1alpha1', kind: 'Database', spec: { engine: 'postgres' } });
  expect(backup).toEqual({ apiVersion: 'db.acme.com/v1alpha1', kind: 'DatabaseBackup', metadata: { name: 'stock-now' }, spec: { database: 'stock' } });
});

test('an application is wired to its database by one call', () => {
  const objects = rendered((chart) => {
    const database = new MysqlInstance(chart, 'orders', least);
    const application = new Deployment(chart, 'application');
    database.connect(application.addContainer({ image: 'shop:1' }));
  });
  const { spec } = find<{ spec: { template: { spec: { containers: [{ env: object[] }] } } } }>(objects, 'Deployment');
  const key = (name: string, key: string) => ({ name, valueFrom: { secretKeyRef: { name: 'orders-app', key } } });
  expect(spec.template.spec.containers[0].env).toEqual([
    key('DB_HOST', 'host'),
    key('DB_PORT', 'port'),
    key('DB_USERNAME', 'username'),
    key('DB_PASSWORD', 'password'),
    key('DB_DATABASE', 'database'),
    key('DB_URI', 'uri'),
  ]);
});

test('an instance tells other constructs where it is', () => {
  const chart = new Chart(new App(), 'test', { namespace: 'shop' });
  expect(new MysqlInstance(chart, 'orders', least)).toMatchObject({ name: 'orders', namespace: 'shop', serviceName: 'orders', secretName: 'orders-app', port: 3306 });
  expect(new PostgresInstance(chart, 'stock', { version: '17', size: '1Gi', namespace: 'other' })).toMatchObject({ namespace: 'other', port: 5432 });
});

test.each<[Partial<MysqlInstanceProps> & Record<string, unknown>, string]>([
  [{ version: '17' }, "test/orders: 'version' (17) is not a version of MySQL; write 8.x or 9.x, such as 8.4"],
  [{ size: '5Gb' }, "test/orders: 'size' (5Gb) is not a size; write a number and a unit, such as 10Gi"],
  [{ backup: { schedule: '0 0 3 * * *' } }, "test/orders: 'backup.schedule' (0 0 3 * * *) has six fields, and a CronJob knows no seconds; drop the first field"],
  [{ resources: { requests: { memory: 'much' } } }, "test/orders: 'resources.requests.memory' (much) is not a quantity; write a number with an optional unit, such as 2, 500m or 1Gi"],
  [{ name: 'Orders' }, "test/orders: name 'Orders' must consist of lower-case letters"],
  [{ name: 'o'.repeat(41) }, `test/orders: name '${'o'.repeat(41)}' is longer than 40 characters`],
  [{ storage: '5Gi' }, "test/orders: 'storage' is not a field; known are engine, version"],
  [{ parameters: { datadir: '/tmp' } }, "test/orders: 'parameters' 'datadir' is set by the operator"],
])('%j is refused with the construct path', (change, message) => {
  expect(() => one({ ...least, ...change })).toThrow(message);
});

test('two databases of one name are refused with both paths', () => {
  const build = (second: Partial<MysqlInstanceProps>) =>
    rendered((chart) => {
      new MysqlInstance(chart, 'orders', least);
      new MysqlInstance(chart, 'again', { ...least, name: 'orders', ...second });
    });
  expect(() => build({})).toThrow("test/again: name 'orders' is taken by test/orders; give one of them another name or namespace");
  expect(() => build({ namespace: 'elsewhere' })).not.toThrow();
});
