import { Command } from 'commander';
import { givenPlace, ownPlace, type Place } from './place';
import { isReady, NAMESPACE, Shop } from './shop';
import { Stage } from './stage';

/** The whole of what a developer writes. */
const ORDERS = `apiVersion: dbop.dev/v1alpha1
kind: Database
metadata:
  name: orders
  namespace: ${NAMESPACE}
spec:
  engine: mysql
  version: "9.7"
  size: 1Gi
`;

const NAMESPACE_OBJECT = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } });

new Command('demo')
  .description('The life of a database on a real cluster, told step by step.')
  .option('--kubeconfig <file>', 'play on this cluster, which must be able to pull the images of dist/operator.yaml and mysql:9.7 (default: one of its own on this machine)')
  .option('--keep', 'leave everything running afterwards, for playing')
  .showHelpAfterError()
  .action(async ({ kubeconfig, keep = false }: { kubeconfig?: string; keep?: boolean }) => {
    const place = kubeconfig === undefined ? await ownPlace(['mysql:9.7']) : await givenPlace(kubeconfig);
    try {
      await play(place, new Stage(7, { color: process.stdout.isTTY === true && !process.env.NO_COLOR }));
    } finally {
      await leave(place, keep);
    }
  })
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });

async function play(place: Place, stage: Stage): Promise<void> {
  const shop = new Shop(place, stage);

  await stage.step('The operator', 'Two files from dist/: the API, and the operator with the rights that its controllers declare.', async () => {
    const files = '-f dist/crds.yaml -f dist/operator.yaml';
    const applied = await place.kubectl(`apply --server-side --force-conflicts ${files}`);
    stage.command(`kubectl apply --server-side ${files}`, `${applied.trim().split('\n').length} objects applied`);
    await place.kubectl('wait --for=condition=established --timeout=60s crd/databases.dbop.dev crd/databasebackups.dbop.dev');
    stage.command('kubectl rollout status deployment/dbop -n dbop-system', await place.kubectl('rollout status deployment/dbop -n dbop-system --timeout=180s'));
    await place.kubectl('create -f -', NAMESPACE_OBJECT);
  });

  await stage.step('A MySQL from a ten-line object', 'Look at how the status says what is waited for, until the server itself has answered.', async () => {
    stage.command('cat orders.yaml', ORDERS);
    stage.command('kubectl apply -f orders.yaml', await place.kubectl('apply -f -', ORDERS));
    await shop.until(isReady);
    await shop.show('get db orders');
  });

  await stage.step('Rows are written', 'As an application does it: with the credentials and the authority’s certificate from Secret orders-app.', async () => {
    const connection = await shop.connect();
    await shop.sql(connection, 'CREATE TABLE items (id int AUTO_INCREMENT PRIMARY KEY, name varchar(20))');
    await shop.sql(connection, "INSERT INTO items (name) VALUES ('apples'), ('pears'), ('plums')");
    await shop.sql(connection, 'SELECT * FROM items');
    await connection.end();
  });

  await stage.step('The object is deleted', 'Nothing goes before a last backup is taken, restored into a throw-away server and counted.', async () => {
    await shop.show('delete db orders --wait=false');
    await shop.untilGone();
    await place.kubectl(`wait --for=jsonpath={.status.phase}=Succeeded --timeout=30s dbb --all -n ${NAMESPACE}`);
    await shop.show('get dbb,pvc,pods');
  });

  await stage.step('It is made again, and the rows are back', 'The same ten lines: the operator finds the backup and fills the new volume before the server starts.', async () => {
    stage.command('kubectl apply -f orders.yaml', await place.kubectl('apply -f -', ORDERS));
    await shop.until(isReady);
    const connection = await shop.connect();
    expect((await shop.sql(connection, 'SELECT * FROM items')).length, 3, 'rows after the restore');
    await connection.end();
  });

  await stage.step('All passwords change under an open connection', 'The connection from before goes on; the old password opens no new one.', async () => {
    const open = await shop.connect();
    const before = await shop.password();
    await shop.sql(open, 'SELECT CONNECTION_ID()');
    await shop.show(`patch db orders --type merge -p '{"spec":{"rotatePasswords":"today"}}'`);
    await shop.until((database) => isReady(database) && database.status?.rotatedPasswords === 'today');
    await shop.sql(open, 'SELECT CONNECTION_ID(), COUNT(*) FROM items');
    await open.end();
    expect(before === (await shop.password()), false, 'the old password is still the current one');
    const refused = await shop.connect(before).then(() => 'let in', (error: Error) => error.message);
    stage.happened(`a login with the old password: ${refused}`);
    expect(refused.includes('Access denied'), true, 'the old password is refused');
  });

  await stage.step('The pod is killed', 'Without a word to the server: it recovers from its log, on the same volume.', async () => {
    const uid = (await place.kubectl(`get pod orders-0 -n ${NAMESPACE} -o jsonpath={.metadata.uid}`)).trim();
    await shop.show('delete pod orders-0 --force --grace-period=0');
    await shop.untilReplaced(uid);
    const connection = await shop.connect();
    expect((await shop.sql(connection, 'SELECT * FROM items')).length, 3, 'rows after the kill');
    await connection.end();
    await shop.show('get db,statefulset,pods,pvc');
  });

  stage.summary([
    'a database from ten lines, ready only when its server answered',
    'deleted only after a backup that was proved by a restore',
    'made again with every row',
    'all passwords changed while a connection stayed open',
    'a killed pod came back with its data',
  ]);
}

async function leave(place: Place, keep: boolean): Promise<void> {
  if (keep) {
    await place.client.close();
    const point = place.own ? 'eval "$(npm run --silent cluster -- env --name demo)"' : `export KUBECONFIG=${place.kubeconfig}`;
    process.stdout.write(`\nEverything is left running. To play with it:\n  ${point}\n  kubectl get db -n ${NAMESPACE}\n${place.own ? '  npm run cluster -- down --name demo      # when you have seen enough\n' : ''}`);
    return;
  }
  if (!place.own) {
    // Before the namespace, in which no last backup could be taken any more.
    await place.kubectl(`delete db --all -n ${NAMESPACE} --timeout=5m`);
    await place.kubectl(`delete namespace ${NAMESPACE} --wait=false`);
    process.stdout.write(`\nNamespace ${NAMESPACE} is being removed; the operator stays. Remove it as docs/how-to/delete-safely.md says.\n`);
  }
  await place.remove();
}

function expect<T>(seen: T, wanted: T, what: string): void {
  if (seen !== wanted) throw new Error(`${what}: ${String(wanted)} expected, ${String(seen)} seen`);
}
