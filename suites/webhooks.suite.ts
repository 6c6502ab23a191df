import { check, observation, suite } from '../harness/check/check.ts';
import { type Condition, unsafeMethods } from '../harness/check/requirement.ts';
import { clause, practice } from '../harness/contract/ground.ts';
import { readJsonText } from '../harness/evidence/json/text.ts';
import { delivered, deliveries } from '../harness/probe/webhook.ts';

const configured: Condition = {
  reasonNot: ({ webhooks }) =>
    webhooks
      ? null
      : 'where the service sends events, and upon what, is not shown, and no webhooks are configured',
};
const signed: Condition = {
  reasonNot: ({ webhooks }) =>
    webhooks?.signature ? null : 'no signature of webhooks is configured (webhooks.signature)',
};
const allowed: Condition = {
  reasonNot: (config) =>
    config.webhooks && !SAFE.has(config.webhooks.trigger.method) ? unsafeMethods.reasonNot(config) : null,
};
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

const applies = [configured, allowed];
const grounds = [clause('events.webhooks')];
/** Attempts closer together than this are no pause, in ms. */
const LEAST_PAUSE_MS = 200;

/** Events that the service sends to a receiver, which refuses the first two attempts. */
export const webhooks = suite('webhooks', 'Webhooks', [
  check(
    'webhooks.delivered',
    { title: 'sends an event to the receiver', grounds, applies, provenBy: ['webhook-not-sent'] },
    async ({ service, probe, violated }) => {
      const all = await probe(deliveries);
      if (all.length === 0) violated(`expected a delivery, got none within ${service.webhooks?.withinMs} ms`);
    },
  ),

  check(
    'webhooks.json',
    { title: 'sends events as JSON by POST', grounds, applies, provenBy: ['webhook-form-body'] },
    async ({ probe, violated }) => {
      for (const { reply } of await probe(delivered)) {
        const { method, fields, body } = reply.exchange.request;
        const type = fields.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? 'none';
        if (method !== 'POST') violated(`expected POST, got ${method}`, reply.evidence);
        if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) {
          violated(`expected the media type application/json, got ${type}`, reply.evidence);
        }
        if (body?.truncated) continue;
        const [fault] = readJsonText(body?.bytes ?? new Uint8Array()).faults;
        if (fault) violated(`expected JSON, got ${fault.message}`, reply.evidence);
      }
    },
  ),

  check(
    'webhooks.signature',
    {
      title: 'signs each event as configured',
      grounds: [...grounds, practice('OWASP API2:2023')],
      applies: [...applies, signed],
      provenBy: ['webhook-wrong-signature'],
    },
    async ({ probe, violated }) => {
      const bad = (await probe(delivered)).find(({ signature }) => signature !== 'valid');
      if (bad) violated(`expected a valid signature, got ${describe(bad.signature)}`, bad.reply.evidence);
    },
  ),

  check(
    'webhooks.retried',
    {
      title: 'sends an event again that the receiver could not take',
      grounds: [practice('webhook retries')],
      applies,
      provenBy: ['webhook-gives-up'],
    },
    async ({ service, probe, violated, note }) => {
      const all = await probe(delivered);
      if (all.length < 2) {
        violated(`expected another attempt after 503, got none within ${service.webhooks?.withinMs} ms`);
      }
      note(`${all.length} deliveries`);
    },
  ),

  check(
    'webhooks.backoff',
    {
      title: 'waits between its attempts, and longer the more of them fail',
      grounds: [practice('webhook retries')],
      applies,
      provenBy: ['webhook-hammers'],
    },
    async ({ probe, violated, notApplicable, note }) => {
      const [first, second, third] = await probe(delivered);
      if (!first || !second) return notApplicable('no attempt was repeated');
      const pauses = [second.atMs - first.atMs, ...(third ? [third.atMs - second.atMs] : [])].map(Math.round);
      const tooSoon = pauses.find((pause) => pause < LEAST_PAUSE_MS);
      if (tooSoon !== undefined) {
        violated(`expected a pause before the next attempt, got ${tooSoon} ms`, second.reply.evidence);
      }
      note(`after ${pauses.join(' and ')} ms`);
    },
  ),

  check(
    'webhooks.no-duplicates',
    {
      title: 'does not send an event again that was received',
      grounds: [practice('webhook retries')],
      applies,
      provenBy: ['webhook-repeats'],
    },
    async ({ probe, violated, notApplicable }) => {
      const all = await probe(delivered);
      const taken = all.findIndex(({ reply }) => reply.exchange.response?.status === 200);
      if (taken === -1) return notApplicable('no delivery was answered 200');
      const again = all[taken + 1];
      if (again) violated('expected nothing after 200, got another delivery', again.reply.evidence);
    },
  ),

  // Who receives an event twice must be able to tell.
  observation(
    'webhooks.identity',
    {
      title: 'marks an event so that it is known when it comes again',
      grounds: [clause('events.delivery')],
      applies,
      shownBy: ['webhook-gives-up'],
    },
    async ({ probe, observe, note }) => {
      const [first, second] = (await probe(delivered)).map(({ reply }) => reply.exchange.request.fields);
      const names = (first ?? [])
        .filter(
          ([name, value]) =>
            /id$|key$/i.test(name) && second?.some((field) => field[0] === name && field[1] === value),
        )
        .map(([name]) => name.toLowerCase())
        .sort();
      observe('webhooks.identity', names);
      note(names.length === 0 ? 'no field of an event is the same when it comes again' : names.join(', '));
    },
  ),
]);

function describe(signature: string | null): string {
  return signature === 'missing' ? 'none' : 'one that is not that of the body';
}
