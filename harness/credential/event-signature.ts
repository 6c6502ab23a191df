import { createHmac, timingSafeEqual } from 'node:crypto';

/** An event on its way to a receiver, as far as it is signed. */
export interface SignedEvent {
  /** The value of the header with the signature. */
  readonly signature: string;
  /** Of another header, by its name in lower case. */
  readonly field: (name: string) => string | undefined;
  readonly body: Uint8Array;
}

/** How services sign the events that they send: HMAC with SHA-256 (RFC 2104), of the body and of what is said with it. */
interface EventScheme {
  /** The header with the signature; null where each service has a name of its own. */
  readonly header: string | null;
  readonly encoding: 'hex' | 'base64';
  /** The key that a secret stands for, where it is not the text itself. */
  readonly keyOf?: (secret: string) => Buffer;
  /** What is signed before the body; nothing when left out. */
  readonly before?: (event: SignedEvent) => string;
  /** Signatures in the header, of which one has to be right; the whole header when left out. */
  readonly signatures?: (value: string) => readonly string[];
  /** When the attempt was made, as it is told; left out where nothing is. */
  readonly time?: (event: SignedEvent) => string | undefined;
  /** Each attempt at an event has the same value there; left out where nothing is said of it. */
  readonly id?: string;
}

const STANDARD_TIME = 'webhook-timestamp';
const SLACK_TIME = 'x-slack-request-timestamp';

/** Standard Webhooks 1.0.0: the secret is base64 behind `whsec_`; several secrets make several signatures. */
const standardWebhooks: EventScheme = {
  header: 'webhook-signature',
  encoding: 'base64',
  keyOf: (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
  before: ({ field }) => `${field('webhook-id') ?? ''}.${field(STANDARD_TIME) ?? ''}.`,
  signatures: (value) => value.split(' ').flatMap((each) => /^v1,(.+)$/.exec(each)?.[1] ?? []),
  time: ({ field }) => field(STANDARD_TIME),
  id: 'webhook-id',
};

/** `t=1492774577,v1=…,v1=…,v0=…`: v0 is for tests. */
const stripe: EventScheme = {
  header: 'Stripe-Signature',
  encoding: 'hex',
  before: ({ signature }) => `${stripeParts(signature, 't')[0] ?? ''}.`,
  signatures: (value) => stripeParts(value, 'v1'),
  time: ({ signature }) => stripeParts(signature, 't')[0],
};

function stripeParts(value: string, name: string): readonly string[] {
  return value.split(',').flatMap((part) => {
    const [key, ...rest] = part.trim().split('=');
    return key === name ? [rest.join('=')] : [];
  });
}

const slack: EventScheme = {
  header: 'X-Slack-Signature',
  encoding: 'hex',
  before: ({ field }) => `v0:${field(SLACK_TIME) ?? ''}:`,
  signatures: (value) => (value.startsWith('v0=') ? [value.slice('v0='.length)] : []),
  time: ({ field }) => field(SLACK_TIME),
};

export const EVENT_SCHEMES = {
  'hmac-sha256-hex': { header: null, encoding: 'hex' },
  'hmac-sha256-base64': { header: null, encoding: 'base64' },
  'standard-webhooks': standardWebhooks,
  stripe,
  slack,
} as const satisfies Readonly<Record<string, EventScheme>>;

export type EventSchemeName = keyof typeof EVENT_SCHEMES;

export function eventScheme(name: EventSchemeName): EventScheme {
  return EVENT_SCHEMES[name];
}

/** Whether one of the signatures of an event was made with the secret. `prefix`: what comes before it in the header. */
export function isSignedWith(
  secret: string,
  event: SignedEvent,
  { scheme, prefix }: { readonly scheme: EventSchemeName; readonly prefix: string },
): boolean {
  const { encoding, keyOf = Buffer.from, before, signatures } = eventScheme(scheme);
  const digest = createHmac('sha256', keyOf(secret))
    .update(before?.(event) ?? '')
    .update(event.body)
    .digest(encoding);
  const wanted = Buffer.from(signatures ? digest : `${prefix}${digest}`);
  return (signatures?.(event.signature) ?? [event.signature]).some((text) => {
    const given = Buffer.from(text);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}
