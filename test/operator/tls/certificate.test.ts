import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { isStale, makeAuthority, makeServerCertificate } from '../../../src/operator/tls/certificate';

const now = new Date();
const names = ['orders.shop.svc', 'orders', '*.orders-pods.shop.svc'];
const authority = makeAuthority('orders.shop', now);
const server = makeServerCertificate(authority, names, now);
const days = (count: number) => new Date(now.getTime() + count * 86_400_000);

describe('a certificate', () => {
  it('is signed by its authority and covers its names', () => {
    const certificate = new X509Certificate(server.certificate);
    const issuer = new X509Certificate(authority.certificate);
    expect(certificate.verify(issuer.publicKey)).toBe(true);
    expect(certificate.checkIssued(issuer)).toBe(true);
    expect(issuer.ca).toBe(true);
    expect(certificate.ca).toBe(false);
    for (const name of ['orders.shop.svc', 'orders', 'orders-0.orders-pods.shop.svc']) expect(certificate.checkHost(name)).toBeDefined();
    expect(certificate.checkHost('other.shop.svc')).toBeUndefined();
  });

  it('passes the strict checks of OpenSSL', () => {
    const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
    try {
      writeFileSync(join(folder, 'ca.crt'), authority.certificate);
      writeFileSync(join(folder, 'tls.crt'), server.certificate);
      const said = execFileSync('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', join(folder, 'ca.crt'), join(folder, 'tls.crt')]).toString();
      expect(said).toContain('tls.crt: OK');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('makes a TLS connection that the client verifies by the authority alone', async () => {
    const listening = createServer({ cert: server.certificate, key: server.key }, (socket) => socket.end('hello'));
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    const { port } = listening.address() as AddressInfo;
    const heard = await new Promise<string>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', servername: 'orders.shop.svc', ca: authority.certificate });
      socket.on('data', (data) => resolve(data.toString()));
      socket.on('error', reject);
    });
    listening.close();
    expect(heard).toBe('hello');
  });

  it('is stale past two thirds of its life, under another authority, or for other names', () => {
    expect(isStale(server.certificate, [authority.certificate], ['orders'], days(59))).toBe(false);
    expect(isStale(server.certificate, [authority.certificate], ['orders'], days(61))).toBe(true);
    expect(isStale(server.certificate, [makeAuthority('another', now).certificate], ['orders'], now)).toBe(true);
    expect(isStale(server.certificate, [makeAuthority('orders.shop', now).certificate], ['orders'], now)).toBe(true);
    expect(isStale(server.certificate, [authority.certificate], ['customers'], now)).toBe(true);
  });

  it('writes years from 2050 on with four digits, as RFC 5280 wants', () => {
    const late = makeAuthority('late', new Date('2049-06-01T00:00:00Z'));
    expect(new Date(new X509Certificate(late.certificate).validTo).getUTCFullYear()).toBe(2059);
  });
});
