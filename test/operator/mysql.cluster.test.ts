import { lifeOf } from './life-of';

describe('the life of a MySQL', () => {
  lifeOf({
    engine: 'mysql',
    // What the test bed calls so is newer; what matters is that each is another image.
    version: '8.4',
    versions: { next: '8.4.9', older: '8.4.8', major: '9.7', missing: '8.4.99' },
    port: 3306,
    client: (host, account) => `read -r MYSQL_PWD; export MYSQL_PWD; exec mysql -h ${host} -u ${account} -N ${account === 'app' ? 'app' : ''}`,
    superuser: 'root',
    forbidden: {
      app: ['SELECT count(*) FROM mysql.user', 'CREATE DATABASE another', "CREATE USER another IDENTIFIED BY 'x'", 'SET GLOBAL max_connections = 5', "SELECT 1 INTO OUTFILE '/tmp/x'"],
      backup: ['INSERT INTO app.notes VALUES (9, NULL)', 'CREATE TABLE app.mine (id int)', "ALTER USER app IDENTIFIED BY 'x'", 'SET GLOBAL max_connections = 5'],
      operator: ['SELECT count(*) FROM app.notes', 'DELETE FROM app.notes', 'DROP DATABASE app', 'GRANT SELECT ON app.* TO dbop_operator'],
    },
    slow: { statement: "SELECT SLEEP(10); SELECT 'alive'", count: "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'" },
    dynamic: { name: 'max_connections', value: '77', other: '78', show: 'SELECT @@max_connections' },
    beside: { name: 'group_concat_max_len', value: '2048', show: 'SELECT @@global.group_concat_max_len' },
    fixed: { name: 'performance_schema', value: '0', show: 'SELECT @@performance_schema' },
    writer: { image: 'mysql:9.7', passwordVariable: 'MYSQL_PWD', client: 'mysql -h orders -u app app -N --unbuffered', refusal: 'read-only option' },
    unwriting: { name: 'super_read_only', value: 'ON', rotation: 'PasswordRefused' },
    lockout: { name: 'init_connect', value: 'nonsense' },
    unready: { name: 'offline_mode', value: 'ON' },
    refused: { name: 'max_connections', value: 'many' },
  });
});
