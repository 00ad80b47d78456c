import { engineOf } from '../../src/engines/engine-of';
import { mysql } from '../../src/engines/mysql';

const config = (parameters: Record<string, string | number | boolean>, memory?: number) => mysql.configFiles({ version: '8.4', parameters, memory })['my.cnf'] ?? '';

test.each([
  ['8.4', '8.4', 'same'],
  ['8.4.3', '8.4.4', 'minor'],
  ['8.4', '8.4.4', 'minor'],
  ['9.1', '9.7', 'minor'],
  ['8.0.40', '8.4.0', 'major'],
  ['5.7', '8.0', 'major'],
  ['8.4', '9.0', 'major'],
  ['8.4.4', '8.4.3', 'downgrade'],
  ['9.0', '8.4', 'downgrade'],
])('from %s to %s is %s', (from, to, change) => {
  expect(mysql.versionChange(from, to)).toBe(change);
});

describe('the option file', () => {
  test('lets the user win over our defaults, under either spelling', () => {
    const text = config({ 'max-connections': 7 });
    expect(text).toContain('max-connections=7\n');
    expect(text).not.toContain('max_connections=');
  });

  test('has names in the one case that a server reads there, whatever case SQL was told them in', () => {
    expect(config({ Max_Connections: '70', 'Sort-Buffer-Size': '1M' })).toMatch(/^max_connections=70\n(.*\n)*sort-buffer-size=1M\n/m);
  });

  test('is the same text for the same settings in another order', () => {
    expect(config({ a_b: 1, c: true })).toBe(config({ c: true, a_b: 1 }));
  });

  test('quotes what would otherwise be read as a comment or an escape', () => {
    expect(config({ init_connect: 'SET @a = "x" # not a comment\\' })).toContain('init_connect="SET @a = \\"x\\" # not a comment\\\\"\n');
  });

  test.each([
    [256, '64M'],
    [512, '128M'],
    [2048, '1024M'],
    [64, '32M'],
  ])('gives the cache of a pod with %d MiB %s', (mebibytes, pool) => {
    expect(config({}, mebibytes * 1024 * 1024)).toContain(`innodb_buffer_pool_size=${pool}\n`);
  });

  test('keeps position and isolation whatever else is set', () => {
    for (const line of ['gtid_mode=ON', 'log_bin=binlog', 'secure_file_priv=NULL', 'skip_name_resolve=ON']) expect(config({ max_connections: 5 })).toContain(`${line}\n`);
  });

  test('gives a throw-away server only what shapes its files and accounts', () => {
    expect(mysql.configFiles({ version: '8.4', parameters: { lower_case_table_names: 1, max_connections: 5 } })['layout.cnf']).toBe('[mysqld]\nlower_case_table_names=1\n');
  });
});

test('parameters that the operator owns are refused with the reason, in whatever spelling', () => {
  const problems = mysql.parameterProblems({ 'GTID-Mode': 'OFF', loose_secure_file_priv: '/', skip_networking: true, max_connections: 5, 'sort buffer': 1, init_connect: 'a\nb', sql_mode: '', 'sql-mode': '' });
  expect(problems).toHaveLength(6);
  expect(problems.join('\n')).toMatch(/'GTID-Mode' is set by the operator, because backups record a position/);
  expect(problems.join('\n')).toMatch(/'loose_secure_file_priv' is set by the operator/);
  expect(problems.join('\n')).toMatch(/two spellings/);
});

test('only parameters that a running server cannot take restart it, and unknown ones do', () => {
  expect(Object.keys(mysql.restartParameters({ max_connections: 5, 'wait-timeout': 3, innodb_buffer_pool_instances: 2, plugin_x_size: 1 }, '8.4'))).toEqual(['innodb_buffer_pool_instances', 'plugin_x_size']);
});

test('connection strings escape what a URL would read otherwise', () => {
  expect(mysql.connectionStrings({ host: 'shop.ns.svc', port: 3306, username: 'a b', password: 'p@ss/&?', database: 'my-db' })).toEqual({
    uri: 'mysql://a%20b:p%40ss%2F%26%3F@shop.ns.svc:3306/my-db',
    jdbcUrl: 'jdbc:mysql://shop.ns.svc:3306/my-db?user=a%20b&password=p%40ss%2F%26%3F',
  });
});

test('an unknown engine is refused by name', () => {
  expect(() => engineOf('oracle')).toThrow("'oracle' is no engine of ours; use mysql or postgres");
  expect(() => engineOf('constructor')).toThrow('is no engine');
});
