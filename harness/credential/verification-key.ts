import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** A way of signing (RFC 9421 §3.3.1 to §3.3.6), by its name in the registry of the RFC. */
interface Algorithm {
  readonly name: string;
  readonly fits: (key: KeyObject) => boolean;
  readonly hash: string | null;
  readonly options?: object;
}

const isOnCurve =
  (curve: string) =>
  ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
    asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === curve;

// r and s one after the other, and not as in DER.
const TWO_NUMBERS = { dsaEncoding: 'ieee-p1363' };

const ALGORITHMS: readonly Algorithm[] = [
  { name: 'ed25519', fits: (key) => key.asymmetricKeyType === 'ed25519', hash: null },
  { name: 'ecdsa-p256-sha256', fits: isOnCurve('prime256v1'), hash: 'sha256', options: TWO_NUMBERS },
  { name: 'ecdsa-p384-sha384', fits: isOnCurve('secp384r1'), hash: 'sha384', options: TWO_NUMBERS },
  {
    name: 'rsa-pss-sha512',
    fits: ({ asymmetricKeyType }) => asymmetricKeyType === 'rsa' || asymmetricKeyType === 'rsa-pss',
    hash: 'sha512',
    options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 },
  },
  {
    name: 'rsa-v1_5-sha256',
    fits: ({ asymmetricKeyType }) => asymmetricKeyType === 'rsa',
    hash: 'sha256',
    options: { padding: constants.RSA_PKCS1_PADDING },
  },
];

/** A public key in PEM, or as a JSON web key (RFC 7517); in PEM. Null for another text, or a key that signs in no known way. */
export function publicKeyIn(text: string): string | null {
  try {
    const key = /^\s*\{/.test(text)
      ? createPublicKey({ key: JSON.parse(text), format: 'jwk' })
      : createPublicKey(text);
    return ALGORITHMS.some(({ fits }) => fits(key))
      ? key.export({ type: 'spki', format: 'pem' }).toString()
      : null;
  } catch {
    return null;
  }
}

/** What becomes of a signature: `unfit` where its algorithm is not for that key, `unknown` where nobody here knows it. */
export type Verification = 'valid' | 'invalid' | 'unfit' | 'unknown';

/** `pem`: of `publicKeyIn`. `algorithm`: what the signature says of itself; undefined where it says nothing. */
export function verified(
  pem: string,
  { base, signature, algorithm }: { base: string; signature: Uint8Array; algorithm: string | undefined },
): Verification {
  const key = createPublicKey(pem);
  const meant = ALGORITHMS.filter(({ name }) => algorithm === undefined || name === algorithm);
  // With a shared secret nobody signs who has this key.
  if (meant.length === 0) return algorithm === 'hmac-sha256' ? 'unfit' : 'unknown';
  const fitting = meant.filter(({ fits }) => fits(key));
  if (fitting.length === 0) return 'unfit';
  const holds = fitting.some(({ hash, options }) =>
    verify(hash, Buffer.from(base), { key, ...options }, signature),
  );
  return holds ? 'valid' : 'invalid';
}
