import { expect, it } from 'vitest';
import { shipped } from '../../harness/config/fixtures/config-folder.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { Reply } from '../../harness/wire/exchange/reply.ts';
import { bareResponse, type FieldLine } from '../../harness/wire/exchange.ts';
import {
  exampleBody,
  exampleExchange,
  exampleId,
  exampleRequest,
} from '../../harness/wire/fixtures/example-evidence.ts';
import { type GivenEvidence, judgedGiven } from '../tests/fixtures/given.ts';
import { limits } from './limits.suite.ts';

/** What is said of results of a measurement, for those that few limiters bring about. */

const search = await shipped('search');
const PLAN = { name: 'test', requests: 100, windowMs: 60_000 };

/** Of a limiter that keeps to everything. */
const RECOVERY = {
  window: '60 s',
  retryAfterMs: 54_000,
  dishonesty: null,
  resetMeaning: 'told',
  resetDishonesty: null,
  servedResetDishonesty: null,
  remainingDishonesty: null,
  windowFault: null,
  mayBeShorter: false,
  putOff: false,
  isLogged: false,
  banned: null,
  silenceMs: null,
  attempts: 5,
  servedAfterMs: 54_100,
  waitedMs: 54_100,
  toWaitMs: 54_000,
  evidence: 'e9',
};
const LIMIT = {
  documented: { requests: 100, window: '60 s' },
  firstRefused: 101,
  isStray: false,
  sent: 120,
  uncertainty: null,
  evidence: 'e9',
};

const recovered = (more: Partial<Record<keyof typeof RECOVERY, unknown>>, algorithm = 'fixed-window') => ({
  recovery: { ...RECOVERY, ...more },
  'limit-measurement': measured(algorithm),
});
const measured = (algorithm: string, compatible: readonly string[] = [algorithm]) => ({
  inference: { algorithm, compatible, because: ['one', 'two', 'three', 'four'] },
  probes: [{ evidence: 'e7' }, { evidence: 'e8' }],
});
const limitOf = (more: object) => ({ 'measured-limit': { ...LIMIT, ...more } });
const BEHIND = { servedAfterMs: null, waitedMs: 700_000, toWaitMs: 700_000 };
const resetOf = (
  more: Partial<Record<keyof typeof RECOVERY, unknown>>,
  resetSeconds: number | null = 54,
) => ({
  ...recovered(more),
  'refusal-answer': { response: { quota: { resetSeconds } } },
});
const OTHER = { expected: 'service after 5 s', got: 'a refusal' };
const HOURLY = { requests: 1_000, windowMs: 3_600_000 };
const SHORT = { requests: 5, windowMs: 1_000 };
const kept = (kept: object, limit = SHORT) => ({ limit, kept, evidence: 'e6' });
const MET = kept({ kind: 'kept' });
const UNMET = kept({ kind: 'unmet', reason: 'too slow' }, HOURLY);
const fallen = (fault: string | null, limit: object = SHORT) => ({ limit, fault, evidence: 'e6' });
const policies = (...all: readonly (readonly [object, readonly number[]])[]) => ({
  'further-policies': { told: all.map(([limit, policies]) => ({ limit, policies })), evidence: 'e2' },
});
const delays = (typicalMs: number, refusalMs: number) => ({
  'refusal-delay': { typicalMs, refusalMs, evidence: 'e5' },
});

const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

const SAID: readonly (readonly [string, GivenEvidence, string])[] = [
  ['exact', limitOf({}), 'pass: request 101 is the first refused'],
  [
    'exact',
    limitOf({ uncertainty: 'counted twice' }),
    'pass: request 101 is the first refused (counted twice)',
  ],
  [
    'exact',
    limitOf({ firstRefused: 100 }),
    'fail (e9): expected request 101 within 60 s to be the first refused, got request 100',
  ],
  [
    'exact',
    limitOf({ firstRefused: null }),
    'fail (e9): expected request 101 within 60 s to be the first refused, got none refused of 120',
  ],
  [
    'exact',
    limitOf({ isStray: true }),
    'fail (e9): expected request 101 within 60 s to be the first refused, got request 101, and the next ones served at once',
  ],
  [
    'parallel',
    { 'together-admitted': { excess: 0, sent: 129, evidence: 'e4' } },
    'pass: 129 requests sent together',
  ],
  [
    'parallel',
    { 'together-admitted': { excess: 1, sent: 129, evidence: 'e4' } },
    'fail (e4): expected no more of 129 requests sent together to be served than one by one, got 1 more',
  ],
  ['burst', { 'limit-measurement': measured('token-bucket') }, 'pass: the burst came back one by one'],
  [
    'burst',
    { 'limit-measurement': measured('fixed-window', ['sliding-log']) },
    'fail (e8): expected a bucket that is filled at the rate, got fixed-window',
  ],
  [
    'burst',
    { 'limit-measurement': measured('unknown', ['fixed-window', 'sliding-log']) },
    'fail (e8): expected a bucket that is filled at the rate, got fixed-window or sliding-log',
  ],
  [
    'burst',
    { 'limit-measurement': measured('unknown', ['token-bucket', 'sliding-log']) },
    'skipped: not enough evidence to decide',
  ],
  ['burst', { 'limit-measurement': measured('unknown', []) }, 'skipped: not enough evidence to decide'],
  ...['queue', 'delay', 'none', 'concurrency'].map(
    (algorithm) =>
      ['burst', { 'limit-measurement': measured(algorithm) }, 'skipped: one; two; three; four'] as const,
  ),
  ['second-limit', { exhaustion: { second: null } }, 'observed "none": none was met'],
  [
    'second-limit',
    { exhaustion: { second: { requests: 10, backMs: 1_001 } } },
    'observed "10 requests were served at once, and more after 2 s": 10 requests were served at once, and more after 2 s',
  ],
  [
    'algorithm',
    { 'limit-measurement': measured('fixed-window'), 'instances-apart': { fault: 'two counts' } },
    'observed "fixed-window": fixed-window: one; two; three',
  ],
  ...['unknown', 'none'].map(
    (algorithm) =>
      [
        'algorithm',
        { 'limit-measurement': measured(algorithm), 'instances-apart': { fault: 'two counts' } },
        'observed "count-per-instance": a count for each instance: two counts',
      ] as const,
  ),
  [
    'algorithm',
    { 'limit-measurement': measured('unknown'), 'instances-apart': { fault: null } },
    'observed "unknown": unknown: one; two; three',
  ],
  [
    'algorithm',
    {
      'limit-measurement': measured('unknown', ['none', 'concurrency']),
      'instances-apart': {},
      'unmet-in-turn': true,
    },
    'observed "concurrency": concurrency: one; two; three',
  ],
  [
    'algorithm',
    {
      'limit-measurement': measured('unknown', ['none', 'concurrency']),
      'instances-apart': {},
      'unmet-in-turn': false,
    },
    'observed "unknown": unknown: one; two; three',
  ],
  [
    'algorithm',
    {
      'limit-measurement': measured('none', ['none', 'concurrency']),
      'instances-apart': {},
      'unmet-in-turn': true,
    },
    'observed "none": none: one; two; three',
  ],
  ['recovery', recovered({}), 'pass: served again 54.1 s after the refusal'],
  ['recovery', recovered({ banned: 403 }), 'pass: served again 54.1 s after the refusal'],
  [
    'recovery',
    recovered({ ...BEHIND, banned: 403 }),
    'skipped: a client that goes on asking gets status 403, and was not served again',
  ],
  [
    'recovery',
    recovered({ ...BEHIND, toWaitMs: 700_001 }),
    'blocked: the refusal asks to wait 700 s, which is longer than a measurement takes',
  ],
  [
    'recovery',
    recovered(BEHIND),
    'fail (e9): expected service again within 60 s of the refusal, got refusals for 700 s',
  ],
  ['client-backoff', recovered({}), 'pass: recovered at attempt 5'],
  ['client-backoff', recovered({ banned: 403 }), 'pass: recovered at attempt 5'],
  [
    'client-backoff',
    recovered({ ...BEHIND, banned: 403 }),
    'skipped: a client that goes on asking gets status 403, and was not served again',
  ],
  [
    'client-backoff',
    recovered({ ...BEHIND, toWaitMs: 900_000 }),
    'blocked: the refusal asks to wait 900 s, which is longer than a measurement takes',
  ],
  [
    'client-backoff',
    recovered(BEHIND),
    'warning (e9): expected the client to recover, got 5 refused attempts within 700 s',
  ],
  ['client-backoff', recovered({ toWaitMs: 600_000 }), 'pass: recovered at attempt 5'],
  [
    'refusals-free',
    recovered({}),
    'pass: a request was served less than a window after one that was refused',
  ],
  [
    'refusals-free',
    recovered({ banned: 403 }),
    'warning (e9): expected one refusal to be like the other, got status 403 for a client that went on asking',
  ],
  [
    'refusals-free',
    recovered({ banned: 403, silenceMs: 61_000 }),
    'warning (e9): expected one refusal to be like the other, got status 403 for a client that went on asking, until it was silent for 61.0 s',
  ],
  [
    'refusals-free',
    recovered({ isLogged: true, putOff: true }),
    'warning (e9): expected refused requests to take nothing of the quota, got each of them counted for a window',
  ],
  [
    'refusals-free',
    recovered({ putOff: true }),
    'warning (e9): expected service one window after the first requests, got it only after a window without any',
  ],
  [
    'refusals-free',
    recovered({ putOff: null }),
    'skipped: nothing shows whether refused requests extend the wait',
  ],
  ['refusals-free', recovered({ putOff: null }, 'none'), 'skipped: one; two; three; four'],
  [
    'refusals-free',
    recovered({}, 'none'),
    'pass: a request was served less than a window after one that was refused',
  ],
  [
    'retry-after-honest',
    recovered({}),
    'pass: Retry-After: 54, and served again 54.1 s after the first refusal',
  ],
  ['retry-after-honest', recovered({ servedAfterMs: null, retryAfterMs: 600_000 }), 'pass: Retry-After: 600'],
  [
    'retry-after-honest',
    recovered({ retryAfterMs: null, dishonesty: OTHER }),
    'skipped: the refusal has no valid Retry-After',
  ],
  [
    'retry-after-honest',
    recovered({ dishonesty: OTHER }),
    'warning (e9): expected service after 5 s, got a refusal',
  ],
  [
    'reset-honest',
    resetOf({}),
    'pass: a reset 54 s after the refusal, and served again 54.1 s after the first refusal',
  ],
  ['reset-honest', resetOf({ servedAfterMs: null }), 'pass: a reset 54 s after the refusal'],
  ['reset-honest', resetOf({ resetDishonesty: OTHER }, null), 'skipped: the refusal gives no reset'],
  [
    'reset-honest',
    resetOf({ resetDishonesty: OTHER }),
    'warning (e9): expected service after 5 s, got a refusal',
  ],
  [
    'reset-honest',
    resetOf({ resetMeaning: 'unknown' }),
    'skipped: how the limiter counts is unknown, and so what its reset means',
  ],
  [
    'reset-honest',
    resetOf({ resetMeaning: 'open' }),
    'skipped: the quota comes back bit by bit, and drafts differ in what a reset means then',
  ],
  ['window', recovered({}), 'pass: nothing shows another length than 60 s'],
  [
    'window',
    recovered({ windowFault: 'one of 30 s' }),
    'fail (e9): expected windows of 60 s, got one of 30 s',
  ],
  [
    'window',
    recovered({ mayBeShorter: true }),
    'blocked: windows of half the length would explain every refusal as well',
  ],
  ['window', recovered({ mayBeShorter: true }, 'queue'), 'pass: nothing shows another length than 60 s'],
  ['remaining-true', recovered({}), 'pass: nothing contradicts what was told to remain'],
  [
    'remaining-true',
    recovered({ remainingDishonesty: undefined }),
    'skipped: no answers in turn show whether what remains in quota headers is true',
  ],
  [
    'remaining-true',
    recovered({ remainingDishonesty: '5 told' }),
    'warning (e9): expected a remaining quota that is true, got 5 told',
  ],
  ['served-reset', recovered({}), 'pass: nothing contradicts the reset of served answers'],
  [
    'served-reset',
    recovered({ servedResetDishonesty: undefined }),
    'skipped: no served answer gives a reset that can be compared',
  ],
  [
    'served-reset',
    recovered({ servedResetDishonesty: '5 s' }),
    'warning (e9): expected a reset when the quota is back, got 5 s',
  ],
  ['one-count', { 'instances-apart': { fault: null, evidence: 'e3' } }, 'pass: nothing shows a second count'],
  [
    'one-count',
    { 'instances-apart': { fault: undefined, evidence: 'e3' } },
    'skipped: too few answers in turn give a limit and what remains in quota headers',
  ],
  [
    'one-count',
    { 'instances-apart': { fault: 'two counts', evidence: 'e3' } },
    'fail (e3): expected one limit and one count, got two counts',
  ],
  [
    'failures',
    { 'burst-failures': { status: null, count: 0, of: 90, evidence: 'e3' } },
    'pass: 90 answers in bursts without a failure',
  ],
  [
    'failures',
    { 'burst-failures': { status: 500, count: 2, of: 90, evidence: 'e3' } },
    'warning (e3): expected no failure, got status 500 for 2 of 90 answers in bursts',
  ],
  [
    'failures-free',
    { 'failures-counted': { taken: 2, wrong: 3, evidence: 'e3' } },
    'pass: 3 wrong keys used up nothing',
  ],
  [
    'failures-free',
    { 'failures-counted': { taken: 3, wrong: 3, evidence: 'e3' } },
    'warning (e3): expected wrong keys to take nothing, got 3 taken by 3 of them',
  ],
  ['refusal-prompt', delays(2, 1_002), 'pass: 1002 ms'],
  [
    'refusal-prompt',
    delays(2, 1_003),
    'warning (e5): expected a refusal about as fast as an answer (2 ms), got 1003 ms',
  ],
  ['further', { 'further-limits': [MET] }, 'pass: 5 requests in 1 s, and then a refusal'],
  ['further', { 'further-limits': [UNMET] }, 'skipped: not judged: 1000 requests in 3600 s (too slow)'],
  [
    'further',
    { 'further-limits': [MET, UNMET] },
    'pass: 5 requests in 1 s, and then a refusal; not judged: 1000 requests in 3600 s (too slow)',
  ],
  [
    'further',
    { 'further-limits': [UNMET, kept({ kind: 'broken', got: '9 served' })] },
    'fail (e6): expected request 6 within 1 s to be the first refused, got 9 served',
  ],
  [
    'further-remaining',
    { 'further-falls': [] },
    'skipped: no quota header tells what remains of a further limit',
  ],
  [
    'further-remaining',
    { 'further-falls': [fallen(null), fallen(null, HOURLY)] },
    'pass: told of 5 requests in 1 s and 1000 requests in 3600 s',
  ],
  [
    'further-remaining',
    { 'further-falls': [fallen(null), fallen('0 fewer', HOURLY)] },
    'warning (e6): expected what remains of 1000 requests in 3600 s to fall by one each, got 0 fewer',
  ],
  [
    'further-scope',
    { 'further-shared': [] },
    'skipped: no quota header tells the second key enough of what remains of a further limit',
  ],
  ['further-scope', { 'further-shared': [fallen(null)] }, 'pass: told of 5 requests in 1 s'],
  [
    'further-scope',
    { 'further-shared': [fallen(null), fallen('two counts', { ...HOURLY, per: 'address' })] },
    'fail (e6): expected one count for both keys of 1000 requests in 3600 s, got two counts',
  ],
  [
    'further-scope',
    { 'further-shared': [fallen('one count', { ...HOURLY, per: 'key' })] },
    'fail (e6): expected a count for each key of 1000 requests in 3600 s, got one count',
  ],
  ['further-policies', policies(), 'skipped: no quota header tells of a further limit'],
  ['further-policies', policies([SHORT, [5]], [HOURLY, [500, 1_000]]), 'pass'],
  [
    'further-policies',
    policies([SHORT, [5]], [HOURLY, [500, 600]]),
    'warning (e2): expected 1000 in 3600 s, got 500 and 600',
  ],
  ['further-told', policies(), 'observed "none": 0 of 2 further limits are told'],
  ['further-told', policies([SHORT, [5]]), 'observed "some": 1 of 2 further limits are told'],
  ['further-told', policies([SHORT, [5]], [HOURLY, [1]]), 'observed "all": 2 of 2 further limits are told'],
];

interface Answer {
  readonly status: number | null;
  readonly method?: string;
  readonly fields?: readonly FieldLine[];
  readonly content?: string;
}

function answer({ status, method = 'GET', fields = [], content = '' }: Answer, id = 'e1'): Reply {
  const response = status === null ? null : { ...bareResponse(status, fields), body: exampleBody(content) };
  const failure = status === null ? ({ kind: 'closed', message: 'closed' } as const) : null;
  return new Reply({
    ...exampleExchange(),
    id: exampleId(id),
    request: exampleRequest({ method }),
    response,
    failure,
  });
}

/** The first refusal, and all that the record has. */
const refused = (first: Answer, ...others: readonly Answer[]): GivenEvidence => {
  const met = answer(first);
  const all = [met, ...others.map((each, at) => answer(each, `e${at + 2}`))];
  const selected = { all, shortfall: null };
  return {
    refusal: met,
    'refusal-answer': met,
    'every-limit-refusal': selected,
    'every-exchange': selected,
  };
};
const JSON_LINE: FieldLine = ['Content-Type', 'application/json'];
const HTML_LINE: FieldLine = ['Content-Type', 'text/html'];
const remaining = (count: string): FieldLine[] => [
  ['X-RateLimit-Limit', '10'],
  ['X-RateLimit-Remaining', count],
];
const shrunk = (before: readonly FieldLine[], after: readonly FieldLine[]): GivenEvidence => ({
  ...refused({ status: 429, fields: after }),
  'quota-sample': answer({ status: 200, fields: before }),
});
const shapes = (content: string): GivenEvidence => ({
  'unknown-path': answer({ status: 404, fields: [JSON_LINE], content: '{"error":"none"}' }),
  'refusal-answer': answer({ status: 429, fields: [JSON_LINE], content }),
});

const REFUSED: readonly (readonly [string, GivenEvidence, string])[] = [
  // RFC 6585 §7.2: another status is lawful. RFC 9110 §15.5.2, §15.5.5, §15.5.8, §15.5.11 and §15.6: these mean something else.
  ...[401, 404, 407, 410, 500, 502, 504, 599].map(
    (status) =>
      [
        'refusal-meaning',
        refused({ status }),
        `fail (e1): expected 429, or another status for a limit, got status ${status}`,
      ] as const,
  ),
  ...[429, 400, 403, 408, 413, 420, 430, 503, 509, 529].map(
    (status) => ['refusal-meaning', refused({ status }), 'pass'] as const,
  ),
  ['refusal-meaning', refused({ status: null }), 'skipped: the refusal is no answer'],
  [
    'refusal-meaning',
    refused({ status: 429 }, { status: 401 }),
    'fail (e2): expected 429, or another status for a limit, got status 401',
  ],
  ['refusal-status', refused({ status: 429 }), 'pass'],
  ['refusal-status', refused({ status: 403 }), 'warning (e1): expected status 429, got status 403'],
  [
    'refusal-status',
    refused({ status: 429 }, { status: 503 }),
    'warning (e2): expected status 429, got status 503',
  ],
  ['refusal-json', refused({ status: 429, fields: [JSON_LINE], content: '{}' }), 'pass'],
  [
    'refusal-json',
    refused({ status: 429, fields: [HTML_LINE], content: '<p>' }),
    'fail (e1): expected a JSON body, got Content-Type text/html',
  ],
  [
    'refusal-json',
    refused({ status: 429, method: 'HEAD', fields: [HTML_LINE] }),
    'skipped: no refusal has content for programs',
  ],
  [
    'refusal-json',
    refused(
      { status: 429, fields: [JSON_LINE], content: '{}' },
      { status: 429, fields: [HTML_LINE], content: '<p>' },
    ),
    'fail (e2): expected a JSON body, got Content-Type text/html',
  ],
  ['retry-after', refused({ status: 429, fields: [['Retry-After', '3']] }), 'pass'],
  [
    'retry-after',
    refused({ status: 429, fields: [['Retry-After', '3']] }, { status: 429 }),
    'warning (e2): expected a Retry-After field, got none (status 429)',
  ],
  // RFC 9110 §10.2.3.
  ['retry-after-valid', refused({ status: 429 }), 'skipped: no response has Retry-After'],
  ...['0', '120', 'Sat, 21 Nov 2026 12:00:30 GMT'].map(
    (value) =>
      ['retry-after-valid', refused({ status: 429, fields: [['Retry-After', value]] }), 'pass'] as const,
  ),
  ...['-1', '1.5', 'soon', '2026-11-21'].map(
    (value) =>
      [
        'retry-after-valid',
        refused({ status: 429, fields: [['Retry-After', value]] }),
        `fail (e1): expected seconds or an HTTP-date, got "${value}"`,
      ] as const,
  ),
  // RFC 6585 §4: no cache stores a 429. Another status may be stored, if it is not the refusal.
  ['refusal-not-cacheable', refused({ status: 429 }), 'pass'],
  [
    'refusal-not-cacheable',
    refused({ status: 403, fields: [['Cache-Control', 'max-age=60']] }),
    'fail (e1): expected no public directive and no freshness, got Cache-Control: max-age=60',
  ],
  [
    'refusal-not-cacheable',
    refused({ status: 403 }, { status: 429, fields: [['Cache-Control', 'max-age=60']] }),
    'fail (e2): expected no public directive and no freshness, got Cache-Control: max-age=60',
  ],
  [
    'refusal-not-cacheable',
    refused({ status: 403 }, { status: 403, fields: [['Cache-Control', 'max-age=60']] }),
    'pass',
  ],
  ['quota-shrinks', shrunk(remaining('9'), remaining('0')), 'pass'],
  [
    'quota-shrinks',
    shrunk(remaining('9'), remaining('9')),
    'warning (e1): expected fewer than 9 remaining, got 9 remaining',
  ],
  ['quota-shrinks', shrunk(remaining('0'), remaining('0')), 'skipped: no quota header gives what remains'],
  ['quota-shrinks', shrunk([], remaining('0')), 'skipped: no quota header gives what remains'],
  ['quota-shrinks', shrunk(remaining('9'), []), 'skipped: no quota header gives what remains'],
  [
    'refusal-shape',
    shapes('{"error":"slow"}'),
    'observed {"shape":{"type":"object","properties":{"error":{"type":"string"}},"required":["error"]},"sameAsNotFound":true}: the shape of a 404',
  ],
  [
    'refusal-shape',
    shapes('{"message":"slow"}'),
    'observed {"shape":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]},"sameAsNotFound":false}: another shape than a 404',
  ],
  ['connections-share', { 'apart-while-exhausted': answer({ status: 429 }) }, 'pass'],
  [
    'connections-share',
    { 'apart-while-exhausted': answer({ status: 200 }) },
    'warning (e1): expected a refusal, no 2xx, got status 200',
  ],
  [
    'streams',
    { 'stream-while-exhausted': answer({ status: 429 }) },
    'observed "refused": a stream beyond the limit is refused',
  ],
  [
    'streams',
    { 'stream-while-exhausted': answer({ status: 200 }) },
    'observed "served": a stream beyond the limit is served',
  ],
];

/** Served answers with these fields, the first of them the sample. */
const told = (...all: readonly (readonly FieldLine[])[]): GivenEvidence => {
  const replies = all.map((fields, at) => answer({ status: 200, fields }, `e${at + 1}`));
  const selected = { all: replies, shortfall: null };
  return {
    'quota-sample': replies[0] ?? [],
    'every-exchange': selected,
    'every-quota-answer': selected,
  };
};
const quotaOf = (limit: string, left: string, reset?: string): FieldLine[] => [
  ['X-RateLimit-Limit', limit],
  ['X-RateLimit-Remaining', left],
  ...(reset === undefined ? [] : [['X-RateLimit-Reset', reset] as const]),
];
const drafted = (policy: string, limit: string): FieldLine[] => [
  ['RateLimit-Policy', policy],
  ['RateLimit', limit],
];
const DRAFT = drafted('"main";q=100;w=60', '"main";r=9;t=30');
const violating = (names: unknown, type = QUOTA_EXCEEDED): GivenEvidence => ({
  ...told(DRAFT),
  'refusal-answer': answer({
    status: 429,
    fields: [['Content-Type', 'application/problem+json']],
    content: JSON.stringify({ type, 'violated-policies': names }),
  }),
});
const refusedWith = (fields: readonly FieldLine[], sample: readonly FieldLine[] = DRAFT): GivenEvidence => ({
  ...told(sample),
  'refusal-answer': answer({ status: 429, fields }),
});

const TOLD: readonly (readonly [string, GivenEvidence, string])[] = [
  ['dialect', told([]), 'observed "none": no quota headers are sent'],
  ['dialect', told(quotaOf('100', '99')), 'observed "x-ratelimit": dialect x-ratelimit'],
  ['quota-fields', told([]), 'skipped: no quota headers are sent'],
  ['quota-fields', told(quotaOf('100', '99', '30')), 'pass'],
  [
    'quota-fields',
    told(quotaOf('100', '99'), quotaOf('many', '99')),
    'warning (e2): expected well-formed quota fields, got X-RateLimit-Limit is not a number of requests: "many"',
  ],
  [
    'quota-fields',
    {
      ...told([]),
      'every-exchange': { all: [answer({ status: 429, fields: quotaOf('many', '0') })], shortfall: null },
    },
    'skipped: no quota headers are sent',
  ],
  ['refusal-fields', refusedWith([]), 'skipped: the refusal has no quota headers'],
  ['refusal-fields', refusedWith(quotaOf('100', '0')), 'pass'],
  [
    'refusal-fields',
    refusedWith(quotaOf('many', '0')),
    'warning (e1): expected well-formed quota fields, got X-RateLimit-Limit is not a number of requests: "many"',
  ],
  [
    'quota-fields-on-refusal',
    refusedWith([], quotaOf('100', '99')),
    'skipped: no RateLimit headers are sent',
  ],
  ['quota-fields-on-refusal', refusedWith([]), 'warning (e1): expected quota fields, got none'],
  ['quota-fields-on-refusal', refusedWith(DRAFT), 'pass'],
  ['quota-consistent', told([]), 'skipped: no quota headers are sent'],
  ['quota-consistent', told(quotaOf('100', '100')), 'pass'],
  [
    'quota-consistent',
    told(quotaOf('100', '99'), quotaOf('100', '101')),
    'warning (e2): expected quota fields that can all be true, got 101 remaining of a limit of 100',
  ],
  // 100 at once and 1 each 600 ms, 5 in a second and 1000 in an hour are documented.
  ['quota-fields-agree', told([]), 'skipped: no quota header gives a limit'],
  ...['100', '1', '5', '1000'].map(
    (limit) => ['quota-fields-agree', told(quotaOf(limit, '1')), 'pass'] as const,
  ),
  [
    'quota-fields-agree',
    told(quotaOf('100', '9'), quotaOf('7', '1')),
    'warning (e2): expected a limit of 1 or 100, got 7',
  ],
  ['quota-fields-agree', told(drafted('"a";q=7;w=9, "main";q=100;w=60', '"a";r=1;t=3')), 'pass'],
  [
    'quota-fields-agree',
    told(drafted('"a";q=7;w=9, "b";q=8;w=60', '"a";r=1;t=3')),
    'warning (e1): expected a limit of 1 or 100, got 7',
  ],
  ['reset-unit', told(quotaOf('100', '99')), 'skipped: no quota header gives a reset'],
  // The quota of 60 s: no limiter has a reset ten windows ahead, and 60000 ms are one window.
  ...['0', '60', '600', '60001'].map(
    (reset) => ['reset-unit', told(quotaOf('100', '99', reset)), 'pass'] as const,
  ),
  ...['601', '29500', '60000'].map(
    (reset) =>
      [
        'reset-unit',
        told(quotaOf('100', '99', '30'), quotaOf('100', '99', reset)),
        'warning (e2): expected seconds, from now or since 1970, got milliseconds',
      ] as const,
  ),
  ['reset-unit', told(quotaOf('50', '49', '29500')), 'pass'],
  [
    'reset-unit',
    told(quotaOf('100', '99', '1795262402000')),
    'warning (e1): expected seconds, from now or since 1970, got milliseconds',
  ],
  // RateLimit draft, problem types: `violated-policies` is a list of names of RateLimit-Policy.
  ['violated-policies', violating(['main']), 'pass'],
  [
    'violated-policies',
    violating(['other']),
    'warning (e1): expected names that RateLimit-Policy has, got "other", which RateLimit-Policy does not have',
  ],
  [
    'violated-policies',
    violating('main'),
    'warning (e1): expected names that RateLimit-Policy has, got "main", which is no list of names',
  ],
  [
    'violated-policies',
    violating(['other'], 'about:blank'),
    'skipped: the refusal does not say which policies are spent',
  ],
];

const STREAM: ServiceConfig['operations'][number] = {
  id: 'stream',
  method: 'GET',
  path: '/v1/changes',
  fields: [],
  body: null,
  tags: [],
  place: 'test',
  template: '/v1/changes',
  response: { status: 200, mediaTypes: [], schema: null },
  alternatives: [],
  answers: [],
  auth: 'required',
  safe: true,
  call: { method: 'GET', template: '/v1/changes', inputs: [], fields: [], body: null },
  uncallable: null,
  awaits: [],
  stream: { listenMs: 1_000, firstWithinMs: null, heartbeatMs: null, resumes: false },
};

const config: ServiceConfig = {
  ...search,
  plan: { ...PLAN, rate: { requests: 1, windowMs: 600 }, further: [{ ...SHORT, per: 'key' }, HOURLY] },
  safety: { ...search.safety, exceedRateLimit: true },
  http2: true,
  operations: [STREAM],
};

it.each([...SAID, ...REFUSED, ...TOLD])('limits.%s', async (id, given, said) => {
  const { said: whole, seen } = await judgedGiven(limits, `limits.${id}`, config, withEvidence(given));
  const text = whole
    .replace(/^observed/, `observed ${JSON.stringify(seen)}`)
    .replace(/: $| \[[^\]]*\]$/, '')
    .replace(/ for (?:GET|HEAD) .*$/, '');
  expect(said.endsWith('…') ? `${text.slice(0, said.length - 1)}…` : text).toBe(said);
});

/** Each result is about some evidence. */
function withEvidence(given: GivenEvidence): GivenEvidence {
  const reply = answer({ status: 200 }, 'e99');
  const about = (value: unknown) =>
    typeof value !== 'object' || value instanceof Reply ? value : { reply, ...value };
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(about) : about(value),
    ]),
  );
}
