import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountsData } from '../../src/operator/accounts';
import { applicationSecret } from '../../src/operator/children';
import type { KubeObject } from '../../src/kind/resource';
import { keepPods, renderedMark, type Workload } from '../../src/operator/kept-pods';
import { chosenIdentity, identityData } from '../../src/operator/tls/server-identity';
import { childrenOf, claimOf, planOf, specs, workloadOf, type Recorded } from './releases/rendered';

const folder = join(__dirname, 'releases');
const releases = readdirSync(folder).filter((name) => name.endsWith('.json'));
const cases = releases.flatMap((release) =>
  Object.entries(JSON.parse(readFileSync(join(folder, release), 'utf8')) as Record<string, Recorded>).map(([title, recorded]) => ({ release: release.replace('.json', ''), title, ...recorded })),
);
const text = (value: unknown) => JSON.stringify(value, undefined, 1);

describe('what a former release has made', () => {
  it('is on record', () => expect(releases).toContain('0.1.0.json'));

  it.each(cases)('$title of $release keeps its pods, byte for byte', ({ spec, workload, claim }) => {
    const now = workloadOf(spec);
    keepPods(now, claimOf(spec), claim, planOf(spec).engine);
    expect(text(now.spec?.template)).toBe(text(workload.spec?.template));
  });

  it.each(cases)('$title of $release has nothing that a StatefulSet could not change', ({ spec, workload }) => {
    const fixed = ({ spec }: Workload) => ({ ...spec, template: undefined, replicas: undefined });
    expect(text(fixed(workloadOf(spec)))).toBe(text(fixed(workload)));
  });

  it.each(cases)('the pods of $title of $release find every file that they run and mount', ({ spec, workload }) => {
    const { data } = childrenOf(spec).find(({ kind }) => kind === 'ConfigMap') as unknown as { data: Record<string, string> };
    const pods = text(workload.spec?.template);
    const files = [...pods.matchAll(/\/dbop\/scripts\/([\w.]+)|"subPath": "([^"]+)"/g)].map(([, script, file]) => script ?? file!);
    expect(files.length).toBeGreaterThan(2);
    expect(files.filter((file) => data[file] === undefined)).toEqual([]);
    expect(keysIn(workload).filter((key) => !keysNow(spec).has(key))).toEqual([]);
  });
});

describe('a workload that this release renders', () => {
  const small = specs['a small MySQL']!;
  const { engine } = planOf(small);
  const written = JSON.parse(claimOf(small).metadata.annotations![renderedMark]!) as { pods: { spec: object } };
  const template = { ...written.pods, spec: { ...written.pods.spec, terminationGracePeriodSeconds: 7 } };
  const mark = JSON.stringify({ ...written, release: '0.0.9', pods: template });
  const marked = (annotations: Record<string, string>): KubeObject => ({ ...claimOf(small), metadata: { name: 'data-orders-0', annotations } });
  const older = marked({ [renderedMark]: mark });
  const kept = (spec: object, live: KubeObject) => {
    const [workload, claim] = [workloadOf(spec), claimOf(spec)];
    const release = keepPods(workload, claim, live, engine);
    return { release, template: workload.spec?.template, mark: claim.metadata.annotations?.[renderedMark] };
  };

  it('keeps pods that were rendered otherwise for the same wish, and says of which release they are', () => {
    expect(kept(small, older)).toEqual({ release: '0.0.9', template, mark });
  });

  it('says nothing of a release that rendered the same', () => {
    expect(kept(small, claimOf(small)).release).toBeUndefined();
  });

  it.each([
    ['another image', { image: 'mysql:9.7.1' }],
    ['other resources', { resources: { limits: { memory: '1Gi' } } }],
    ['another label', { podLabels: { team: 'shop' } }],
    ['a parameter that needs a restart', { parameters: { innodb_buffer_pool_instances: '2' } }],
  ])('is rendered anew for %s', (_what, change) => {
    expect(kept({ ...small, ...change }, older).template).toEqual(workloadOf({ ...small, ...change }).spec?.template);
  });

  it.each([
    ['a parameter that a running server takes', { parameters: { max_connections: '5' } }],
    ['a larger volume', { size: '2Gi' }],
    ['a schedule', { backup: { schedule: '0 3 * * *' } }],
  ])('keeps pods when %s is wanted, which does not reach them', (_what, change) => {
    expect(kept({ ...small, ...change }, older).release).toBe('0.0.9');
  });

  it('is rendered anew where the mark is missing or broken', () => {
    const fresh = workloadOf(small).spec?.template;
    expect(kept(small, marked({})).template).toEqual(fresh);
    expect(kept(small, marked({ [renderedMark]: '{' })).template).toEqual(fresh);
  });
});

/** Keys of Secrets that pods mount: a missing one would keep them from starting. */
function keysIn(workload: Workload): string[] {
  const { volumes = [] } = (workload.spec?.template as { spec: { volumes?: { secret?: { items?: { key: string }[] } }[] } }).spec;
  return volumes.flatMap(({ secret }) => (secret?.items ?? []).map(({ key }) => key));
}

/** Keys of the Secrets that this release makes. */
function keysNow(spec: object): Set<string> {
  const passwords = { root: 'r', operator: 'o', backup: 'b', app: 'a' };
  const application = applicationSecret(planOf(spec), 'app', 'a', 'ca') as unknown as { data: Record<string, string> };
  return new Set([accountsData(passwords), application.data, identityData(chosenIdentity({}, { name: 'orders', hosts: ['orders'] }, new Date())).server].flatMap(Object.keys));
}
