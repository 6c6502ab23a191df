import {
  type Condition,
  check,
  clause,
  given,
  observation,
  practice,
  suite,
  unsafeMethods,
  when,
} from '../harness/check/suite.ts';
import { delivered, deliveries, identifiersOf, jsonFault, pausesOf } from '../harness/probe/webhook.ts';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

const configured = when(
  ({ webhooks }) => webhooks,
  'where the service sends events, and upon what, is not shown, and no webhooks are configured',
);
const signed = when(
  ({ webhooks }) => webhooks?.signature,
  'no signature of webhooks is configured (webhooks.signature)',
);
const allowed: Condition = (config) =>
  config.webhooks && !SAFE.has(config.webhooks.trigger.method) ? unsafeMethods(config) : null;

const grounds = [clause('events.webhooks')];
/** Attempts closer together than this are no pause, in ms. */
const LEAST_PAUSE_MS = 200;

/** Events that the service sends to a receiver, which refuses the first two attempts. */
const checks = given(
  [configured, allowed],
  [
    // events.webhooks: upon what the config says, an event comes.
    check('webhooks.delivered', {
      title: 'sends an event to the receiver',
      grounds,
      async judge({ service, probe, violated }) {
        const all = await probe(deliveries);
        if (all.length === 0)
          violated(`expected a delivery, got none within ${service.webhooks?.withinMs} ms`);
      },
    }),

    // events.webhooks: as receivers take them.
    check('webhooks.json', {
      title: 'sends events as JSON by POST',
      grounds,
      async judge({ probe, violated }) {
        for (const delivery of await probe(delivered)) {
          const fault = jsonFault(delivery);
          if (fault !== null) violated(fault, delivery.reply.evidence);
        }
      },
    }),

    // The signature is all by which a receiver knows the sender.
    check('webhooks.signature', {
      title: 'signs each event as configured',
      grounds: [...grounds, practice('OWASP API2:2023')],
      applies: [signed],
      async judge({ probe, violated }) {
        const bad = (await probe(delivered)).find(({ signature }) => signature !== 'valid');
        if (bad === undefined) return;
        const got = bad.signature === 'missing' ? 'none' : 'one that is not that of the body';
        violated(`expected a valid signature, got ${got}`, bad.reply.evidence);
      },
    }),

    // A receiver may be out of order for a while.
    check('webhooks.retried', {
      title: 'sends an event again that the receiver could not take',
      grounds: [practice('webhook retries')],
      async judge({ service, probe, violated, note }) {
        const all = await probe(delivered);
        if (all.length < 2) {
          violated(`expected another attempt after 503, got none within ${service.webhooks?.withinMs} ms`);
        }
        note(`${all.length} deliveries`);
      },
    }),

    // And it does not get well if it is hammered.
    check('webhooks.backoff', {
      title: 'waits between its attempts, and longer the more of them fail',
      grounds: [practice('webhook retries')],
      async judge({ probe, violated, notApplicable, note }) {
        const all = await probe(delivered);
        const pauses = pausesOf(all);
        if (pauses.length === 0) notApplicable('no attempt was repeated');
        const tooSoon = pauses.find((pause) => pause < LEAST_PAUSE_MS);
        if (tooSoon !== undefined) {
          violated(`expected a pause before the next attempt, got ${tooSoon} ms`, all[1]?.reply.evidence);
        }
        note(`after ${pauses.join(' and ')} ms`);
      },
    }),

    // What was received is not to be done twice.
    check('webhooks.no-duplicates', {
      title: 'does not send an event again that was received',
      grounds: [practice('webhook retries')],
      async judge({ probe, violated, notApplicable }) {
        const all = await probe(delivered);
        const taken = all.findIndex(({ reply }) => reply.status === 200);
        if (taken === -1) notApplicable('no delivery was answered 200');
        const again = all[taken + 1];
        if (again) violated('expected nothing after 200, got another delivery', again.reply.evidence);
      },
    }),

    // Who receives an event twice must be able to tell.
    observation('webhooks.identity', {
      title: 'marks an event so that it is known when it comes again',
      grounds: [clause('events.delivery')],
      async observe({ probe }) {
        const names = identifiersOf(await probe(delivered));
        const none = 'no field of an event is the same when it comes again';
        return { seen: names, note: names.join(', ') || none };
      },
    }),
  ],
);

export const webhooks = suite('webhooks', 'Webhooks', checks);
