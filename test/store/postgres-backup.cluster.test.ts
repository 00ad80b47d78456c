import { backupOf } from './backup-of';

describe('backups of PostgreSQL', () => {
  backupOf({
    engine: 'postgres',
    version: '15',
    newer: '17',
    client: 'export PGPASSWORD="$(cat /dbop/application/password)"; exec psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$1" -U app app',
    superuser: 'export PGPASSWORD="$(cat /dbop/accounts/root-password)"; exec psql -X -q -A -t -v ON_ERROR_STOP=1 -h 127.0.0.1 -U postgres app',
    odd: {
      make: `
        REVOKE CONNECT ON DATABASE app FROM PUBLIC;
        CREATE DATABASE half_dropped; UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'half_dropped';
        CREATE TABLE years (year INT) PARTITION BY LIST (year); CREATE TABLE year_1 PARTITION OF years FOR VALUES IN (1); INSERT INTO years VALUES (1);
        CREATE TYPE colour AS ENUM ('red', 'green', 'blue'); CREATE TABLE paints (colour colour) PARTITION BY HASH (colour);
        CREATE TABLE paints_0 PARTITION OF paints FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE paints_1 PARTITION OF paints FOR VALUES WITH (MODULUS 2, REMAINDER 1);
        INSERT INTO paints VALUES ('red'), ('green'), ('blue');`,
      ask: `
        SELECT * FROM years; SELECT * FROM paints ORDER BY colour; SELECT datname FROM pg_database WHERE datconnlimit <> -2 ORDER BY datname;
        SELECT has_database_privilege('dbop_probe', 'app', 'CONNECT');`,
    },
    fill: "INSERT INTO filler SELECT repeat(md5(random()::text), 6) FROM generate_series(1, 260000);",
    noise: "INSERT INTO noise SELECT md5(random()::text) || md5(random()::text) FROM generate_series(1, 60000);",
    // The stages are the store's and the scripts' that all engines share: all of them with the engine that is quicker.
    killedAt: { backup: ['connect', 'dump', 'marked', 'stored', 'recorded', 'load', 'count', 'verified'], restore: ['connect', 'chosen', 'load', 'keep', 'kept'] },
  });
});
