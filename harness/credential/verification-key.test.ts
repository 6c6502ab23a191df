import { generateKeyPairSync, type SignKeyObjectInput, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { publicKeyIn, verified } from './verification-key.ts';

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
    const pem = publicKeyIn(text) ?? '';
    expect(verified(pem, given())).toBe('valid');
    expect(verified(pem, given({ algorithm: 'ed25519' }))).toBe('valid');
    expect(verified(pem, given({ base: BASE.replace('POST', 'GET') }))).toBe('invalid');
    expect(verified(pem, given({ signature: new Uint8Array([1]) }))).toBe('invalid');
    expect(verified(pem, given({ algorithm: 'rsa-pss-sha512' }))).toBe('unfit');
    expect(verified(pem, given({ algorithm: 'hmac-sha256' }))).toBe('unfit');
    expect(verified(pem, given({ algorithm: 'of-tomorrow' }))).toBe('unknown');
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
      const pem = publicKeyIn(publicKey.export({ type: 'spki', format: 'pem' }).toString()) ?? '';
      expect(verified(pem, given({ signature, algorithm }))).toBe('valid');
      expect(verified(pem, given({ signature }))).toBe('valid');
      expect(verified(pem, given({ signature: signature.subarray(1), algorithm }))).toBe('invalid');
      const der = sign(hash, Buffer.from(BASE), privateKey);
      if (algorithm.startsWith('ecdsa')) expect(verified(pem, given({ signature: der }))).toBe('invalid');
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
