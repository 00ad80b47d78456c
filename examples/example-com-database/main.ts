import { join } from 'node:path';
import { App, ApiObject, Chart, YamlOutputType } from 'cdk8s';
import { apiVersionOf, DatabaseCrd, OperatorDeployment } from '../../src';
import { Database, declaration } from './kind';

/** The manifests: `npx tsx examples/example-com-database/main.ts` writes them to dist/ beside this file. */
const app = new App({ outdir: process.env.CDK8S_OUTDIR ?? join(__dirname, 'dist'), outputFileExtension: '.yaml', yamlOutputType: YamlOutputType.FILE_PER_CHART });

const install = new Chart(app, 'install', { disableResourceNameHashes: true });
new DatabaseCrd(install, 'crd', { kinds: [Database] });
new OperatorDeployment(install, 'operator', {
  name: 'example-com-database',
  namespace: 'example-com-database',
  controllers: [declaration],
  args: ['run', 'lib/examples/example-com-database', '--leader-elect', 'true'],
});

const samples = new Chart(app, 'databases', { disableResourceNameHashes: true });
for (const [name, version, size] of [['postgres-prod', '15.3', '5Gi'], ['mysql-dev', '8.0', '3Gi'], ['postgres-stage', '14.2', '4Gi']] as const) {
  new ApiObject(samples, name, { apiVersion: apiVersionOf(Database), kind: Database.kind, metadata: { name }, spec: { version, size } });
}

app.synth();
