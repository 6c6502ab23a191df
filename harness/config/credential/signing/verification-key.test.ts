import { generateKeyPairSync, type SignKeyObjectInput, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../base/secret.ts';
import { standInFor } from '../stand-in.ts';
import { publicKeyIn, type SecretEncoding, verified } from './verification-key.ts';

// RFC 9421, appendices B.1.4 and B.2.6.
const PEM = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----`;
const JWK = '{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}';
const BASE = `"date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@authority": example.com
"content-type": application/json
"content-length": 18
"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"`;
const SIGNATURE = Buffer.from(
  'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==',
  'base64',
);

const given = (change: Partial<Parameters<typeof verified>[1]> = {}) => ({
  base: BASE,
  signature: SIGNATURE,
  algorithm: undefined,
  ...change,
});

describe('a public key', () => {
  it.each([
    ['PEM', PEM],
    ['a JSON web key', JWK],
  ])('verifies as %s what RFC 9421 has signed', (_, text) => {
    const key = { pem: publicKeyIn(text) ?? '' };
    expect(verified(key, given())).toBe('valid');
    expect(verified(key, given({ algorithm: 'ed25519' }))).toBe('valid');
    expect(verified(key, given({ base: BASE.replace('POST', 'GET') }))).toBe('invalid');
    expect(verified(key, given({ signature: new Uint8Array([1]) }))).toBe('invalid');
    expect(verified(key, given({ algorithm: 'rsa-pss-sha512' }))).toBe('unfit');
    expect(verified(key, given({ algorithm: 'hmac-sha256' }))).toBe('unfit');
    expect(verified(key, given({ algorithm: 'of-tomorrow' }))).toBe('unknown');
  });

  it.each([
    ['ecdsa-p256-sha256', 'sha256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['ecdsa-p384-sha384', 'sha384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['rsa-v1_5-sha256', 'sha256', generateKeyPairSync('rsa', { modulusLength: 2_048 })],
    ['rsa-pss-sha512', 'sha512', generateKeyPairSync('rsa', { modulusLength: 2_048 })],
  ] as const)(
    'verifies what was signed by %s, named or not',
    (algorithm, hash, { privateKey, publicKey }) => {
      const pss: Partial<SignKeyObjectInput> =
        algorithm === 'rsa-pss-sha512' ? { padding: 6, saltLength: 64 } : {};
      const signature = sign(hash, Buffer.from(BASE), { key: privateKey, dsaEncoding: 'ieee-p1363', ...pss });
      const key = { pem: publicKeyIn(publicKey.export({ type: 'spki', format: 'pem' }).toString()) ?? '' };
      expect(verified(key, given({ signature, algorithm }))).toBe('valid');
      expect(verified(key, given({ signature }))).toBe('valid');
      expect(verified(key, given({ signature: signature.subarray(1), algorithm }))).toBe('invalid');
      const der = sign(hash, Buffer.from(BASE), privateKey);
      if (algorithm.startsWith('ecdsa')) expect(verified(key, given({ signature: der }))).toBe('invalid');
    },
  );

  it('is not every text', () => {
    const { publicKey } = generateKeyPairSync('x25519');
    const another = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    for (const text of ['', 'a secret', '{"kty":"oct","k":"AAAA"}', '{', another]) {
      expect(publicKeyIn(text)).toBeNull();
    }
  });
});

describe('a shared secret', () => {
  // RFC 9421, appendices B.1.5 and B.2.5.
  const written = 'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==';
  const base = `"date": Tue, 20 Apr 2021 02:07:55 GMT
"@authority": example.com
"content-type": application/json
"@signature-params": ("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"`;
  const signature = Buffer.from('pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=', 'base64');
  const shared = (encoding: SecretEncoding, text = written) => ({
    secret: new Secret('SIGNING_SECRET', text),
    encoding,
  });

  it('verifies what RFC 9421 has signed', () => {
    const signed = { base, signature, algorithm: undefined };
    expect(verified(shared('base64'), signed)).toBe('valid');
    expect(verified(shared('base64'), { ...signed, algorithm: 'hmac-sha256' })).toBe('valid');
    expect(verified(shared('base64'), { ...signed, base: base.replace('20 Apr', '21 Apr') })).toBe('invalid');
    expect(verified(shared('base64'), { ...signed, signature: signature.subarray(1) })).toBe('invalid');
    expect(verified(shared('text'), signed)).toBe('invalid');
    expect(verified(shared('base64'), { ...signed, algorithm: 'ed25519' })).toBe('unfit');
    expect(verified(shared('base64'), { ...signed, algorithm: 'of-tomorrow' })).toBe('unknown');
  });

  it('cannot verify anything where another text stands for it', () => {
    const text = standInFor({ name: 'SIGNING_SECRET', form: 'text', expiresAt: null });
    const signed = { base, signature, algorithm: 'hmac-sha256' };
    expect(verified(shared('text', text), signed)).toBe('unrecorded');
  });
});
