import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { der } from './der';

/** A certificate and its private key, PEM. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate from a Secret of the user's, as cert-manager writes it; or why it can't be taken. */
export type GivenCertificate =
  | { readonly kind: 'usable'; readonly server: KeyedCertificate; /** PEM, one or several. */ readonly authority: string }
  | { readonly kind: 'unusable'; readonly why: string };

const DAY_MS = 86_400_000;
/** A server's certificate lives a quarter of a year; it is renewed after two thirds of that. */
const SERVER_DAYS = 90;
/** The authority outlives many of them, because everyone who verifies must be given a new one. */
const AUTHORITY_DAYS = 3650;

const ids = { ecdsaSha256: '1.2.840.10045.4.3.2', commonName: '2.5.4.3', subjectKey: '2.5.29.14', keyUsage: '2.5.29.15', altName: '2.5.29.17', basic: '2.5.29.19', authorityKey: '2.5.29.35', extendedUsage: '2.5.29.37', serverAuth: '1.3.6.1.5.5.7.3.1' } as const;

/** Makes an authority that signs itself. */
export function makeAuthority(name: string, now: Date): KeyedCertificate {
  const { publicKey, privateKey } = newKeys();
  const extensions = [extension(ids.basic, der.sequence(der.boolean(true)), true), extension(ids.keyUsage, der.bits(Buffer.from([0b0000_0110]), 1), true), subjectKey(publicKey)];
  return issue({ name, issuer: name, publicKey, signWith: privateKey, extensions, now, days: AUTHORITY_DAYS }, privateKey);
}

/** Has an authority sign a certificate for a server that is reached by these DNS names. */
export function makeServerCertificate(authority: KeyedCertificate, names: readonly string[], now: Date): KeyedCertificate {
  const { publicKey, privateKey } = newKeys();
  const signWith = createPrivateKey(authority.key);
  const extensions = [
    extension(ids.basic, der.sequence(), true),
    extension(ids.keyUsage, der.bits(Buffer.from([0b1000_0000]), 7), true),
    extension(ids.extendedUsage, der.sequence(der.oid(ids.serverAuth))),
    extension(ids.altName, der.sequence(...names.map((name) => der.implicit(2, Buffer.from(name, 'ascii'))))),
    subjectKey(publicKey),
    extension(ids.authorityKey, der.sequence(der.implicit(0, keyId(createPublicKey(signWith))))),
  ];
  const issuer = commonName(new X509Certificate(authority.certificate));
  return issue({ name: names[0] ?? '', issuer, publicKey, signWith, extensions, now, days: SERVER_DAYS }, privateKey);
}

/** Whether a certificate should be made anew: past two thirds of its life, from none of these authorities, or for other names. */
export function isStale(certificate: string, authorities: readonly string[], names: readonly string[], now: Date): boolean {
  const own = new X509Certificate(certificate);
  const covers = names.every((name) => own.checkHost(name) !== undefined);
  const known = authorities.map((each) => new X509Certificate(each)).some((authority) => own.checkIssued(authority) && own.verify(authority.publicKey));
  return isOld(certificate, now) || !covers || !known;
}

/** Whether a certificate is past two thirds of its life. */
export function isOld(certificate: string, now: Date): boolean {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return now.getTime() > from + ((to - from) * 2) / 3;
}

/** By what a certificate is told from others; of a chain, the first. */
export function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256;
}

/** The certificates of a PEM text, one by one. */
export function certificatesIn(pem: string): string[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((each) => `${each.replaceAll('\r', '')}\n`);
}

interface Issue {
  readonly name: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signWith: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly now: Date;
  readonly days: number;
}

function issue({ name, issuer, publicKey, signWith, extensions, now, days }: Issue, ownKey: KeyObject): KeyedCertificate {
  // Clocks of a cluster differ a little; a certificate of this minute must be good everywhere.
  const validity = der.sequence(der.time(new Date(now.getTime() - 3_600_000)), der.time(new Date(now.getTime() + days * DAY_MS)));
  const algorithm = der.sequence(der.oid(ids.ecdsaSha256));
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x01;
  const body = der.sequence(
    der.context(0, der.integer(Buffer.from([2]))),
    der.integer(serial),
    algorithm,
    distinguished(issuer),
    validity,
    distinguished(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der.context(3, der.sequence(...extensions)),
  );
  const whole = der.sequence(body, algorithm, der.bits(sign('sha256', body, signWith)));
  return { certificate: pem('CERTIFICATE', whole), key: ownKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function newKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return der.sequence(der.oid(id), ...(critical ? [der.boolean(true)] : []), der.octets(value));
}

function subjectKey(key: KeyObject): Buffer {
  return extension(ids.subjectKey, der.octets(keyId(key)));
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha1').update(key.export({ type: 'spki', format: 'der' })).digest();
}

/** A common name holds 64 characters; a longer DNS name stands in the alternative names anyway. */
function distinguished(name: string): Buffer {
  return der.sequence(der.set(der.sequence(der.oid(ids.commonName), der.text(name.slice(0, 64)))));
}

function commonName(certificate: X509Certificate): string {
  return /(?:^|\n)CN=(.*)/.exec(certificate.subject)?.[1] ?? '';
}

function pem(label: string, bytes: Buffer): string {
  return `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()}\n-----END ${label}-----\n`;
}
