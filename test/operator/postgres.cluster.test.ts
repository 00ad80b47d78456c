import { lifeOf } from './life-of';

describe('the life of a PostgreSQL', () => {
  lifeOf({
    engine: 'postgres',
    version: '15',
    port: 5432,
    client: (host) => `read -r PGPASSWORD; export PGPASSWORD; exec psql -h ${host} -U app -d app -At -v ON_ERROR_STOP=1`,
    slowStatement: "SELECT pg_sleep(10); SELECT 'alive'",
    dynamic: { name: 'work_mem', value: '8MB', show: 'SHOW work_mem' },
    fixed: { name: 'max_connections', value: '55', show: 'SHOW max_connections' },
    refused: { name: 'work_mem', value: 'plenty' },
  });
});
