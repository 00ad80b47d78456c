import { backupOf } from './backup-of';

describe('backups of MySQL', () => {
  backupOf({
    engine: 'mysql',
    version: '9.7',
    client: 'export MYSQL_PWD="$(cat /dbop/application/password)"; exec mysql -h "$1" -u app app -N',
    fill: "INSERT INTO filler SELECT REPEAT(SHA2(RAND(), 256), 3) FROM information_schema.columns a, information_schema.columns b LIMIT 260000;",
    killedAt: { backup: ['dump', 'load'], restore: ['load'] },
  });
});
