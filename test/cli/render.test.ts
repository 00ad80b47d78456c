import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/kind/resource';
import { dbop } from './test-io';

const orders = (spec: object = {}) => JSON.stringify({ apiVersion: 'dbop.dev/v1alpha1', kind: 'Database', metadata: { name: 'orders', namespace: 'shop' }, spec: { engine: 'mysql', version: '9.7', size: '1Gi', ...spec } });
const documents = (yaml: string) => parseAllDocuments(yaml).map((document) => document.toJS() as KubeObject & { data?: Record<string, string> });
const names = (yaml: string) => documents(yaml).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe('dbop render', () => {
  it('prints the children of a Database as YAML documents, all of its namespace', async () => {
    const { code, out, err } = await dbop('render -f -', { stdin: orders() });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(names(out)).toEqual(expect.arrayContaining(['StatefulSet orders', 'Service orders', 'Service orders-pods', 'ConfigMap orders-config', 'Secret orders-accounts', 'Secret orders-app', 'PersistentVolumeClaim data-orders-0', 'PersistentVolumeClaim orders-backups', 'NetworkPolicy orders']));
    expect(new Set(documents(out).map(({ metadata }) => metadata.namespace))).toEqual(new Set(['shop']));
  });

  it('adds a CronJob for a schedule, with the image that is asked for', async () => {
    const { out } = await dbop('render -f - --image registry.example.com/dbop:7', { stdin: orders({ backup: { schedule: '0 2 * * *' } }) });
    expect(names(out)).toContain('CronJob orders-backup');
    expect(out).toContain('image: registry.example.com/dbop:7');
  });

  it('masks every value of every Secret', async () => {
    const { out } = await dbop('render -f -', { stdin: orders() });
    const values = documents(out).filter(({ kind }) => kind === 'Secret').flatMap(({ data }) => Object.values(data ?? {}));
    expect(values.length).toBeGreaterThan(8);
    expect(new Set(values)).toEqual(new Set(['***']));
  });

  it('prints nothing but every problem when an object is refused', async () => {
    const { code, out, err } = await dbop('render -f -', { stdin: `${orders({ size: '5', versoin: '8' })}\n---\n${orders({ engine: 'oracle' })}` });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain("shop/orders: 'size' (5)");
    expect(err).toContain("'versoin' is not a field; did you mean 'version'?");
    expect(err).toContain("'engine' (oracle) is not known; use mysql or postgres");
  });

  it('refuses a namespace that contradicts the object', async () => {
    const { code, err } = await dbop('render -f - -n other', { stdin: orders() });
    expect(code).toBe(1);
    expect(err).toContain('shop/orders: its namespace is not the one that was asked for (-n other)');
  });

  it('tells what it left out, and says so when no Database is left', async () => {
    const namespace = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    expect((await dbop('render -f -', { stdin: `${namespace}\n---\n${orders()}` })).err).toBe('left out, because only Databases have children: Namespace shop\n');
    expect(await dbop('render -f -', { stdin: namespace })).toEqual({ code: 1, out: '', err: 'dbop: - holds no Database of dbop.dev/v1alpha1, but Namespace shop\n' });
  });

  it('reads a List as kubectl prints it, and prints JSON where programs ask for it', async () => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [JSON.parse(orders())] });
    const { out } = await dbop('render -f - -o json', { stdin: list });
    expect((JSON.parse(out) as KubeObject[]).map(({ kind }) => kind)).toContain('StatefulSet');
  });

  it('names the line where a file is no YAML', async () => {
    const { code, err } = await dbop('render -f -', { stdin: 'kind: Database\n  metadata: {' });
    expect(code).toBe(1);
    expect(err).toMatch(/^dbop: - is not YAML: .* at line 1/);
  });

  it('reads objects of another group where that is asked for', async () => {
    const { code, out } = await dbop('render -f - --group db.acme.com', { stdin: orders().replace('dbop.dev/', 'db.acme.com/') });
    expect(code).toBe(0);
    expect(names(out)).toContain('StatefulSet orders');
  });

  it('says which file is missing', async () => {
    expect(await dbop('render -f /nonexistent/orders.yaml')).toEqual({ code: 1, out: '', err: 'dbop: cannot read /nonexistent/orders.yaml: there is no such file\n' });
  });
});
