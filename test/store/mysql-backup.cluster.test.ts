import { backupOf } from './backup-of';

describe('backups of MySQL', () => {
  backupOf({
    engine: 'mysql',
    version: '9.7',
    client: 'export MYSQL_PWD="$(cat /dbop/application/password)"; exec mysql -h "$1" -u app app -N',
    superuser: 'export MYSQL_PWD="$(cat /dbop/accounts/root-password)"; exec mysql -u root app -N --default-character-set=utf8mb4',
    odd: {
      make: `
        CREATE TABLE \`bücher\` (id INT, title TEXT); INSERT INTO \`bücher\` VALUES (1, 'Überfahrt'), (2, '海');
        CREATE TABLE \`注文\` (id INT, dropped INT, note INT); INSERT INTO \`注文\` VALUES (7, 8, 9);
        CREATE ROLE reader, writer; CREATE USER clerk IDENTIFIED BY 'x' REQUIRE SSL ACCOUNT LOCK; GRANT reader, writer TO clerk; SET DEFAULT ROLE reader, writer TO clerk;
        GRANT SELECT ON \`bücher\` TO clerk; GRANT SELECT (id), UPDATE (id, note), INSERT ON \`注文\` TO clerk WITH GRANT OPTION; GRANT CREATE ON future TO clerk;
        CREATE PROCEDURE answer() SELECT 42; GRANT EXECUTE ON PROCEDURE answer TO clerk;
        CREATE USER former; CREATE TABLE dropped (id INT); GRANT SELECT ON dropped TO former; DROP TABLE dropped;
        GRANT SELECT (id, dropped) ON \`注文\` TO former; ALTER TABLE \`注文\` DROP COLUMN dropped;
        CREATE DATABASE dropped; CREATE PROCEDURE dropped.answer() SELECT 42; GRANT EXECUTE ON PROCEDURE dropped.answer TO former; DROP DATABASE dropped;
        SET GLOBAL sql_mode = 'ANSI';`,
      ask: `
        SET sql_mode = ''; SET print_identified_with_as_hex = ON;
        SELECT * FROM \`bücher\`; SELECT * FROM \`注文\`; SHOW CREATE USER clerk; SHOW GRANTS FOR clerk; SELECT default_role_user FROM mysql.default_roles WHERE user = 'clerk';
        SELECT table_name, column_name, column_priv FROM mysql.columns_priv WHERE user = 'former' AND column_name <> 'dropped';`,
    },
    fill: "INSERT INTO filler SELECT REPEAT(SHA2(RAND(), 256), 3) FROM information_schema.columns a, information_schema.columns b LIMIT 260000;",
    killedAt: { backup: ['dump', 'load'], restore: ['load'] },
  });
});
