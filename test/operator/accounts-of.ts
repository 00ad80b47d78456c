import type { EngineStory } from './life-of';
import type { Living } from './living';

/** Accounts of a server that log in over the network, by the names that the Secret has for them. */
export type Account = 'app' | 'backup' | 'operator';

/**
 * The accounts of a living database: what each may not do, and that nobody sees their passwords. Best late in its life, when it has something to tell.
 * @param said what the operator has logged so far
 */
export function accountsOf(living: Living, story: EngineStory, said: readonly string[]): void {
  const named = (account: Account) => (account === 'app' ? 'app' : `dbop_${account}`);
  const secret = async (name: string) => {
    const data = JSON.parse(await living.cluster.kubectl(`get secret ${living.name}-${name} -n ${living.namespace} -o jsonpath={.data}`)) as Record<string, string>;
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
  };
  const passwords = async () => Object.entries({ ...(await secret('accounts')), [`shown-password`]: (await secret('app'))['password'] ?? '' }).filter(([key]) => key.endsWith('-password'));

  it('keeps the account that owns it when a Secret names another or is gone, and follows every other change meanwhile', async () => {
    const { cluster, namespace } = living;
    const given = (username: string) => cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'theirs', namespace }, stringData: { username, password: 'given-by-a-user' } });
    const misses = (words: string) => living.becomes(words, (object) => living.ready(object)?.reason === 'SecretMissing' && living.ready(object).message.includes(words));
    const { dynamic } = story;
    await given('another');
    await living.change({ credentials: { secretName: 'theirs' }, parameters: { [dynamic.name]: dynamic.value } });
    expect((await misses('Secret theirs names the account another, but the database belongs to app; set the username in it to app')).status.phase).toBe('Running');
    expect(await living.sql(dynamic.show)).toBe(dynamic.value);
    await given('app');
    await living.becomes('Ready with the given password', living.isReady);
    expect(await living.sql('SELECT 1', 'given-by-a-user')).toBe('1');
    await cluster.kubectl(`delete secret theirs -n ${namespace}`);
    await living.change({ parameters: { [dynamic.name]: dynamic.other } });
    expect((await misses('Secret theirs does not exist')).status.phase).toBe('Running');
    expect(await living.sql(dynamic.show, 'given-by-a-user')).toBe(dynamic.other);
    await living.change({ credentials: null, parameters: null });
    await living.becomes('Ready with the account of its own Secret', living.isReady);
    expect(await living.sql('SELECT 1', 'given-by-a-user')).toBe('1');
  }, 240_000);

  it.each(Object.entries(story.forbidden))('does not let its account %s do what is not its work', async (account, statements) => {
    const password = (await secret('accounts'))[`${account}-password`]!;
    const sql = (statement: string) => living.sql(statement, password, named(account as Account));
    expect(await sql('SELECT 1')).toBe('1');
    for (const statement of statements) await expect(sql(statement)).rejects.toThrow(/denied|permission|must be|only roles|privilege/i);
  }, 60_000);

  it('does not let its superuser in by the network', async () => {
    await expect(living.sql('SELECT 1', (await secret('accounts'))['root-password'], story.superuser)).rejects.toThrow(/denied|reject|no pg_hba.conf entry/i);
  }, 60_000);

  it('shows a password nowhere but in its Secrets: not in another object, an Event, a log or an argument', async () => {
    const { cluster, namespace, name } = living;
    const kinds = 'databases,databasebackups,statefulsets,controllerrevisions,pods,jobs,cronjobs,services,configmaps,persistentvolumeclaims,networkpolicies,serviceaccounts,events';
    const pods = (await cluster.kubectl(`get pods -n ${namespace} -o name`)).trim().split('\n');
    const places: Record<string, string> = {
      objects: await cluster.kubectl(`get ${kinds} -n ${namespace} -o yaml --show-managed-fields`),
      labels: await cluster.kubectl(`get secrets -n ${namespace} -o jsonpath={.items[*].metadata}`),
      'arguments of the server': await cluster.kubectl(`exec ${name}-0 -n ${namespace} -c server -- sh -c 'cat /proc/[0-9]*/cmdline 2> /dev/null | tr "\\0" " "'`),
      'log of the operator': said.join(''),
    };
    for (const pod of pods) places[`log of ${pod}`] = (await cluster.tryKubectl(`logs ${pod} -n ${namespace} --all-containers`)).stdout;
    expect(places['log of the operator']).toContain('"audit":true');
    expect(places['arguments of the server']).toMatch(/mysqld|postgres/);
    const known = [...(await passwords()), ['of a person', 'a-password-of-my-own'] as const];
    const found = Object.entries(places).flatMap(([place, text]) => known.filter(([, password]) => [password, Buffer.from(password).toString('base64')].some((form) => text.includes(form))).map(([of]) => `${of} in ${place}`));
    expect(found).toEqual([]);
  }, 60_000);
}
