import type { SignatureKeys } from '../../../harness/config/blocks/signatures.ts';
import {
  type SignatureVerdict,
  verdictOnSignature,
} from '../../../harness/config/credential/signing/verification-key.ts';
import type { ResponseReading } from '../../../harness/engine/check/suite.ts';
import { derived, overRecord } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import {
  acceptSignatureFault,
  type Component,
  type MessageSignature,
  readDigests,
  readSignatures,
  sameness,
  weakDigests,
  wrongDigest,
} from '../../../harness/wire/fields/signature/message-signature.ts';
import { signatureBase } from '../../../harness/wire/fields/signature/signature-base.ts';
import { samplesInARow } from '../../stimuli/sample.ts';
import { explained } from '../../stimuli/target.ts';

/** HTTP Message Signatures (RFC 9421) of responses, and the digests that they sign (RFC 9530). */

/** To requests in which nothing is odd: what is signed of them is what was sent. */
export const plainReplies = overRecord<Reply>('plain-replies', [samplesInARow, explained], ({ recorded }) =>
  recorded.exchanges.filter((reply) => reply.status !== null && isPlain(reply)),
);

/** No server on the way has a reason to change anything of it. */
function isPlain({ isOrdinary, exchange: { request } }: Reply): boolean {
  return isOrdinary && SAME_ON_THE_WAY.test(request.target) && request.method !== 'TRACE';
}

const SAME_ON_THE_WAY = /^(?:\/[\w.~-]+)*\/?(?:\?[\w.~=&-]*)?$/;

/** `Signature` alone is older than the standard, and in use for other things. */
export const isSigned = ({ response }: Reply): boolean => response.has('signature-input');

function readingOf({ exchange: { response } }: Reply) {
  return readSignatures([...(response?.fields ?? []), ...(response?.trailers ?? [])]);
}

/** Signatures that are too many are not all looked at. */
export const IN_SIGNATURES: ResponseReading<Reply> = {
  unread: (_, reply) => readingOf(reply).unread,
  partly: true,
};

/** What is malformed in the signatures; null when nothing is. */
export function signatureFault(reply: Reply): string | null {
  return readingOf(reply).fault;
}

/** What is malformed in Accept-Signature; null when nothing is. */
export function wishFault({ response }: Reply): string | null {
  return acceptSignatureFault(response.fields);
}

/** The first thing that a signature covers and the message does not have; null when there is none. */
export function missingComponent(reply: Reply): string | null {
  const { request, response } = reply.exchange;
  if (response === null) return null;
  for (const signature of readingOf(reply).signatures) {
    const base = signatureBase(signature, { request, response });
    if (base.is === 'missing') return `${base.what}, which ${signature.label} covers`;
  }
  return null;
}

/** What becomes of the signatures of each plain reply by the keys of the config, which are known by their names. */
export const verdicts = derived<ReadonlyMap<Reply, SignatureVerdict>>(
  'signature-verdicts',
  [plainReplies],
  async ({ ask, config: { signatures = {} } }) =>
    new Map((await ask(plainReplies)).all.map((reply) => [reply, verdictOn(reply, signatures)])),
);

/** A wrong signature decides, then a right one. */
export function verdictOn(reply: Reply, keys: SignatureKeys): SignatureVerdict {
  const each = readingOf(reply).signatures.flatMap((signature) => verdictBy(keys, signature, reply) ?? []);
  const decisive = each.find(({ is }) => is === 'invalid') ?? each.find(({ is }) => is === 'valid');
  const none = { is: 'invalid', got: 'none by a key of the config' } as const;
  return decisive ?? each[0] ?? (reply.served ? none : { is: 'valid' });
}

/** Null where somebody else has signed, with a key of another name. */
function verdictBy(
  keys: SignatureKeys,
  signature: MessageSignature,
  { exchange: { request, response } }: Reply,
): SignatureVerdict | null {
  const keyid = signature.parameters.get('keyid');
  const known = Object.entries(keys).flatMap(([name, key]) =>
    keyid === undefined || name === keyid ? [key] : [],
  );
  if (response === null || known.length === 0) return null;
  return verdictOnSignature(signature, { request, response }, known);
}

/** Beside a Date, times of the same message are judged to a minute; without one, clocks may differ by so much, in ms. */
const TOLERATED_MS = 60_000;
const WRONG_CLOCK_MS = 25 * 60_000;

/** A signature that is of no use at the time when it comes; null when there is none. */
export function timeFault(reply: Reply): string | null {
  const { date, receivedAt } = reply.response;
  const [now, tolerated] = date === null ? [receivedAt, WRONG_CLOCK_MS] : [date, TOLERATED_MS];
  // What a cache hands out may have expired there, whether or not the cache writes Date anew.
  const storedMs = /^\d+$/.test(reply.response.field('age') ?? '')
    ? Number(reply.response.field('age')) * 1_000
    : 0;
  for (const { label, parameters } of readingOf(reply).signatures) {
    const [created, expires] = ['created', 'expires'].map((name) => parameters.get(name));
    if (typeof created === 'number' && created * 1_000 > Number(now) + tolerated)
      return `${label}, created ${away(created, now)} after it`;
    if (typeof expires !== 'number') continue;
    if (typeof created === 'number' && expires < created)
      return `${label}, which expires before it is created`;
    if (expires * 1_000 < Number(now) - storedMs - tolerated)
      return `${label}, expired ${away(expires, now)} before it`;
  }
  return null;
}

/** Seconds between a time in seconds and another one, roughly: the very number is another one in each run. */
function away(seconds: number, now: Date): string {
  const apart = Math.abs(seconds - Number(now) / 1_000);
  if (apart > 365 * 86_400) return 'years';
  if (apart > 86_400) return 'days';
  return apart > 3_600 ? 'hours' : 'minutes';
}

// --- digests ---

type DigestField = 'Content-Digest' | 'Repr-Digest';

/** What is malformed in one of these fields; null when nothing is. */
export function digestFault({ response }: Reply): string | null {
  for (const name of ['Content-Digest', 'Repr-Digest'] as const) {
    const value = response.field(name);
    const fault = value === undefined ? null : readDigests(value).fault;
    if (fault !== null) return `${name} with ${fault}`;
  }
  return null;
}

/** Its content is that of which the field tells: a HEAD and a 304 have the fields of another response. */
export function hasDigestOfContent({ response, exchange }: Reply, name: DigestField): boolean {
  const { method } = exchange.request;
  if (!response.has(name) || method === 'HEAD' || response.status === 304) return false;
  // RFC 9530 §3.1: what the representation is that answers another method is a matter of that method.
  return name === 'Content-Digest' || (method === 'GET' && response.status !== 206);
}

/** The digest that is not that of the body as it was sent; null when each is. */
export function wrongDigestOf({ response }: Reply, name: DigestField): string | null {
  const digests = readDigests(response.field(name) ?? '');
  const wrong = wrongDigest(digests, response.body.bytes);
  if (wrong === null) return null;
  const isOfContent = wrongDigest(digests, response.content) === null;
  return isOfContent ? `the ${wrong} of the body before it was compressed` : `another ${wrong}`;
}

/** A signed digest by which nobody can tell what was changed on purpose; null when there is none. */
export function weakSignedDigest(reply: Reply): string | null {
  const covered = readingOf(reply).signatures.flatMap(({ components }) => components.filter(isOwnField));
  for (const { name } of covered) {
    if (name !== 'content-digest' && name !== 'repr-digest') continue;
    const weak = weakDigests(readDigests(reply.response.field(name) ?? ''));
    if (weak !== null) return `${weak.join(' and ')} in ${name}`;
  }
  return null;
}

const isOwnField = ({ parameters }: Component): boolean => !parameters.has('req') && !parameters.has('tr');

// --- what is seen of them ---

/** What the signatures cover and tell, without what is another thing each time. */
export function coverage(reply: Reply) {
  return readingOf(reply).signatures.map(({ label, components, parameters }: MessageSignature) => ({
    label,
    covers: components.map(sameness),
    parameters: [...parameters.keys()],
    algorithm: parameters.get('alg') ?? null,
  }));
}
