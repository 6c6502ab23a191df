import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  sign,
} from 'node:crypto';
import type { HttpAnswer } from './answer.ts';
import { fieldValues, type ReceivedRequest, withField } from './message.ts';

/** Signatures of answers (RFC 9421), and digests of what they send (RFC 9530). */

/** An Ed25519 key that follows from a word: the same wherever the provider runs. */
function keyOf(word: string): KeyObject {
  // RFC 8410 §7: the octets before the 32 octets of a private key.
  const head = Buffer.from('302e020100300506032b657004220420', 'hex');
  const octets = createHash('sha256').update(word).digest();
  return createPrivateKey({ key: Buffer.concat([head, octets]), format: 'der', type: 'pkcs8' });
}

const SIGNING_KEY = keyOf('conform example');
export const KEY_ID = 'example';
/** Of the key with which answers are signed, in PEM. */
export const PUBLIC_KEY = createPublicKey(SIGNING_KEY).export({ type: 'spki', format: 'pem' }).toString();
export const OTHER_KEY: KeyObject = keyOf('conform stranger');

type Covered = readonly [identifier: string, value: string];

/** A secret that both sides share, in base64. */
export const SHARED_SECRET = Buffer.from('example-shared-secret-not-secret').toString('base64');
export const SHARED_KEY: KeyObject = createSecretKey(SHARED_SECRET, 'base64');

/** The signature of a text: with HMAC and SHA-256 where the key is a secret, else with Ed25519. */
function signatureOf(text: string, key: KeyObject): Buffer {
  if (key.type === 'secret') return createHmac('sha256', key).update(text).digest();
  return sign(null, Buffer.from(text), key);
}

export interface Signing {
  readonly label?: string;
  /** The covered components, in order. */
  readonly covered: readonly Covered[];
  /** Its parameters, each with its semicolon: `;created=1618884473`. */
  readonly parameters: string;
  readonly key?: KeyObject;
  /** Replaces the signature base by the text that is signed. */
  readonly signs?: (base: string) => string;
  /** The signature as it stands in the field, made of its octets; default: a byte sequence. */
  readonly written?: (octets: Buffer) => string;
}

export function signatureFields(signing: Signing): readonly (readonly [name: string, value: string])[] {
  const {
    label = 'sig1',
    covered,
    parameters,
    key = SIGNING_KEY,
    signs = String,
    written = byteSequence,
  } = signing;
  const input = `(${covered.map(([identifier]) => identifier).join(' ')})${parameters}`;
  const lines = [...covered, ['"@signature-params"', input]].map((line) => line.join(': '));
  const octets = signatureOf(signs(lines.join('\n')), key);
  return [
    ['Signature-Input', `${label}=${input}`],
    ['Signature', `${label}=${written(octets)}`],
  ];
}

export function signed(answer: HttpAnswer, signing: Signing): HttpAnswer {
  return { ...answer, fields: [...answer.fields, ...signatureFields(signing)] };
}

export const byteSequence = (octets: Buffer): string => `:${octets.toString('base64')}:`;

/** Those of the fields that the answer has, in lower case, each with its value. */
export function fieldsOf(answer: HttpAnswer, ...names: readonly string[]): readonly Covered[] {
  return names.flatMap((name): readonly Covered[] => {
    const values = fieldValues(answer, name);
    return values.length === 0 ? [] : [[`"${name}"`, values.join(', ')]];
  });
}

/** What an answer is and what it answers: status, method, path. */
export function derivedOf(answer: HttpAnswer, { method, path }: ReceivedRequest): readonly Covered[] {
  return [
    ['"@status"', String(answer.status)],
    ['"@method";req', method],
    ['"@path";req', path],
  ];
}

/** `sha-256=:…:` */
export function digestOf(content: Buffer, algorithm = 'sha-256'): string {
  const hash = algorithm.replace('-', '');
  return `${algorithm}=${byteSequence(createHash(hash).update(content).digest())}`;
}

export function withDigest(answer: HttpAnswer): HttpAnswer {
  return withField(answer, 'Content-Digest', digestOf(answer.body));
}

/** Seconds since 1970. */
export const seconds = (nowMs: number): number => Math.floor(nowMs / 1_000);
