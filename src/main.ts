import { App, Chart, YamlOutputType } from 'cdk8s';
import { DatabaseCrd } from './constructs/database-crd';
import { MysqlInstance } from './constructs/mysql-instance';
import { OperatorDeployment } from './constructs/operator-deployment';
import { PostgresInstance } from './constructs/postgres-instance';

const app = new App({ yamlOutputType: YamlOutputType.FILE_PER_CHART, outputFileExtension: '.yaml' });

const { group } = new DatabaseCrd(new Chart(app, 'crds'), 'crds');

new OperatorDeployment(new Chart(app, 'operator'), 'operator', { group });

const sample = new Chart(app, 'sample');
new MysqlInstance(sample, 'orders', {
  version: '8.4',
  size: '10Gi',
  parameters: { max_connections: 200 },
  backup: { schedule: '30 3 * * *', timeZone: 'Etc/UTC', retention: { count: 7 } },
});
new PostgresInstance(sample, 'stock', {
  version: '17',
  size: '5Gi',
  deletionProtection: true,
});

app.synth();
