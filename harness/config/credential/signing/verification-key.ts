import { constants, createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import type { Secret } from '../../../base/secret.ts';
import type { MessageSignature } from '../../../wire/fields/signature/message-signature.ts';
import { signatureBase } from '../../../wire/fields/signature/signature-base.ts';
import { isStandIn } from '../stand-in.ts';

/** With what a signature is verified: a public key in PEM, of `publicKeyIn`, or a secret that both sides share. */
export type VerificationKey = { readonly pem: string } | SharedSecret;

export interface SharedSecret {
  readonly secret: Secret;
  /** Of the octets that sign, as the secret is written. */
  readonly encoding: SecretEncoding;
}

export const SECRET_ENCODINGS = ['text', 'base64'] as const;
export type SecretEncoding = (typeof SECRET_ENCODINGS)[number];

/** RFC 9421 §3.3.3. */
const BY_SHARED_SECRET = 'hmac-sha256';

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
    const isJson = /^\s*\{/.test(text);
    const key = createPublicKey(isJson ? { key: JSON.parse(text), format: 'jwk' } : text);
    const isKnown = ALGORITHMS.some(({ fits }) => fits(key));
    return isKnown ? key.export({ type: 'spki', format: 'pem' }).toString() : null;
  } catch {
    return null;
  }
}

/** `unfit`: the algorithm is not for the key. `unrecorded`: the secret is not in the judged record. */
export type SignatureWorth = 'valid' | 'invalid' | 'unfit' | 'unknown' | 'unrecorded';

interface Signed {
  readonly base: string;
  readonly signature: Uint8Array;
  /** What the signature says of itself; undefined where it says nothing. */
  readonly algorithm: string | undefined;
}

export function verified(key: VerificationKey, signed: Signed): SignatureWorth {
  const { algorithm } = signed;
  const names = [...ALGORITHMS.map(({ name }) => name), BY_SHARED_SECRET];
  if (algorithm !== undefined && !names.includes(algorithm)) return 'unknown';
  return 'pem' in key ? verifiedByPublicKey(key.pem, signed) : verifiedBySecret(key, signed);
}

/** Result of a verification; `untold`: it cannot be verified. */
export type SignatureVerdict =
  | { readonly is: 'valid' }
  | { readonly is: 'invalid'; readonly got: string }
  | { readonly is: 'untold'; readonly why: string };

/** What a signature of a message (RFC 9421) amounts to by these keys, one of which should fit. */
export function verdictOnSignature(
  signature: MessageSignature,
  message: Parameters<typeof signatureBase>[1],
  keys: readonly VerificationKey[],
): SignatureVerdict {
  const { label, parameters, value } = signature;
  const base = signatureBase(signature, message);
  if (base.is === 'missing') return { is: 'invalid', got: `${label} over ${base.what}` };
  if (base.is === 'untold') return { is: 'untold', why: `${label} covers what ${base.why}` };
  const named = parameters.get('alg');
  const algorithm = typeof named === 'string' ? named : undefined;
  const results = keys.map((key) => verified(key, { base: base.text, signature: value, algorithm }));
  if (results.includes('valid')) return { is: 'valid' };
  if (results.includes('unknown')) return { is: 'untold', why: `the algorithm of ${label} is unknown here` };
  if (results.includes('unrecorded'))
    return { is: 'untold', why: 'the secret that it is made with is not in the record' };
  const isUnfit = results.every((result) => result === 'unfit');
  const why = isUnfit ? 'whose algorithm is not for its key' : 'which does not hold';
  return { is: 'invalid', got: `${label}, ${why}` };
}

function verifiedByPublicKey(pem: string, { base, signature, algorithm }: Signed): SignatureWorth {
  const key = createPublicKey(pem);
  const isMeant = (name: string) => algorithm === undefined || name === algorithm;
  const fitting = ALGORITHMS.filter(({ name, fits }) => isMeant(name) && fits(key));
  if (fitting.length === 0) return 'unfit';
  const octets = Buffer.from(base);
  const holds = fitting.some(({ hash, options }) => verify(hash, octets, { key, ...options }, signature));
  return holds ? 'valid' : 'invalid';
}

function verifiedBySecret(key: SharedSecret, { base, signature, algorithm }: Signed): SignatureWorth {
  if (algorithm !== undefined && algorithm !== BY_SHARED_SECRET) return 'unfit';
  if (isStandIn(key.secret.reveal())) return 'unrecorded';
  const wanted = createHmac('sha256', octetsOf(key)).update(base).digest();
  return wanted.length === signature.length && timingSafeEqual(wanted, signature) ? 'valid' : 'invalid';
}

/** The octets of the secret, as signing uses them. */
export function octetsOf({ secret, encoding }: SharedSecret): Buffer {
  return Buffer.from(secret.reveal(), encoding === 'base64' ? 'base64' : 'utf8');
}
