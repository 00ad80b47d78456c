import { ApiObject } from 'cdk8s';
import { z } from 'zod';
import { builtin, conditions, defineKind } from '../../src';
import { controller, done, stuck } from '../../src/runtime';

export const name = 'crontabs';

/** `crontabs.stable.example.com/v1`: an image that runs by the clock. */
export const CronTab = defineKind({
  group: 'stable.example.com',
  version: 'v1',
  kind: 'CronTab',
  shortNames: ['ct'],
  description: 'Runs an image again and again.',
  spec: z.object({
    cronSpec: z.string().optional().describe('When: five fields, or six with seconds in front.'),
    image: z.string().optional().describe('What.'),
    replicas: z.int().optional().describe('How many at a time.'),
  }),
  status: z.object({
    observedGeneration: z.int().optional(),
    schedule: z.string().optional().describe('The schedule that Kubernetes follows.'),
    conditions: conditions().optional(),
  }),
  columns: [
    { name: 'Spec', jsonPath: '.spec.cronSpec' },
    { name: 'Schedule', jsonPath: '.status.schedule' },
    { name: 'Exact', jsonPath: '.status.conditions[?(@.type=="Exact")].status' },
  ],
});

/** A schedule as a CronJob takes it, and whether it means the same: a CronJob knows no seconds. */
export function scheduleOf(cronSpec: string): { schedule: string; exact: boolean } {
  const fields = cronSpec.trim().split(/\s+/);
  if (fields.length !== 6) return { schedule: cronSpec, exact: true };
  return { schedule: fields.slice(1).join(' '), exact: Number(fields[0]) === 0 };
}

export const controllers = [
  controller({
    kind: CronTab,
    owns: [builtin.CronJob],
    async reconcile(context) {
      const { metadata, spec } = context.object;
      const { cronSpec, image, replicas = 1 } = spec;
      if (cronSpec === undefined || image === undefined) return stuck('Incomplete', "nothing can run without 'cronSpec' and 'image'; add them to the spec");

      const { schedule, exact } = scheduleOf(cronSpec);
      const children = context.render((chart) => {
        const pod = { restartPolicy: 'Never', containers: [{ name: 'main', image }] };
        const spec = { schedule, jobTemplate: { spec: { parallelism: replicas, completions: replicas, template: { spec: pod } } } };
        new ApiObject(chart, 'cron-job', { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: metadata.name }, spec });
      });
      await context.apply(children, { set: 'cron-job' });

      return done({
        schedule,
        conditions: [
          exact
            ? { type: 'Exact', status: 'True', reason: 'AsAsked', message: `runs by '${schedule}'` }
            : { type: 'Exact', status: 'False', reason: 'NoSeconds', message: `Kubernetes starts Jobs at most once a minute: '${cronSpec}' runs by '${schedule}', at the start of the minute` },
        ],
      });
    },
  }),
];
