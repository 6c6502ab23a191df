import { describe, expect, it } from 'vitest';
import type { WebhookSignature } from '../../harness/config/blocks/webhooks.ts';
import { shipped } from '../../harness/config/fixtures/config-folder.ts';
import { costOf, usualCostOf } from '../../harness/engine/session/probe.ts';
import { Reply } from '../../harness/wire/exchange/reply.ts';
import { bareResponse, type FieldLine } from '../../harness/wire/exchange.ts';
import {
  exampleBody,
  exampleExchange,
  exampleId,
  exampleRequest,
} from '../../harness/wire/fixtures/example-evidence.ts';
import { saidOfGiven } from '../tests/fixtures/given.ts';
import { accepted, afterGone, deliveries, type Received } from './stimuli/webhook.ts';
import { webhooks } from './webhooks.suite.ts';

const NOW = '2026-11-21T12:00:00.000Z';
const SECONDS = Date.parse(NOW) / 1_000;

/** A delivery: by default the usual one, at 0 ms, which the receiver refuses. */
interface Given extends Partial<Pick<Received, 'atMs' | 'signature' | 'time' | 'id'>> {
  readonly at?: string;
  readonly method?: string;
  readonly fields?: readonly FieldLine[];
  readonly body?: string;
  readonly isCut?: boolean;
  readonly status?: number;
  readonly retryAfter?: string;
}

const JSON_FIELDS: readonly FieldLine[] = [['Content-Type', 'application/json']];

function received(given: Given, index: number): Received {
  const { method = 'POST', fields = JSON_FIELDS, body = '{"type":"made"}', status = 503, retryAfter } = given;
  const { atMs = 0, at = NOW, signature = 'valid', time = String(SECONDS), id = null, isCut = false } = given;
  const usual = exampleExchange();
  const exchange = {
    ...usual,
    id: exampleId(`e${index + 1}`),
    request: exampleRequest({ method, fields, body: { ...exampleBody(body), truncated: isCut } }),
    response: bareResponse(status, retryAfter === undefined ? [] : [['Retry-After', retryAfter]]),
    timing: { ...usual.timing, startedAt: at },
  };
  return { reply: new Reply(exchange), atMs, signature, time, id };
}

type Scheme = WebhookSignature['scheme'];

const realtime = await shipped('realtime');

function configOf(scheme: Scheme | null) {
  if (!realtime.webhooks?.signature) throw new Error('realtime has signed webhooks');
  const signature = scheme === null ? null : { ...realtime.webhooks.signature, scheme };
  return { ...realtime, webhooks: { ...realtime.webhooks, signature } };
}

/** What a check says of these deliveries; of those after a 410 for its own check, or after a 200. */
function saidOf(id: string, all: readonly Given[], scheme: Scheme | null = 'standard-webhooks') {
  const given = all.map(received);
  return saidOfGiven(webhooks, id, configOf(scheme), {
    'webhook-deliveries': given,
    'webhook-delivered': given,
    'webhook-gone': given,
    'webhook-accepted': given,
  });
}

const OK: Given = { status: 200 };
const typed = (type: string): Given => ({ fields: [['content-type', type]] });
const timed = (time: string | null, more: Given = {}): Given => ({ ...more, time });
const named = (...names: readonly string[]): Given => ({
  fields: names.map((name) => [name, '7'] as const),
});
const A: Given = { id: 'a', body: '{"event":"a"}' };
const B: Given = { id: 'b', body: '{"event":"b"}' };
const OTHER: Given = { id: 'c', body: '{"event":"c","more":1}' };
/** Its body is another one, and it has no id. */
const UNKNOWN: Given = { body: '{"other":1}' };

type Row = readonly [what: string, all: readonly Given[], said: RegExp, scheme?: Scheme | null];

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'webhooks.json': [
    ['JSON', [{}], /^pass/],
    ['by PUT', [{}, { method: 'PUT' }], /^\w+ \(e2\): expected POST, got PUT/],
    ['without a media type', [{ fields: [] }], /expected the media type application\/json, got none/],
    ...['application/json; charset=utf-8', 'Application/JSON', 'application/cloudevents+json'].map(
      (type) => [type, [typed(type)], /^pass/] as const,
    ),
    ...[
      'text/json',
      'x-application/json',
      'application/jsonl',
      'application/json-seq',
      'application/xml+jsons',
    ].map((type) => [type, [typed(type)], /expected the media type application\/json/] as const),
    ['no JSON', [{ body: '{"a"' }], /expected JSON/],
    ['no body', [{ body: '' }], /expected JSON/],
    [
      'a body of which the end is missing',
      [{}, { body: '{"a"', isCut: true }],
      /^blocked: delivery 2 is so large/,
    ],
    ['the same by PUT', [{ method: 'PUT', isCut: true }], /got PUT/],
    ['the same, and no JSON', [{ body: '{"a"', isCut: true }, { body: 'a' }], /^\w+ \(e2\): expected JSON/],
  ],
  'webhooks.signature': [
    ['all valid', [{}, {}], /^pass/],
    [
      'the second is wrong, the third is missing',
      [{}, { signature: 'wrong' }, { signature: 'missing' }],
      /\(e2\)/,
    ],
    ['unsigned', [{ signature: 'missing' }], /^skipped: no signature/, null],
  ],
  'webhooks.timestamp': [
    ['unsigned', [{}], /^skipped: no time/, null],
    ['5 minutes before', [timed(String(SECONDS - 300))], /^pass/],
    [
      '1 ms more',
      [timed(String(SECONDS - 300), { at: '2026-11-21T12:00:00.001Z' })],
      /more than 5 minutes off/,
    ],
    ['5 minutes after', [timed(String(SECONDS + 300))], /^pass/],
    ['5 minutes and 1 s after', [timed(String(SECONDS + 301))], /more than 5 minutes off/],
    ['none', [{}, timed(null)], /^\w+ \(e2\): .*got none/],
    ...['1.5', '-1', '1s', NOW, '9'.repeat(17)].map(
      (time) => [time, [timed(time)], /which is no number of seconds/] as const,
    ),
    ['long', [timed('x'.repeat(41))], /"x{39}…", which|"x{40}…?", which/],
    ['again 2 s later', [{}, { atMs: 2_000 }], /^\w+ \(e2\): .*that of an earlier attempt/],
    ['again a little sooner', [{}, { atMs: 1_999 }], /^pass/],
    ['again, where that is the scheme', [{}, { atMs: 2_000 }], /^pass/, 'slack'],
    ['another one later', [{}, timed(String(SECONDS + 2), { atMs: 2_000 })], /^pass/],
  ],
  'webhooks.same-id': [
    ['the same', [A, A, { ...A, ...OK }], /^pass/],
    ['none', [{ ...A, id: null }], /expected a webhook-id, got none/],
    ['of each attempt its own', [A, B, { ...B, id: 'd' }], /^\w+ \(e2\): .*got another one/],
    ['none later', [A, { ...A, id: null }], /^\w+ \(e2\): .*got none/],
    ['of another event', [A, OTHER, A], /^pass/],
    ['of no attempt known', [A, UNKNOWN], /^blocked: nothing shows/],
    ['no such scheme', [A, B], /^skipped: webhooks.signature.scheme does not say/, 'stripe'],
  ],
  'webhooks.retried': [
    ['twice', [A, A], /^pass: .*2 deliveries/],
    ['never', [A], /expected another attempt after 503/],
    ['never, and another event', [A, OTHER], /expected another attempt after 503/],
    ['not before two other events', [A, OTHER, { ...OTHER, id: 'd' }], /^blocked: other events/],
    ['after another event', [A, OTHER, A], /^pass: .*2 deliveries/],
    ['with another body', [{}, UNKNOWN], /^blocked: nothing shows/],
    ['with another body later', [{}, {}, UNKNOWN], /^pass: .*2 deliveries/],
  ],
  'webhooks.backoff': [
    ['never', [{}], /^skipped: no attempt was repeated/],
    ['after 200 ms', [{}, { atMs: 200 }], /^pass: .*after 200 ms/],
    ['after 199 ms', [{}, { atMs: 199 }], /^\w+ \(e2\): .*got 199 ms/],
    ['the third too soon', [{}, { atMs: 400 }, { atMs: 500 }], /^\w+ \(e3\): .*got 100 ms/],
    ['both too soon', [{}, { atMs: 10 }, { atMs: 30 }], /^\w+ \(e2\): .*got 10 ms/],
    [
      'the fourth at once',
      [{}, { atMs: 400 }, { atMs: 900 }, { atMs: 900 }],
      /^pass: .*after 400 and 500 ms/,
    ],
    ['another event at once', [A, OTHER, { ...A, atMs: 400 }], /^pass: .*after 400 ms/],
    ['others by an unknown event', [{}, UNKNOWN], /^blocked: nothing shows/],
    ['the second at once, which may be', [{}, {}], /^skipped: only the attempt/, 'slack'],
    ['the third at once, which may not', [{}, {}, {}], /^\w+ \(e3\): .*got 0 ms/, 'slack'],
    ['unsigned', [{}, {}], /^\w+ \(e2\): .*got 0 ms/, null],
  ],
  'webhooks.retry-after': [
    ['none', [{}, {}], /^skipped: no attempt came after/],
    ['nothing after it', [{}, { retryAfter: '3' }], /^skipped: no attempt came after/],
    ['a quarter of a second early', [{ retryAfter: '3' }, { atMs: 2_750 }], /^pass: .*after 2750 ms/],
    [
      '1 ms earlier',
      [{ retryAfter: '3' }, { atMs: 2_749 }],
      /^\w+ \(e2\): expected a pause of 3 s, got 2749 ms/,
    ],
    ['after an attempt', [{}, { atMs: 500, retryAfter: '3' }, { atMs: 3_500 }], /^pass: .*after 3000 ms/],
    [
      'before another event',
      [{ ...A, retryAfter: '3' }, OTHER, { ...A, atMs: 3_000 }],
      /^pass: .*after 3000 ms/,
    ],
  ],
  'webhooks.gone': [
    ['nothing more', [A], /^pass/],
    ['again', [A, A], /^\w+ \(e2\): expected nothing after 410/],
    ['another event', [A, OTHER], /^pass/],
  ],
  'webhooks.no-duplicates': [
    ['none', [{}, OK], /^pass/],
    ['the same again', [{}, OK, UNKNOWN, OK], /^\w+ \(e4\): .*got another delivery/],
    ['the first of two', [OK, OK, OK], /^\w+ \(e2\)/],
    ['another body', [OK, UNKNOWN], /^blocked: nothing shows/],
    ['another id', [{ ...A, ...OK }, OTHER, { ...A, id: 'e' }], /^pass/],
    [
      'the same id with another body',
      [
        { ...A, ...OK },
        { ...UNKNOWN, id: 'a' },
      ],
      /\(e2\): .*another delivery/,
    ],
    ['no id with another body', [{ ...A, ...OK }, UNKNOWN], /^blocked: nothing shows/],
    ['before it was accepted', [{}, {}, OK], /^pass/],
  ],
  'webhooks.identity': [
    [
      'a key, an id',
      [named('X-Key', 'Webhook-ID'), named('X-Key', 'Webhook-ID')],
      /webhook-id|x-key, webhook-id/,
    ],
    ['other names', [named('X-Keys', 'Idea'), named('X-Keys', 'Idea')], /no field of an event is the same/],
    ['under another name', [named('X-Key'), named('Y-Key')], /no field of an event is the same/],
    ['once', [named('X-Key')], /no field of an event is the same/],
  ],
};

describe.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, all, said, scheme] }) => {
    expect(await saidOf(id, all, scheme)).toMatch(said);
  });
});

it('webhooks are asked for with a trigger that may change something', () => {
  const { webhooks: _, ...without } = realtime;
  for (const probe of [deliveries, afterGone, accepted]) {
    expect([realtime, without].map((config) => costOf(probe, config))).toEqual([1, 0]);
    expect(probe.risks).toEqual(['change']);
  }
  expect(usualCostOf(accepted, realtime)).toBe(0);
});

it.each<readonly [method: string, unsafeMethods: boolean, said: RegExp]>([
  ['POST', false, /^skipped: .*unsafeMethods/],
  ['POST', true, /^pass/],
  ['GET', false, /^pass/],
])('a trigger by %s, where unsafe methods are allowed: %s', async (method, unsafeMethods, said) => {
  const config = configOf(null);
  const given = {
    ...config,
    webhooks: { ...config.webhooks, trigger: { ...config.webhooks.trigger, method } },
    safety: { ...config.safety, unsafeMethods },
  };
  const evidence = { 'webhook-delivered': [received({}, 0)] };
  expect(await saidOfGiven(webhooks, 'webhooks.json', given, evidence)).toMatch(said);
});
