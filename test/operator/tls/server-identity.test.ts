import { certificatesIn, fingerprintOf, makeAuthority, makeServerCertificate } from '../../../src/operator/tls/certificate';
import { chosenIdentity, identityData, type IdentityFacts, type ServerIdentity } from '../../../src/operator/tls/server-identity';

const start = new Date('2026-01-01T00:00:00Z');
const after = (days: number) => new Date(start.getTime() + days * 86_400_000);
const of = { name: 'orders.shop', hosts: ['orders.shop.svc', 'orders'] };
const choose = (seen: IdentityFacts, now = start) => chosenIdentity(seen, of, now);
const first = choose({});
const stored = (identity: ServerIdentity, more: Partial<IdentityFacts> = {}): IdentityFacts => ({ authority: identity.authority, before: identity, ...more });
const shows = ({ server }: ServerIdentity) => fingerprintOf(server.certificate);

describe('a server identity of our own', () => {
  it('stays as it is, byte for byte, until two thirds of its life are over', () => {
    expect(choose(stored(first, { shown: shows(first) }), after(59))).toEqual(first);
    expect(choose(stored(first), after(59))).toEqual(first);
  });

  it('is renewed under the same authority, so that nobody has to trust anybody new', () => {
    const renewed = choose(stored(first, { shown: shows(first) }), after(61));
    expect(renewed.server).not.toEqual(first.server);
    expect(renewed.authority).toEqual(first.authority);
    expect(renewed.trust).toBe(first.trust);
  });

  it('trusts a new authority at once and has it sign only at the next renewal; the former one is trusted until the server has changed', () => {
    const fresh = choose(stored(first, { shown: shows(first) }), after(2430));
    const quiet = choose(stored(fresh, { shown: shows(fresh) }), after(2432));
    expect(quiet).toEqual(fresh);
    const followed = choose(stored(quiet, { shown: shows(quiet) }), after(2440));
    expect(followed.authority?.certificate).not.toBe(first.authority?.certificate);
    expect(followed.authority?.former).toBe(first.authority?.certificate);
    expect(followed.server).toEqual(quiet.server);
    expect(certificatesIn(followed.trust)).toEqual([followed.authority?.certificate, first.authority?.certificate]);
    expect(Object.keys(identityData(followed).authority ?? {})).toEqual(['tls.crt', 'tls.key', 'former.crt']);

    const signed = choose(stored(followed, { shown: shows(followed) }), after(2495));
    expect(signed.authority?.former).toBeUndefined();
    expect(certificatesIn(signed.trust)).toHaveLength(2);
    expect(certificatesIn(choose(stored(signed, { shown: shows(signed) }), after(2495)).trust)).toEqual([signed.authority?.certificate]);
  });
});

describe('a given certificate', () => {
  const authority = makeAuthority('a company', start);
  const server = makeServerCertificate(authority, ['orders.shop.svc'], start);
  const given = { kind: 'usable', server, authority: authority.certificate } as const;

  it('takes the place of our own, whose authority is trusted until the server has shown the new one', () => {
    const taken = choose(stored(first, { given, shown: shows(first) }));
    expect(taken.server).toEqual(server);
    expect(taken.authority).toBeUndefined();
    expect(certificatesIn(taken.trust)).toEqual([authority.certificate, first.authority?.certificate]);
    const settled = choose(stored(taken, { given, shown: shows(taken) }));
    expect(settled.trust).toBe(authority.certificate);
    expect(identityData(settled)).not.toHaveProperty(['authority', 'tls.key']);
  });

  it('stays when its Secret is broken or gone, and goes when nobody asks for it any more', () => {
    const taken = choose(stored(first, { given, shown: fingerprintOf(server.certificate) }));
    expect(choose(stored(taken, { given: { kind: 'unusable', why: 'Secret x has no tls.key' } }), after(200))).toEqual(taken);
    expect(choose(stored(taken)).authority).toBeDefined();
  });

  it('that was never usable leaves our own in its place, renewals included', () => {
    const unusable = { kind: 'unusable', why: 'Secret x does not exist' } as const;
    expect(choose(stored(first, { given: unusable }))).toEqual(first);
    expect(choose(stored(first, { given: unusable }), after(61)).server).not.toEqual(first.server);
  });
});
