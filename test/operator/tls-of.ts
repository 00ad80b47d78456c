import { encoded } from '../../src/operator/accounts';
import { dialByPortForward } from '../../src/operator/sql/dial';
import type { SqlSession } from '../../src/operator/sql/door';
import { ServerProbe } from '../../src/operator/sql/server-probe';
import { certificatesIn, fingerprintOf, makeAuthority, makeServerCertificate } from '../../src/operator/tls/certificate';
import { Client, findCluster, systemClock } from '../../src/runtime';
import { waitFor } from '../support/wait-for';
import type { EngineStory } from './life-of';
import type { Living } from './living';

/** How the server of a living database proves who it is. Assumes that its certificate is past two thirds of its life by a clock that goes right. */
export function tlsOf(living: Living, story: EngineStory): void {
  const { at } = living;
  const secret = async (name: string, key: string) =>
    Buffer.from(await living.cluster.kubectl(`get secret ${name} -n ${living.namespace} -o jsonpath={.data.${key.replace('.', '\\.')}}`), 'base64').toString();
  let client: Client;

  beforeAll(async () => {
    client = new Client(await findCluster({ kubeconfig: living.cluster.kubeconfig }));
  });
  afterAll(() => client.close());

  /** Works in a session of the application, which believes none but these authorities. */
  async function session<T>(ca: string, work: (session: SqlSession) => Promise<T>): Promise<T> {
    const { name, namespace } = living;
    const target = { namespace, host: `${name}.${namespace}.svc`, port: story.port, pod: `${name}-0` };
    const login = { username: 'app', password: await secret(`${name}-app`, 'password'), database: 'app', ca };
    return new ServerProbe(dialByPortForward(client), systemClock).session({ engine: story.engine, target, login }, AbortSignal.timeout(30_000), work);
  }

  /** Until the server shows the certificate that stands in its Secret. */
  async function shown(certificate: string): Promise<void> {
    // A kubelet looks at a pod's Secrets once a minute, or when something about the pod changes.
    await living.cluster.kubectl(`annotate pod ${living.name}-0 -n ${living.namespace} --overwrite looked-at=${fingerprintOf(certificate).slice(0, 5)}`);
    // Only the server knows what it shows.
    while ((await session(await secret(`${living.name}-app`, 'ca.crt'), async (open) => open.certificate)) !== fingerprintOf(certificate));
  }

  it('has its certificate renewed without a restart, and connections go on', async () => {
    const [pod, ca, before] = [await living.podUid(), await secret(`${living.name}-app`, 'ca.crt'), await secret(`${living.name}-tls`, 'tls.crt')];
    await session(ca, async (open) => {
      expect(open.certificate).toBe(fingerprintOf(before));
      await living.restartOperator();
      await waitFor(living.cluster, at('secrets', `${living.name}-tls`), (seen) => seen?.data?.['tls.crt'] !== encoded(before), { what: 'a new certificate' });
      await shown(await secret(`${living.name}-tls`, 'tls.crt'));
      expect(await open.version()).toMatch(/^\d+\./);
    });
    expect(await secret(`${living.name}-app`, 'ca.crt')).toBe(ca);
    expect(await living.podUid()).toBe(pod);
  }, 120_000);

  it('says why it does not take a given certificate, and runs on with its own', async () => {
    const company = makeAuthority('a company', new Date());
    const other = makeServerCertificate(company, [`other.${living.namespace}.svc`], new Date());
    await living.cluster.apply(certificateSecret('of-another', other.certificate, other.key, company.certificate));
    await living.change({ tls: { secretName: 'of-another' } });
    const refused = await living.becomes('the refusal', (object) => living.ready(object)?.reason === 'CertificateRefused');
    expect(living.ready(refused).message).toContain(`must also name DNS:${living.name}.${living.namespace}.svc`);
    expect(refused.status.phase).toBe('Running');
    expect(await living.sql('SELECT count(*) FROM notes')).toBe('2');
  }, 60_000);

  it('takes a given certificate without a restart; until it is shown, both authorities are trusted', async () => {
    const [pod, own] = [await living.podUid(), await secret(`${living.name}-app`, 'ca.crt')];
    const company = makeAuthority('a company', new Date());
    const given = makeServerCertificate(company, [`${living.name}.${living.namespace}.svc`], new Date());
    await living.cluster.apply(certificateSecret('given', given.certificate, given.key, company.certificate));
    await session(own, async (open) => {
      await living.change({ tls: { secretName: 'given' } });
      const both = encoded(company.certificate + own);
      await waitFor(living.cluster, at('secrets', `${living.name}-app`), (seen) => seen?.data?.['ca.crt'] === both, { what: 'trust in both' });
      expect(certificatesIn(Buffer.from(both, 'base64').toString())).toHaveLength(2);
      await shown(given.certificate);
      expect(await open.version()).toMatch(/^\d+\./);
    });
    await waitFor(living.cluster, at('secrets', `${living.name}-app`), (seen) => seen?.data?.['ca.crt'] === encoded(company.certificate), { what: 'trust in the new one alone' });
    await expect(session(own, async (open) => open.version())).rejects.toThrow(/certificate/);
    expect((await living.cluster.kubectl(`get secret ${living.name}-ca -n ${living.namespace} --ignore-not-found -o name`)).trim()).toBe('');
    await living.becomes('Ready', living.isReady);
    expect(await living.podUid()).toBe(pod);
  }, 120_000);

  function certificateSecret(name: string, certificate: string, key: string, authority: string): object {
    const data = { 'tls.crt': encoded(certificate), 'tls.key': encoded(key), 'ca.crt': encoded(authority) };
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: living.namespace }, type: 'kubernetes.io/tls', data };
  }
}
