import { randomUUID } from 'node:crypto';
import { type Defect, REALTIME, tableOf } from '../behavior/deviation.ts';
import { inEvents, inWebhooks } from '../behavior/patches/parts.ts';
import { type Patch, together } from '../behavior/patches/patch.ts';
import {
  coveredDigest,
  messageCompose,
  OLD_SECRET,
  SIGNATURE_FIELD,
  signingOnce,
  slackCompose,
  standardCompose,
  standardSignature,
  stripeCompose,
  type WebhookBehavior,
  type WebhookMessage,
  webhookSignature,
} from '../behavior/webhooks.ts';
import { digestOf, KEY_ID, OTHER_KEY, type Signing } from '../http/signature.ts';

type Compose = WebhookBehavior['compose'];

const AN_HOUR_MS = 60 * 60_000;

const composing = (compose: Compose): Patch => inWebhooks(() => ({ compose }));

/** By Standard Webhooks, of which something is wrong. */
const standardBut = (change: (message: WebhookMessage, secret: string) => WebhookMessage['fields']): Patch =>
  together(
    composing(standardCompose()),
    inEvents((message, _, secret) => ({ ...message, fields: change(message, secret ?? '') })),
  );

type DefectiveMessage = Parameters<NonNullable<Parameters<typeof messageCompose>[0]>>[0];

/** By RFC 9421, in another way than it should be signed. */
const signing = (change: (message: DefectiveMessage) => Partial<Signing>): Patch =>
  composing(
    messageCompose((message) => ({
      signings: message.signings.map((usual) => ({ ...usual, ...change(message) })),
    })),
  );

const digesting = (digest: (body: string) => string): Patch =>
  composing(
    messageCompose(({ body, signings }) => ({
      fields: { 'Content-Digest': digest(body) },
      signings: signings.map((usual) => ({ ...usual, covered: [coveredDigest(digest(body))] })),
    })),
  );

const MESSAGES = { setting: 'rfc9421 webhooks' };
const STANDARD = { setting: 'standard webhooks' };

export const WEBHOOK_DEFECTS = tableOf<Defect>(REALTIME, {
  'webhook-not-sent': {
    cause: 'Events are not sent to the receiver',
    fails: ['webhooks.delivered'],
    patch: (behavior) => ({ ...behavior, webhooks: null }),
  },
  'webhook-form-body': {
    cause: 'The body of an event is not JSON',
    fails: ['webhooks.json'],
    patch: inEvents(({ fields }, { id, type }, secret) => {
      const body = new URLSearchParams({ id, type }).toString();
      const signature = secret === null ? {} : { [SIGNATURE_FIELD]: webhookSignature(body, secret) };
      return {
        fields: { ...fields, 'Content-Type': 'application/x-www-form-urlencoded', ...signature },
        body,
      };
    }),
  },
  'webhook-wrong-signature': {
    setting: 'signed',
    cause: 'The signature of an event does not fit its body',
    fails: ['webhooks.signature'],
    patch: inEvents(({ fields, body }, { id }, secret) => ({
      fields: { ...fields, [SIGNATURE_FIELD]: webhookSignature(id, secret ?? '') },
      body,
    })),
  },
  'webhook-gives-up': {
    cause: 'An event that failed is not sent again',
    fails: ['webhooks.retried'],
    changes: ['webhooks.identity'],
    patch: inWebhooks(() => ({ retriesAfterMs: [] })),
  },
  'webhook-hammers': {
    cause: 'Events are sent again without a pause',
    fails: ['webhooks.backoff'],
    patch: inWebhooks(() => ({ retriesAfterMs: [0, 0, 0] })),
  },
  'webhook-repeats': {
    cause: 'An event that was received is sent again',
    fails: ['webhooks.no-duplicates'],
    patch: inWebhooks(() => ({ copies: 2 })),
  },
  'webhook-heeds-no-retry-after': {
    cause: 'Events are sent again before the time that Retry-After gives',
    fails: ['webhooks.retry-after'],
    patch: inWebhooks(() => ({ heedsRetryAfter: false })),
  },
  'webhook-heeds-no-gone': {
    ...STANDARD,
    cause: 'Events are sent again after a 410',
    fails: ['webhooks.gone'],
    patch: together(
      composing(standardCompose()),
      inWebhooks(() => ({ heedsGone: false })),
    ),
  },
  'webhook-id-of-attempt': {
    ...STANDARD,
    cause: 'An event gets another webhook-id each time it is sent',
    fails: ['webhooks.same-id'],
    patch: composing((event, secret, nowMs, url) =>
      standardCompose()({ ...event, id: randomUUID() }, secret, nowMs, url),
    ),
  },
  'webhook-without-id': {
    ...STANDARD,
    cause: 'Events have no webhook-id',
    fails: ['webhooks.same-id', 'webhooks.signature'],
    patch: standardBut(({ fields: { 'webhook-id': _, ...others } }) => others),
  },
  'webhook-time-of-event': {
    ...STANDARD,
    cause: 'The signed time of an event is that of its first attempt',
    fails: ['webhooks.timestamp'],
    patch: (behavior) => composing(signingOnce(standardCompose()))(behavior),
  },
  'webhook-time-in-milliseconds': {
    ...STANDARD,
    cause: 'The signed time of an event is in milliseconds',
    fails: ['webhooks.timestamp'],
    patch: composing((event, secret, nowMs, url) => standardCompose()(event, secret, 1_000 * nowMs, url)),
  },
  'webhook-signs-body-alone': {
    ...STANDARD,
    cause: 'The signature of an event leaves out its id and time',
    fails: ['webhooks.signature'],
    patch: standardBut(({ fields, body }, secret) => ({
      ...fields,
      'webhook-signature': `v1,${standardSignature(body, secret)}`,
    })),
  },
  'webhook-signature-without-version': {
    ...STANDARD,
    cause: 'The signature of an event has no version before it',
    fails: ['webhooks.signature'],
    patch: standardBut(({ fields }) => ({
      ...fields,
      'webhook-signature': fields['webhook-signature']?.replace('v1,', '') ?? '',
    })),
  },
  'webhook-takes-secret-for-text': {
    ...STANDARD,
    cause: 'Events are signed with the text of the secret in place of what it encodes',
    fails: ['webhooks.signature'],
    patch: composing((event, secret, nowMs, url) =>
      standardCompose()(event, secret && Buffer.from(secret).toString('base64'), nowMs, url),
    ),
  },
  'webhook-signs-by-old-secret': {
    setting: 'stripe webhooks',
    cause: 'Events are signed with an old secret',
    fails: ['webhooks.signature'],
    patch: composing((event, _secret, nowMs, url) => stripeCompose(event, OLD_SECRET, nowMs, url)),
  },
  'webhook-slack-time-stale': {
    setting: 'slack webhooks',
    cause: 'The signed time of an event is an hour old',
    fails: ['webhooks.timestamp'],
    patch: composing((event, secret, nowMs, url) => slackCompose(event, secret, nowMs - AN_HOUR_MS, url)),
  },
  'webhook-signs-another-address': {
    ...MESSAGES,
    // RFC 9421 §2.2.2
    cause: 'Events are signed for another address than that of the receiver',
    fails: ['webhooks.signature'],
    patch: signing(({ url, now, fields }) => ({
      covered: [
        ['"@method"', 'POST'],
        ['"@target-uri"', `http://gateway.internal${url.pathname}`],
        coveredDigest(fields['Content-Digest'] ?? ''),
      ],
      parameters: `;created=${now}`,
    })),
  },
  'webhook-signature-leaves-out-body': {
    ...MESSAGES,
    // RFC 9421 §7.2.8
    cause: 'The signature of an event does not cover its body',
    fails: ['webhooks.signature'],
    patch: signing(({ url }) => ({ covered: [['"@authority"', url.host]] })),
  },
  'webhook-digest-of-another-body': {
    ...MESSAGES,
    // RFC 9530 §2
    cause: 'The signed digest of an event is not that of its body',
    fails: ['webhooks.signature'],
    patch: digesting((body) => digestOf(Buffer.from(JSON.stringify(JSON.parse(body), null, 2)))),
  },
  'webhook-signs-a-weak-digest': {
    ...MESSAGES,
    // RFC 9530 §5
    cause: 'The signature of an event covers its body only by an MD5 digest',
    fails: ['webhooks.signature'],
    patch: digesting((body) => digestOf(Buffer.from(body), 'md5')),
  },
  'webhook-message-signed-long-ago': {
    ...MESSAGES,
    cause: 'The signature of an event was made an hour ago',
    fails: ['webhooks.timestamp'],
    patch: signing(({ now }) => ({ parameters: `;created=${now - 3_600}` })),
  },
  'webhook-message-without-time': {
    ...MESSAGES,
    cause: 'The signature of an event has no time',
    fails: ['webhooks.timestamp'],
    patch: signing(() => ({ parameters: `;keyid="${KEY_ID}"` })),
  },
  'webhook-signed-by-another-key': {
    setting: 'rfc9421 webhooks by public key',
    cause: 'Events are signed with another key than the published one',
    fails: ['webhooks.signature'],
    patch: signing(() => ({ key: OTHER_KEY })),
  },
});
