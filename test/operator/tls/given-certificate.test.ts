import { encoded, type Secret } from '../../../src/operator/accounts';
import { makeAuthority, makeServerCertificate } from '../../../src/operator/tls/certificate';
import { givenCertificate } from '../../../src/operator/tls/given-certificate';

const now = new Date();
const host = 'orders.shop.svc';
const authority = makeAuthority('a company', now);
const server = makeServerCertificate(authority, [host], now);
const good = { 'tls.crt': server.certificate, 'tls.key': server.key, 'ca.crt': authority.certificate };
const secret = (data: Record<string, string>): Secret => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mine' }, data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, encoded(value)])) });
const why = (data: Record<string, string>, at = now) => {
  const told = givenCertificate('mine', secret(data), host, at);
  return told.kind === 'unusable' ? told.why : '';
};

describe('a Secret with a certificate', () => {
  it('is taken as cert-manager writes it', () => {
    expect(givenCertificate('mine', secret(good), host, now)).toEqual({ kind: 'usable', server, authority: authority.certificate });
  });

  it('may lead to its authority over another one', () => {
    const root = makeAuthority('a root', now);
    expect(why({ ...good, 'ca.crt': root.certificate + authority.certificate })).toBe('');
    expect(why({ ...good, 'tls.crt': server.certificate + authority.certificate, 'ca.crt': authority.certificate })).toBe('');
  });

  it.each<[string, Record<string, string>, string]>([
    ['lacks a key', { 'tls.crt': 'x', 'tls.key': 'y' }, 'Secret mine has no ca.crt; add the key'],
    ['lacks two', { 'ca.crt': 'x' }, 'Secret mine has no tls.crt and no tls.key; add the keys'],
    ['has no certificate', { ...good, 'tls.crt': 'nonsense' }, 'no PEM certificate in tls.crt'],
    ['has half a certificate', { ...good, 'tls.crt': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }, 'no PEM certificate in tls.crt'],
    ['has no authority', { ...good, 'ca.crt': 'nonsense' }, 'no PEM certificate in ca.crt'],
    ['has no key', { ...good, 'tls.key': 'nonsense' }, 'no PEM private key'],
    ['has another’s key', { ...good, 'tls.key': makeServerCertificate(authority, [host], now).key }, 'a tls.key that does not belong to its tls.crt'],
    ['has another authority', { ...good, 'ca.crt': makeAuthority('a company', now).certificate }, 'a tls.crt that its ca.crt did not sign'],
    ['is for another server', certificateFor('customers.shop.svc'), 'a certificate for DNS:customers.shop.svc, which must also name DNS:orders.shop.svc'],
  ])('that %s is refused in words', (_what, data, words) => {
    expect(why(data)).toContain(words);
  });

  it('is refused when it is over, not yet valid, or not there', () => {
    expect(why(good, new Date(now.getTime() + 91 * 86_400_000))).toContain('a certificate that ended on');
    expect(why(good, new Date(now.getTime() - 86_400_000))).toContain('a certificate that begins on');
    expect(givenCertificate('mine', undefined, host, now)).toMatchObject({ kind: 'unusable', why: expect.stringContaining('Secret mine does not exist') as string });
  });
});

function certificateFor(name: string): Record<string, string> {
  const other = makeServerCertificate(authority, [name], now);
  return { ...good, 'tls.crt': other.certificate, 'tls.key': other.key };
}
