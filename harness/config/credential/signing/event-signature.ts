import { createHmac, timingSafeEqual } from 'node:crypto';
import { clients, type Ground, rfc } from '../../../base/authority.ts';
import type { RecordedRequest } from '../../../wire/exchange.ts';
import { fieldValue } from '../../../wire/fields/grammar/field-grammar.ts';
import {
  type MessageSignature,
  readDigests,
  readSignatures,
  weakDigests,
  wrongDigest,
} from '../../../wire/fields/signature/message-signature.ts';
import type { Worth } from '../../../wire/http/webhook-receiver.ts';
import { octetsOf, type VerificationKey, verdictOnSignature } from './verification-key.ts';

/** An event on its way to a receiver, as far as it is signed. */
export interface SignedEvent {
  readonly signature: string;
  /** Of another header, by its name in lower case. */
  readonly field: (name: string) => string | undefined;
  readonly body: Uint8Array;
  /** As its sender made it, to the address that it was given. */
  readonly request: Pick<RecordedRequest, 'method' | 'url' | 'target' | 'fields'>;
}

interface Unverifiable {
  readonly untold: string;
}

interface EventKey {
  readonly key: VerificationKey;
  /** Prefix of the signature in the header, if the scheme does not define one. */
  readonly prefix: string;
}

interface Time {
  readonly readTime: (event: SignedEvent) => string | undefined;
  readonly ground: Ground;
  /** Nothing says that each attempt has a time of its own: it may be that of the first. */
  readonly mayBeOfFirst?: true;
}

interface EventScheme {
  /** The header with the signature; null where each service has a name of its own. */
  readonly header: string | null;
  readonly worth: (event: SignedEvent, means: EventKey) => Worth | Unverifiable;
  /** Signed with a private key as well as with a shared secret. */
  readonly takesPublicKeys?: true;
  /** How the time of the attempt is sent; absent if it is not. */
  readonly time?: Time;
  /** The first repetition may come at once. */
  readonly repeatsAtOnce?: true;
  /** Each attempt at an event has the same value there; left out where nothing is said of it. */
  readonly id?: string;
}

/** HMAC with SHA-256 (RFC 2104) of the body and its prefix. */
interface Hmac extends Omit<EventScheme, 'worth' | 'takesPublicKeys'> {
  readonly encoding: 'hex' | 'base64';
  /** The octets that a secret stands for, where the config does not say. */
  readonly octets?: (secret: string) => Buffer;
  /** Signed before the body; absent for nothing. */
  readonly before?: (event: SignedEvent) => string;
  /** Signatures in the header, of which one has to be right; the whole header when left out. */
  readonly signatures?: (value: string) => readonly string[];
}

function hmac({ encoding, octets, before, signatures, ...scheme }: Hmac): EventScheme {
  return {
    ...scheme,
    worth(event, { key, prefix }) {
      if ('pem' in key) return 'wrong';
      const digest = createHmac('sha256', octets?.(key.secret.reveal()) ?? octetsOf(key))
        .update(before?.(event) ?? '')
        .update(event.body)
        .digest(encoding);
      const wanted = Buffer.from(digest);
      const found = signatures?.(event.signature) ?? listed(event.signature, prefix, encoding);
      const isRight = found.some((text) => {
        const given = Buffer.from(text);
        return given.length === wanted.length && timingSafeEqual(given, wanted);
      });
      return isRight ? 'valid' : 'wrong';
    },
  };
}

/** Where no scheme says how: one signature, or several with commas between; hex digits in either case (RFC 4648 §8). */
function listed(value: string, prefix: string, encoding: 'hex' | 'base64'): readonly string[] {
  return [value, ...value.split(/\s*,\s*/)].flatMap((each) => {
    if (!each.startsWith(prefix)) return [];
    const digest = each.slice(prefix.length);
    return encoding === 'hex' ? digest.toLowerCase() : digest;
  });
}

const STANDARD_TIME = 'webhook-timestamp';
const SLACK_TIME = 'x-slack-request-timestamp';

/** Standard Webhooks 1.0.0: the secret is base64 behind `whsec_`; several secrets make several signatures. */
const standardWebhooks = hmac({
  header: 'webhook-signature',
  encoding: 'base64',
  octets: (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
  before: ({ field }) => `${field('webhook-id') ?? ''}.${field(STANDARD_TIME) ?? ''}.`,
  signatures: (value) => value.split(' ').flatMap((each) => /^v1,(.+)$/.exec(each)?.[1] ?? []),
  time: {
    readTime: ({ field }) => field(STANDARD_TIME),
    ground: clients('standardwebhooks and svix refuse a time that is 5 minutes off'),
  },
  id: 'webhook-id',
});

/** `t=1492774577,v1=…,v1=…,v0=…`: v0 is for tests. */
const stripe = hmac({
  header: 'Stripe-Signature',
  encoding: 'hex',
  before: ({ signature }) => `${stripeParts(signature, 't')[0] ?? ''}.`,
  signatures: (value) => stripeParts(value, 'v1'),
  time: {
    readTime: ({ signature }) => stripeParts(signature, 't')[0],
    ground: clients('the libraries of Stripe refuse a time that is 5 minutes off'),
  },
});

function stripeParts(value: string, name: string): readonly string[] {
  return value.split(',').flatMap((part) => {
    const [key, ...rest] = part.trim().split('=');
    return key === name ? [rest.join('=')] : [];
  });
}

const slack = hmac({
  header: 'X-Slack-Signature',
  encoding: 'hex',
  before: ({ field }) => `v0:${field(SLACK_TIME) ?? ''}:`,
  signatures: (value) => (value.startsWith('v0=') ? [value.slice('v0='.length)] : []),
  time: {
    readTime: ({ field }) => field(SLACK_TIME),
    ground: clients('receivers refuse a time that is 5 minutes off, as Slack tells them'),
    mayBeOfFirst: true,
  },
  repeatsAtOnce: true,
});

/** RFC 9421: of the request and a digest of its body (RFC 9530), by any algorithm that fits the key. */
const messageSignatures: EventScheme = {
  header: 'Signature-Input',
  takesPublicKeys: true,
  worth(event, { key }) {
    const each = signaturesOf(event).map((signature) => worthOf(signature, event, key));
    const untold = each.find((one) => typeof one !== 'string');
    const held = each.find((one) => typeof one === 'string' && one !== 'invalid');
    return each.find((one) => one === 'valid') ?? untold ?? held ?? 'invalid';
  },
  // Recommended if nothing else prevents a replay of the message (§2.3, §7.2.2).
  time: {
    readTime(event) {
      const times = signaturesOf(event).map(({ parameters }) => parameters.get('created'));
      return times.find((time) => typeof time === 'number')?.toString();
    },
    ground: rfc(9421, '2.3', 'SHOULD'),
    mayBeOfFirst: true,
  },
};

function signaturesOf({ request }: SignedEvent): readonly MessageSignature[] {
  return readSignatures(request.fields, 'request').signatures;
}

function worthOf(
  signature: MessageSignature,
  { request, body }: SignedEvent,
  key: VerificationKey,
): Worth | Unverifiable {
  const verdict = verdictOnSignature(signature, { request, response: null }, [key]);
  if (verdict.is === 'untold') return { untold: verdict.why };
  if (verdict.is === 'invalid') return 'invalid';
  if (body.length === 0) return 'valid';
  if (!signature.components.some(({ name }) => name === 'content-digest')) return 'uncovered';
  const digests = readDigests(fieldValue(request.fields, 'content-digest') ?? '');
  if (digests.values.size === 0 || wrongDigest(digests, body) !== null) return 'other-digest';
  return weakDigests(digests) === null ? 'valid' : 'weak-digest';
}

const EVENT_SCHEMES = {
  'hmac-sha256-hex': hmac({ header: null, encoding: 'hex' }),
  'hmac-sha256-base64': hmac({ header: null, encoding: 'base64' }),
  'standard-webhooks': standardWebhooks,
  stripe,
  slack,
  rfc9421: messageSignatures,
} as const satisfies Readonly<Record<string, EventScheme>>;

export type EventSchemeName = keyof typeof EVENT_SCHEMES;

export const EVENT_SCHEME_NAMES = Object.keys(EVENT_SCHEMES) as readonly EventSchemeName[];

/** Grounds for the time of an attempt, of all schemes. */
export const TIME_GROUNDS: readonly Ground[] = Object.values(EVENT_SCHEMES).flatMap(
  ({ time }: EventScheme) => time?.ground ?? [],
);

export function eventScheme(name: EventSchemeName): EventScheme {
  return EVENT_SCHEMES[name];
}

/** Those that say themselves which header has the signature. */
export const SCHEMES_WITH_HEADER = EVENT_SCHEME_NAMES.filter((name) => eventScheme(name).header !== null);
