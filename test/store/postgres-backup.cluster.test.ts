import { backupOf } from './backup-of';

describe('backups of PostgreSQL', () => {
  backupOf({
    engine: 'postgres',
    version: '15',
    client: 'export PGPASSWORD="$(cat /dbop/application/password)"; exec psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$1" -U app app',
    fill: "INSERT INTO filler SELECT repeat(md5(random()::text), 6) FROM generate_series(1, 260000);",
    noise: "INSERT INTO noise SELECT md5(random()::text) || md5(random()::text) FROM generate_series(1, 60000);",
    // The stages are the store's and the scripts' that all engines share: all of them with the engine that is quicker.
    killedAt: { backup: ['connect', 'dump', 'marked', 'stored', 'recorded', 'load', 'count', 'verified'], restore: ['connect', 'chosen', 'load', 'keep', 'kept'] },
  });
});
