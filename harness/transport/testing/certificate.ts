import { generateKeyPairSync, sign } from 'node:crypto';

/** A key and a certificate that it signs itself, in PEM, for a TLS server in a test. */
export interface TestIdentity {
  readonly key: string;
  readonly cert: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** 1.3.101.112, Ed25519 (RFC 8410 §3) */
const ED25519 = element(0x30, element(0x06, Buffer.from([0x2b, 0x65, 0x70])));

/** An X.509 certificate (RFC 5280 §4.1), made fresh so that no key lies in the repository. Valid for a day. */
export function selfSigned(name: string, address = '127.0.0.1'): TestIdentity {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const now = Date.now();
  const toBeSigned = element(
    0x30,
    element(0xa0, integer(2)),
    integer(1),
    ED25519,
    distinguishedName(name),
    element(0x30, utcTime(now - DAY_MS), utcTime(now + DAY_MS)),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, element(0x30, subjectAlternativeNames(name, address))),
  );
  const signature = sign(null, toBeSigned, privateKey);
  const certificate = element(0x30, toBeSigned, ED25519, element(0x03, Buffer.from([0]), signature));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function subjectAlternativeNames(name: string, address: string): Buffer {
  const names = element(
    0x30,
    element(0x82, Buffer.from(name)),
    element(0x87, Buffer.from(address.split('.').map(Number))),
  );
  return element(0x30, element(0x06, Buffer.from([0x55, 0x1d, 0x11])), element(0x04, names));
}

function distinguishedName(commonName: string): Buffer {
  const attribute = element(
    0x30,
    element(0x06, Buffer.from([0x55, 0x04, 0x03])),
    element(0x0c, Buffer.from(commonName)),
  );
  return element(0x30, element(0x31, attribute));
}

function integer(value: number): Buffer {
  return element(0x02, Buffer.from([value]));
}

function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '').slice(2, 14);
  return element(0x17, Buffer.from(`${digits}Z`));
}

/** Tag, length and content by DER (X.690 §8.1). */
function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const lengthOctets =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthOctets]), content]);
}
