import { REALTIME, tableOf, type Variant } from '../conduct/deviation.ts';
import { inWebhooks } from '../conduct/patch.ts';
import {
  OLD_SECRET,
  slackCompose,
  standardCompose,
  standardSignature,
  stripeCompose,
} from '../conduct/webhooks.ts';

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
  'webhook-takes-its-time': {
    summary: 'waits four seconds before each further attempt, longer than anybody asks it to',
    patch: inWebhooks(() => ({ retriesAfterMs: [4_000, 4_500] })),
  },
  'webhook-is-a-cloud-event': {
    summary: 'sends events as CloudEvents',
    patch: inWebhooks(({ compose }) => ({
      compose: (event, secret, nowMs) => {
        const { fields, body } = compose(event, secret, nowMs);
        return { fields: { ...fields, 'Content-Type': 'application/cloudevents+json; charset=UTF-8' }, body };
      },
    })),
  },
});
