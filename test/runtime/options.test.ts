import { parseRunOptions } from '../../src/runtime/options';

test('without flags and environment, everything has its default', () => {
  expect(parseRunOptions('me', {}, {})).toEqual({ namespaces: undefined, port: 8080, logLevel: 'info', gracePeriodMs: 20_000, election: undefined });
});

test('a flag outranks the environment', () => {
  expect(parseRunOptions('me', { port: '9090' }, { DBOP_PORT: '1', DBOP_LOG_LEVEL: 'debug', DBOP_NAMESPACES: 'a, b' })).toMatchObject({ port: 9090, logLevel: 'debug', namespaces: ['a', 'b'] });
});

test('leader election keeps its timings in proportion', () => {
  expect(parseRunOptions('me', { leaderElect: 'true', leaseNamespace: 'ops', leaseDuration: '6' }, {}).election).toEqual({ lease: { name: 'me', namespace: 'ops' }, durationMs: 6_000, renewDeadlineMs: 4_000, retryMs: 1_000 });
});

test('every wrong setting is named at once, with where it came from, its value and what is right', () => {
  const flags = { port: '70000', leaderElect: 'yes' };
  expect(() => parseRunOptions('me', flags, { DBOP_GRACE_PERIOD: '1.5', DBOP_LOG_LEVEL: 'loud' })).toThrow(
    ['--port (70000) must be a whole number from 0 to 65535', 'DBOP_LOG_LEVEL (loud) must be one of trace, debug, info, warn, error, fatal', 'DBOP_GRACE_PERIOD (1.5) must be a whole number from 0 to 3600', '--leader-elect (yes) must be one of true, false'].join('\n'),
  );
});

test('leader election outside of a pod needs to be told a namespace', () => {
  expect(() => parseRunOptions('me', { leaderElect: 'true' }, {})).toThrow('--leader-elect needs a namespace for the Lease, and this process runs in no pod; add --lease-namespace');
});
