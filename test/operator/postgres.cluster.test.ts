import { lifeOf } from './life-of';

describe('the life of a PostgreSQL', () => {
  lifeOf({
    engine: 'postgres',
    version: '15.1',
    versions: { next: '15.3', older: '15.2', major: '17', missing: '15.99' },
    port: 5432,
    client: (host, account) => `read -r PGPASSWORD; export PGPASSWORD; exec psql -h ${host} -U ${account} -d app -At -v ON_ERROR_STOP=1`,
    superuser: 'postgres',
    forbidden: {
      app: ['SELECT count(*) FROM pg_authid', 'CREATE DATABASE another', 'CREATE ROLE another', "ALTER SYSTEM SET work_mem = '8MB'", "COPY notes TO PROGRAM 'cat'"],
      backup: ['SET default_transaction_read_only = off; INSERT INTO notes VALUES (9, NULL)', 'SET default_transaction_read_only = off; CREATE ROLE another', "COPY notes TO PROGRAM 'cat'"],
      operator: ['SELECT count(*) FROM notes', 'DELETE FROM notes', 'DROP DATABASE app', "ALTER SYSTEM SET archive_command = 'cat'"],
    },
    slow: { statement: "SELECT pg_sleep(10); SELECT 'alive'", count: "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'" },
    dynamic: { name: 'work_mem', value: '8MB', other: '9MB', show: 'SHOW work_mem' },
    beside: { name: 'search_path', value: 'a, public', show: 'SHOW search_path' },
    fixed: { name: 'max_connections', value: '55', show: 'SHOW max_connections' },
    writer: { image: 'postgres:15', passwordVariable: 'PGPASSWORD', client: 'psql -h orders -U app -d app -Atq -v ON_ERROR_STOP=1', refusal: 'pg_hba.conf rejects' },
    unwriting: { name: 'default_transaction_read_only', value: 'on', rotation: 'Ready' },
    refused: { name: 'work_mem', value: 'plenty' },
  });
});
