import { type Defect, REALTIME, tableOf } from '../conduct/deviation.ts';
import { inWebhooks } from '../conduct/patch.ts';
import { SIGNATURE_FIELD, webhookSignature } from '../conduct/webhooks.ts';

/** Ways to get webhooks wrong. */
export const WEBHOOK_DEFECTS = tableOf<Defect>(REALTIME, {
  'webhook-not-sent': {
    summary: 'takes the address of a receiver and sends nothing there',
    cause: 'Events are not sent to the receiver',
    trips: ['webhooks.delivered'],
    patch: (conduct) => ({ ...conduct, webhooks: null }),
  },
  'webhook-form-body': {
    summary: 'sends events as a form',
    cause: 'The body of an event is not JSON',
    trips: ['webhooks.json'],
    patch: inWebhooks(({ compose }) => ({
      compose: (event, secret) => {
        const body = new URLSearchParams({ id: event.id, type: event.type }).toString();
        const signature = secret === null ? {} : { [SIGNATURE_FIELD]: webhookSignature(body, secret) };
        const { fields } = compose(event, secret);
        return {
          fields: { ...fields, 'Content-Type': 'application/x-www-form-urlencoded', ...signature },
          body,
        };
      },
    })),
  },
  'webhook-wrong-signature': {
    setting: 'signed',
    summary: 'signs the id of an event instead of its body',
    cause: 'The signature of an event does not fit its body',
    trips: ['webhooks.signature'],
    patch: inWebhooks(({ compose }) => ({
      compose: (event, secret) => {
        const { fields, body } = compose(event, secret);
        return { fields: { ...fields, [SIGNATURE_FIELD]: webhookSignature(event.id, secret ?? '') }, body };
      },
    })),
  },
  'webhook-gives-up': {
    summary: 'sends an event once, whatever the receiver says',
    cause: 'An event that failed is not sent again',
    trips: ['webhooks.retried'],
    shows: ['webhooks.identity'],
    patch: inWebhooks(() => ({ retriesAfterMs: [] })),
  },
  'webhook-hammers': {
    summary: 'repeats a failed event at once, and again at once',
    cause: 'Events are sent again without a pause',
    trips: ['webhooks.backoff'],
    patch: inWebhooks(() => ({ retriesAfterMs: [0, 0, 0] })),
  },
  'webhook-repeats': {
    summary: 'sends an event again that was received',
    cause: 'An event that was received is sent again',
    trips: ['webhooks.no-duplicates'],
    patch: inWebhooks(() => ({ copies: 2 })),
  },
});
