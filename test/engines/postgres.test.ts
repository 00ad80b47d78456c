import { postgres } from '../../src/engines/postgres';

const config = (parameters: Record<string, string | number | boolean>, memory?: number) => postgres.configFiles({ version: '17', parameters, memory })['postgresql.conf'] ?? '';

test.each([
  ['17', '17', 'same'],
  ['17.1', '17.2', 'minor'],
  ['17', '17.2', 'minor'],
  ['15.3', '16.0', 'major'],
  ['17.2', '17.1', 'downgrade'],
  ['17', '16', 'downgrade'],
])('from %s to %s is %s', (from, to, change) => {
  expect(postgres.versionChange(from, to)).toBe(change);
});

test('the configuration lets the user win over our defaults and escapes quotes', () => {
  const text = config({ Max_Connections: 7, search_path: "it's, \\x" });
  expect(text).toContain("max_connections = '7'\n");
  expect(text).not.toContain("max_connections = '100'");
  expect(text).toContain("search_path = 'it''s, \\\\x'\n");
});

test('a quarter of the memory limit is the cache', () => {
  expect(config({}, 512 * 1024 * 1024)).toContain("shared_buffers = '128MB'\n");
});

test('the superuser comes only from inside the pod, the probe only by the socket', () => {
  const rules = (postgres.configFiles({ version: '17' })['pg_hba.conf'] ?? '').split('\n');
  expect(rules.indexOf('host all postgres all reject')).toBeLessThan(rules.indexOf('host all all all scram-sha-256'));
  expect(rules.indexOf('host all dbop_probe all reject')).toBeLessThan(rules.indexOf('host all all all scram-sha-256'));
  expect(rules.filter((rule) => rule.includes('trust'))).toEqual(['local postgres dbop_probe trust']);
});

test('parameters that the operator owns are refused with the reason', () => {
  expect(postgres.parameterProblems({ wal_level: 'minimal', work_mem: '8MB' })).toEqual(["'wal_level' is set by the operator, because replicas will stand on it; remove it"]);
});

test('only parameters that a running server cannot take restart it; before version 15 all of them do', () => {
  const parameters = { work_mem: '8MB', shared_buffers: '64MB', 'pg_stat_statements.max': 5, session_preload_libraries: 'auto_explain' };
  expect(Object.keys(postgres.restartParameters(parameters, '17'))).toEqual(['shared_buffers', 'pg_stat_statements.max', 'session_preload_libraries']);
  expect(Object.keys(postgres.restartParameters(parameters, '14.2'))).toEqual(Object.keys(parameters));
});

test('connection strings are those that drivers know', () => {
  expect(postgres.connectionStrings({ host: 'shop', port: 5432, username: 'app', password: 'a:b', database: 'app' })).toEqual({
    uri: 'postgresql://app:a%3Ab@shop:5432/app',
    jdbcUrl: 'jdbc:postgresql://shop:5432/app?user=app&password=a%3Ab',
  });
});
