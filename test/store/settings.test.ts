import { settingsFrom } from '../../src/store/settings';

const request = { action: 'put', engine: 'mysql', database: 'shop', backup: 'b1', target: { volume: { path: '/backups' } } };

test.each([
  ['the UID of its Job', {}, { JOB_UID: 'u1' }, 'u1'],
  ['what it is told', { run: 'r1' }, { JOB_UID: 'u1' }, 'r1'],
  ['unknown in a pod that an earlier release has rendered', {}, {}, undefined],
])('the run of a backup is %s', (_what, more, env, run) => {
  expect(settingsFrom({ DBOP_STORE: JSON.stringify({ ...request, ...more }), ...env }).run).toBe(run);
});
