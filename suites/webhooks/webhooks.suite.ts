import {
  type Condition,
  check,
  clause,
  clients,
  given,
  numberOf,
  observation,
  practice,
  SAFE_METHODS,
  suite,
  unsafeMethods,
  when,
} from '../../harness/engine/check/suite.ts';
import {
  accepted,
  afterAccepted,
  afterGone,
  afterRetryAfter,
  attemptsAmong,
  delivered,
  deliveries,
  duePausesOf,
  identifiersOf,
  isCut,
  isFull,
  jsonFault,
  pausesOf,
  type Received,
  TIME_GROUNDS,
  timeFault,
  timeGround,
  UNKNOWN_EVENT,
} from './stimuli/webhook.ts';

const configured = when(
  ({ webhooks }) => webhooks,
  'no webhooks are configured, and nothing shows where and when the service sends events',
);
const signed = when(
  ({ webhooks }) => webhooks?.signature,
  'no signature of webhooks is configured (webhooks.signature)',
);
const timed = when(
  ({ webhooks }) => webhooks?.signature && timeGround(webhooks.signature),
  'no time is signed with an event (webhooks.signature.scheme)',
);
const standard = when(
  ({ webhooks }) => webhooks?.signature?.scheme === 'standard-webhooks',
  'webhooks.signature.scheme does not say that these are Standard Webhooks',
);
const allowed: Condition = (config) =>
  config.webhooks && !SAFE_METHODS.has(config.webhooks.trigger.method) ? unsafeMethods(config) : null;

const grounds = [clause('events.webhooks')];

/** What a signature is that is worth nothing. */
const NO_SIGNATURE: Readonly<Record<NonNullable<Received['signature']>, string>> = {
  valid: 'one that holds',
  missing: 'none',
  wrong: 'one that is not that of the body',
  invalid: 'one that does not hold',
  uncovered: 'one that leaves out the body',
  'other-digest': 'one of a digest that is not that of the body',
  'weak-digest': 'one that covers the body by a weak digest alone',
};
/** A receiver's clock may be behind that of the sender by so much, in ms. */
const EARLY_MS = 250;
/** Attempts closer together than this are no pause, in ms. */
const LEAST_PAUSE_MS = 200;

/** Events that the service sends to a receiver, which refuses the first two attempts. */
const checks = given(
  [configured, allowed],
  [
    check('webhooks.delivered', {
      title: 'sends an event to the receiver',
      headline: 'No event reaches the receiver',
      why: 'Receivers never hear of the change, and go on with old data.',
      change: 'Check the subscription, the address and the job that sends events.',
      grounds,
      uses: [deliveries],
      async judge({ service, probe, violated }) {
        const all = await probe(deliveries);
        if (all.length === 0) violated('a delivery', `none within ${service.webhooks?.withinMs} ms`);
      },
    }),

    check('webhooks.json', {
      title: 'sends events as JSON by POST',
      headline: 'An event does not come as JSON by POST: {got}',
      why: 'Receivers expect JSON in the body of a POST, and drop anything else.',
      change: 'Send events by POST, with Content-Type: application/json and a JSON body.',
      grounds,
      uses: [delivered],
      async judge({ probe, violated, blocked }) {
        const all = await probe(delivered);
        for (const delivery of all) {
          const fault = jsonFault(delivery);
          if (fault !== null) violated(fault.expected, fault.got, delivery.reply.evidence);
        }
        const cut = all.findIndex(isCut);
        if (cut !== -1) blocked(`delivery ${cut + 1} is so large that not all of it is kept`);
      },
    }),

    // The signature is all by which a receiver knows the sender.
    check('webhooks.signature', {
      title: 'signs each event as configured',
      headline: 'An event has no valid signature: {got}',
      why: 'Receivers cannot tell your events from forged ones, and refuse them.',
      change: 'Sign the very bytes of the body with the shared secret, as the documents say.',
      grounds: [...grounds, practice('OWASP API2:2023')],
      applies: [signed],
      uses: [delivered],
      async judge({ probe, violated }) {
        const bad = (await probe(delivered)).find(({ signature }) => signature !== 'valid');
        if (!bad?.signature) return;
        violated('a valid signature', NO_SIGNATURE[bad.signature], bad.reply.evidence);
      },
    }),

    // An event signed with the time of the attempt cannot be replayed later.
    check('webhooks.timestamp', {
      title: 'signs with each attempt the time when it is made',
      headline: 'The signed time of an event is not that of the attempt: {got}',
      why: 'Receivers refuse an event that is some minutes old, since an attacker may have replayed it.',
      change: 'Take the time anew for each attempt, in seconds since 1970, and sign that.',
      grounds: TIME_GROUNDS,
      groundsIn: ({ webhooks }) =>
        [webhooks?.signature && timeGround(webhooks.signature)].filter((each) => each != null),
      applies: [timed],
      uses: [delivered],
      async judge({ service: { webhooks }, probe, violated }) {
        const all = await probe(delivered);
        for (const delivery of all) {
          const fault = webhooks?.signature && timeFault(delivery, all, webhooks.signature);
          if (fault) violated('the time of the attempt', fault, delivery.reply.evidence);
        }
      },
    }),

    // The id of an event is that by which a receiver knows that it has it.
    check('webhooks.same-id', {
      title: 'sends an event again under the same webhook-id',
      headline: 'An event that is sent again does not have its webhook-id: {got}',
      why: 'Receivers cannot tell the repetition from a new event, and act twice.',
      change: 'Make the id with the event, and send the same one with each attempt.',
      grounds: [clients('receivers of Standard Webhooks know a repetition by webhook-id')],
      applies: [standard],
      uses: [delivered],
      async judge({ probe, violated }) {
        const [first, ...further] = attemptsAmong(await probe(delivered));
        if (first?.id === null) violated('a webhook-id', 'none', first.reply.evidence);
        const other = further.find(({ id }) => id !== first?.id);
        if (other) {
          const got = other.id === null ? 'none' : 'another one';
          violated('the webhook-id of the first attempt', got, other.reply.evidence);
        }
      },
    }),

    // A receiver may be out of order for a while.
    check('webhooks.retried', {
      title: 'sends an event again that the receiver could not accept',
      headline: 'An event is not sent again after a 503',
      why: 'An event is lost each time a receiver restarts.',
      change: 'Repeat a delivery until it is answered 2xx, for some hours at least.',
      grounds: [practice('webhook retries')],
      uses: [delivered],
      async judge({ service, probe, violated, blocked, note }) {
        const all = await probe(delivered);
        const attempts = attemptsAmong(all);
        if (attempts.length < 2 && isFull(all)) blocked('other events came, and no more were waited for');
        if (attempts.length < 2)
          violated('another attempt after 503', `none within ${service.webhooks?.withinMs} ms`);
        note(numberOf(attempts.length, 'delivery', 'deliveries'));
      },
    }),

    // And it does not get well if it is hammered.
    check('webhooks.backoff', {
      title: 'waits between its attempts, and longer the more of them fail',
      headline: 'A failed event is sent again after only {got}',
      why: 'A receiver in trouble is kept down by the repeated attempts.',
      change: 'Wait between attempts, and longer each time.',
      grounds: [practice('webhook retries')],
      uses: [delivered],
      async judge({ service, probe, violated, notApplicable, note }) {
        const all = attemptsAmong(await probe(delivered));
        const pauses = pausesOf(all);
        if (pauses.length === 0) notApplicable('no attempt was repeated');
        const due = duePausesOf(all, service.webhooks?.signature ?? null);
        if (due.length === 0) notApplicable('only the attempt that may follow at once was repeated');
        const tooSoon = due.find(({ pauseMs }) => pauseMs < LEAST_PAUSE_MS);
        if (tooSoon)
          violated('a pause before the next attempt', `${tooSoon.pauseMs} ms`, tooSoon.reply.evidence);
        note(`after ${pauses.map(({ pauseMs }) => pauseMs).join(' and ')} ms`);
      },
    }),

    // RFC 9110 §10.2.3: a receiver may know when it will be back.
    check('webhooks.retry-after', {
      title: 'waits as long as a receiver asks it to (Retry-After)',
      headline: 'An event is sent again before the time that Retry-After gives: {got}',
      why: 'A receiver that sheds load gets more of it just then.',
      change: 'Wait for the Retry-After of a 429 or 503, where it is longer than your own pause.',
      grounds: [practice('webhook retries')],
      uses: [delivered],
      async judge({ probe, violated, notApplicable, note }) {
        const next =
          afterRetryAfter(attemptsAmong(await probe(delivered))) ??
          notApplicable('no attempt came after a Retry-After');
        const { askedMs, waitedMs, reply } = next;
        if (waitedMs < askedMs - EARLY_MS) {
          const wanted = `a pause of ${askedMs / 1_000} s`;
          violated(wanted, `${Math.round(waitedMs)} ms`, reply.evidence);
        }
        note(`after ${Math.round(waitedMs)} ms`);
      },
    }),

    // Standard Webhooks: 410 means that the receiver no longer wants events.
    check('webhooks.gone', {
      title: 'sends nothing more to a receiver that answers 410',
      headline: 'An event is sent again after a 410',
      why: 'The receiver is gone for good, and another may get its events one day.',
      change: 'Switch a receiver off when it answers 410.',
      grounds: [practice('Standard Webhooks 1.0.0')],
      applies: [standard],
      uses: [afterGone],
      async judge({ probe, violated }) {
        const [, again] = attemptsAmong(await probe(afterGone));
        if (again) violated('nothing after 410', 'another attempt', again.reply.evidence);
      },
    }),

    // A received event must not be processed twice.
    check('webhooks.no-duplicates', {
      title: 'does not send an event again that was accepted',
      headline: 'An event that was accepted is sent again',
      why: 'Receivers act twice: two mails, two payments.',
      change: 'Mark an event as delivered on any 2xx answer.',
      grounds: [practice('webhook retries')],
      uses: [accepted],
      async judge({ probe, violated, blocked }) {
        const further = afterAccepted(await probe(accepted));
        const again = further.find(({ isSame }) => isSame);
        if (again) violated('nothing after 200', 'another delivery', again.reply.evidence);
        if (further.length > 0) blocked(UNKNOWN_EVENT);
      },
    }),

    // Who receives an event twice must be able to tell.
    observation('webhooks.identity', {
      title: 'marks an event so that a repetition can be recognised, or does not',
      why: 'Without such a mark a receiver cannot drop what it already has.',
      varies: 'order',
      grounds: [clause('events.delivery')],
      uses: [delivered],
      async observe({ probe }) {
        const names = identifiersOf(await probe(delivered));
        const none = 'no field of an event is the same when it comes again';
        return { seen: names, note: names.join(', ') || none };
      },
    }),
  ],
);

export const webhooks = suite('webhooks', 'Webhooks', checks);
