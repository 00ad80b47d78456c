import { backupOf } from './backup-of';

describe('backups of PostgreSQL', () => {
  backupOf({
    engine: 'postgres',
    version: '15',
    client: 'export PGPASSWORD="$(cat /dbop/application/password)"; exec psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$1" -U app app',
    fill: "INSERT INTO filler SELECT repeat('x', 200) FROM generate_series(1, 100000);",
  });
});
