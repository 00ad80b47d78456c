import { lifeOf } from './life-of';

describe('the life of a MySQL', () => {
  lifeOf({
    engine: 'mysql',
    // What the test bed calls so is newer; what matters is that each is another image.
    version: '8.4',
    versions: { next: '8.4.9', older: '8.4.8', major: '9.7', missing: '8.4.99' },
    port: 3306,
    client: (host) => `read -r MYSQL_PWD; export MYSQL_PWD; exec mysql -h ${host} -u app app -N`,
    slow: { statement: "SELECT SLEEP(10); SELECT 'alive'", count: "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'" },
    dynamic: { name: 'max_connections', value: '77', other: '78', show: 'SELECT @@max_connections' },
    beside: { name: 'group_concat_max_len', value: '2048', show: 'SELECT @@global.group_concat_max_len' },
    fixed: { name: 'performance_schema', value: '0', show: 'SELECT @@performance_schema' },
    writer: { image: 'mysql:9.7', passwordVariable: 'MYSQL_PWD', client: 'mysql -h orders -u app app -N --unbuffered', refusal: 'read-only option' },
    refused: { name: 'max_connections', value: 'many' },
  });
});
