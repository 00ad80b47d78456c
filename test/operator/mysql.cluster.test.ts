import { lifeOf } from './life-of';

lifeOf({
  engine: 'mysql',
  version: '9.7',
  port: 3306,
  query: (sql) => `sh -c 'MYSQL_PWD=$(cat /dbop/application/password) mysql -h 127.0.0.1 -u app app -N -e "${sql}"'`,
});
