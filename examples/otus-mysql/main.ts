import { join } from 'node:path';
import { App, ApiObject, Chart, YamlOutputType } from 'cdk8s';
import { apiVersionOf, DatabaseCrd, OperatorDeployment } from '../../src';
import { declaration, MySQL } from './kind';

/** The manifests: `npx tsx examples/otus-mysql/main.ts` writes them to dist/ beside this file. */
const app = new App({ outdir: process.env.CDK8S_OUTDIR ?? join(__dirname, 'dist'), outputFileExtension: '.yaml', yamlOutputType: YamlOutputType.FILE_PER_CHART });

const install = new Chart(app, 'install', { disableResourceNameHashes: true });
new DatabaseCrd(install, 'crd', { kinds: [MySQL] });
new OperatorDeployment(install, 'operator', {
  name: 'otus-mysql',
  namespace: 'otus-mysql',
  controllers: [declaration],
  args: ['run', 'lib/examples/otus-mysql', '--leader-elect', 'true'],
});

const instance = new Chart(app, 'cr', { disableResourceNameHashes: true });
new ApiObject(instance, 'mysql-instance', {
  apiVersion: apiVersionOf(MySQL),
  kind: MySQL.kind,
  metadata: { name: 'mysql-instance' },
  spec: { image: 'mysql:5.7', database: 'otus-database', password: 'otuspassword', storage_size: '1Gi' },
});

app.synth();
