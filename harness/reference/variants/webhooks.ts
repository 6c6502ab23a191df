import { REALTIME, tableOf, type Variant } from '../behavior/deviation.ts';
import { inEvents, inWebhooks } from '../behavior/patches/parts.ts';
import {
  messageCompose,
  OLD_SECRET,
  SIGNATURE_FIELD,
  signingOnce,
  slackCompose,
  standardCompose,
  standardSignature,
  stripeCompose,
  webhookSignature,
} from '../behavior/webhooks.ts';
import { digestOf, KEY_ID, OTHER_KEY } from '../http/signature.ts';

export const WEBHOOK_VARIANTS = tableOf<Variant>(REALTIME, {
  'standard-webhooks': {
    setting: 'standard webhooks',
    summary: 'signs events as Standard Webhooks has it',
    patch: inWebhooks(() => ({ compose: standardCompose() })),
  },
  'standard-webhooks-by-several-secrets': {
    setting: 'standard webhooks',
    summary: 'signs events with an old secret and a pair of keys as well',
    patch: inWebhooks(() => ({
      compose: standardCompose((text) => [
        `v1,${standardSignature(text, OLD_SECRET)}`,
        `v1a,${Buffer.alloc(64, 7).toString('base64')}`,
      ]),
    })),
  },
  'stripe-webhooks': {
    setting: 'stripe webhooks',
    summary: 'signs events as Stripe does, with an old secret as well',
    patch: inWebhooks(() => ({ compose: stripeCompose })),
  },
  'slack-webhooks': {
    setting: 'slack webhooks',
    summary: 'signs events as Slack does',
    patch: inWebhooks(() => ({ compose: slackCompose })),
  },
  'slack-webhooks-repeated-at-once': {
    setting: 'slack webhooks',
    summary: 'signs events as Slack does, once for all attempts, of which the second follows at once',
    patch: inWebhooks(() => ({ compose: signingOnce(slackCompose), retriesAfterMs: [0, 1_200, 3_600] })),
  },
  'webhook-signs-by-two-secrets': {
    summary: 'signs events with an old secret as well, and writes the digits of both in capitals',
    patch: inEvents(({ fields, body }, _, secret) => {
      const both = [OLD_SECRET, secret ?? ''].map((by) => webhookSignature(body, by));
      const capitals = both.map((each) => `sha256=${each.slice('sha256='.length).toUpperCase()}`);
      return { fields: { ...fields, [SIGNATURE_FIELD]: capitals.join(', ') }, body };
    }),
  },
  'message-signed-webhooks': {
    setting: 'rfc9421 webhooks',
    summary: 'signs each event as a message (RFC 9421), once for all its attempts',
    patch: inWebhooks(() => ({
      compose: signingOnce(
        messageCompose(({ now, signings }) => ({
          signings: signings.map((usual) => ({
            ...usual,
            parameters: `;created=${now};expires=${now + 300};nonce="a\\"b";alg="hmac-sha256";tag="event"`,
          })),
        })),
      ),
    })),
  },
  'message-signed-webhooks-by-key': {
    setting: 'rfc9421 webhooks by public key',
    summary: 'signs each event as a message by several keys, with the parts of the address one by one',
    patch: inWebhooks(() => ({
      compose: messageCompose(({ url, body, now }) => {
        const digests = `${digestOf(Buffer.from(body), 'sha-512')}, ${digestOf(Buffer.from(body))}`;
        const covered = [
          ['"@method"', 'POST'],
          ['"@scheme"', 'http'],
          ['"@authority"', url.host],
          ['"@path"', url.pathname],
          ['"@query"', '?'],
          ['"content-type"', 'application/json'],
          ['"content-digest";key="sha-256"', digestOf(Buffer.from(body)).slice('sha-256='.length)],
        ] as const;
        return {
          fields: { 'Content-Digest': digests },
          signings: [
            { label: 'old', covered: [], parameters: `;created=${now};keyid="old"`, key: OTHER_KEY },
            { label: 'new', covered, parameters: `;created=${now};keyid="${KEY_ID}";alg="ed25519"` },
          ],
        };
      }),
    })),
  },
  'webhook-takes-its-time': {
    summary: 'waits four seconds before each further attempt, longer than anybody asks it to',
    unseen: 'only the time tells, and that hangs on the machine',
    patch: inWebhooks(() => ({ retriesAfterMs: [4_000, 4_500] })),
  },
  'webhook-is-a-cloud-event': {
    summary: 'sends events as CloudEvents',
    patch: inEvents(({ fields, body }) => ({
      fields: { ...fields, 'Content-Type': 'application/cloudevents+json; charset=UTF-8' },
      body,
    })),
  },
});
