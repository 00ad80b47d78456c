import { conditionOf } from '../../src/runtime';
import { operatorOf, type Operator } from '../../test/runtime/example';
import { waitFor, type AnyObject } from '../../test/support/wait-for';
import { controllers, CronTab, name } from '.';

jest.setTimeout(60_000);

let operator: Operator;
beforeAll(async () => {
  operator = await operatorOf(name, controllers, CronTab);
}, operatorOf.timeoutMs);
afterAll(() => operator.end());

const cronTab = (spec: object) => ({ apiVersion: 'stable.example.com/v1', kind: 'CronTab', metadata: { name: 'my-new-cron-object', namespace: operator.namespace }, spec });
const until = (resource: string, apiVersion: string, isSo: (object: AnyObject | undefined) => boolean, what: string) =>
  waitFor(operator.cluster, { apiVersion, resource, namespace: operator.namespace, name: 'my-new-cron-object' }, isSo, { what });
const answered = (object: AnyObject | undefined): boolean => object !== undefined && object.status?.observedGeneration === object.metadata.generation;

test('a schedule with seconds runs by the minute, and the status says so', async () => {
  await operator.cluster.apply(cronTab({ cronSpec: '* * * * * *', image: 'busybox' }));
  const job = await until('cronjobs', 'batch/v1', (object) => object !== undefined, 'scheduled');
  expect(job.spec).toMatchObject({ schedule: '* * * * *', jobTemplate: { spec: { parallelism: 1, template: { spec: { containers: [{ image: 'busybox' }] } } } } });
  const { status } = await until('crontabs', 'stable.example.com/v1', answered, 'answered');
  expect(conditionOf(status.conditions, 'Ready')?.status).toBe('True');
  expect(conditionOf(status.conditions, 'Exact')).toMatchObject({
    status: 'False',
    reason: 'NoSeconds',
    message: "Kubernetes starts Jobs at most once a minute: '* * * * * *' runs by '* * * * *', at the start of the minute",
  });
  expect(await operator.cluster.kubectl(`get ct -n ${operator.namespace} --no-headers`)).toMatch(/^my-new-cron-object\s+\* \* \* \* \* \*\s+\* \* \* \* \*\s+False/);
});

test('five fields, or second 0, are followed exactly', async () => {
  for (const [cronSpec, schedule] of [['0 */5 * * * *', '*/5 * * * *'], ['30 2 * * 1', '30 2 * * 1']] as const) {
    await operator.cluster.apply(cronTab({ cronSpec, image: 'busybox', replicas: 2 }));
    await until('cronjobs', 'batch/v1', (object) => object?.spec?.schedule === schedule && object.spec.jobTemplate.spec.parallelism === 2, schedule);
    const { status } = await until('crontabs', 'stable.example.com/v1', answered, 'answered');
    expect(conditionOf(status.conditions, 'Exact')?.status).toBe('True');
  }
});

test('a schedule that makes no sense is told in the words of the API server, and mended by a change', async () => {
  await operator.cluster.apply(cronTab({ cronSpec: 'now and then', image: 'busybox' }));
  const { status } = await until('crontabs', 'stable.example.com/v1', (object) => answered(object) && conditionOf(object?.status?.conditions, 'Ready')?.status === 'False', 'refused');
  expect(conditionOf(status.conditions, 'Ready')).toMatchObject({ reason: 'Refused', message: expect.stringMatching(/spec\.schedule: Invalid value: "now and then"/) as string });
  await operator.cluster.apply(cronTab({ cronSpec: '@daily', image: 'busybox' }));
  await until('crontabs', 'stable.example.com/v1', (object) => answered(object) && conditionOf(object?.status?.conditions, 'Ready')?.status === 'True', 'mended');
});

test('without an image nothing is made, and the status says what is missing', async () => {
  await operator.cluster.kubectl(`delete ct my-new-cron-object -n ${operator.namespace}`);
  await operator.cluster.apply(cronTab({ cronSpec: '@daily' }));
  const { status } = await until('crontabs', 'stable.example.com/v1', answered, 'answered');
  expect(conditionOf(status.conditions, 'Ready')?.message).toBe("nothing can run without 'cronSpec' and 'image'; add them to the spec");
});
