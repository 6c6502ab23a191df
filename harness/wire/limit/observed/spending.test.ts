import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../evidence.ts';
import type { Exchange } from '../../exchange.ts';
import {
  exampleConversation,
  exampleExchange,
  exampleRequest,
  exampleResponse,
} from '../../fixtures/example-evidence.ts';
import { observationsOf } from './observing.ts';
import { openRequests, reportedRemaining, spendingsOf } from './spending.ts';

/** One request after the other, 10 ms apart, answered within 1 ms; a plan of 100 in 60 s. */

const READING = { requests: 100, windowMs: 60_000, refusal: null };

interface Sent {
  readonly credential?: Exchange['credential'];
  readonly status?: number;
  readonly method?: string;
  /** What its quota fields tell. */
  readonly remaining?: number;
  readonly isHandshake?: boolean;
  /** In ms; the next ten of them when left out. */
  readonly startedMs?: number;
  readonly durationMs?: number;
}

function evidenceOf(all: readonly Sent[]): readonly Evidence[] {
  return all.map(({ credential = 'right', status = 200, method = 'GET', remaining, ...each }, at) => {
    const { startedMs = at * 10, durationMs = 1 } = each;
    const startedAt = '2026-11-21T12:00:00.000Z';
    const timing = { startedAt, startedMs, connectMs: 0, responseMs: durationMs, durationMs };
    const quota = [
      ['RateLimit-Policy', '"default";q=100;w=60'],
      ['RateLimit', `"default";r=${remaining};t=60`],
    ] as const;
    const response = exampleResponse({ status, fields: remaining === undefined ? [] : quota });
    if (!each.isHandshake) {
      return exampleExchange({ credential, timing, response, request: exampleRequest({ method }) });
    }
    const handshake = { ...exampleConversation().handshake, response };
    return exampleConversation({ credential, timing, handshake });
  });
}

const told = (remaining: number): Sent => ({ remaining });
const REFUSED_KEY: Sent = { credential: 'wrong', status: 401 };
const UNKNOWN_PATH: Sent = { status: 404 };
const HANDSHAKE: Sent = { isHandshake: true, status: 101 };
const BEYOND: Sent = { status: 429 };

const costs = (...sent: readonly Sent[]) => Object.fromEntries(spendingsOf(evidenceOf(sent), READING));

describe('what a kind of request costs', () => {
  it.each<[string, readonly Sent[], Readonly<Record<string, string>>]>([
    [
      'nothing, where the quota fell by the next request alone',
      [told(99), REFUSED_KEY, told(98)],
      { 'GET wrong 401': 'free' },
    ],
    [
      'one each, where it fell by them as well',
      [told(99), UNKNOWN_PATH, UNKNOWN_PATH, told(96)],
      { 'GET right 404': 'counted' },
    ],
    [
      'is told apart where one choice alone explains the fall',
      [told(99), REFUSED_KEY, REFUSED_KEY, REFUSED_KEY, UNKNOWN_PATH, told(97)],
      { 'GET wrong 401': 'free', 'GET right 404': 'counted' },
    ],
    ['is not told where several do', [told(99), REFUSED_KEY, UNKNOWN_PATH, told(97)], {}],
    [
      'is told by what is known of the others',
      [told(99), REFUSED_KEY, told(98), REFUSED_KEY, UNKNOWN_PATH, told(96)],
      { 'GET wrong 401': 'free', 'GET right 404': 'counted' },
    ],
    [
      'is not known where it is so here and otherwise there',
      [told(99), UNKNOWN_PATH, told(98), UNKNOWN_PATH, told(96)],
      {},
    ],
    ['is not told by a quota that was renewed', [told(3), UNKNOWN_PATH, told(99)], {}],
    ['is not told by a quota that others spend as well', [told(99), UNKNOWN_PATH, told(90)], {}],
    ['is not told by a quota that does not fall', [told(99), UNKNOWN_PATH, told(99)], {}],
    ['is not told without quota fields', [{}, UNKNOWN_PATH, {}], {}],
    [
      'is not told of one that was under way together with the answer that tells',
      [told(99), { ...UNKNOWN_PATH, durationMs: 15 }, told(98)],
      {},
    ],
    [
      'shows of handshakes while the quota is spent: served more often than it can have come back',
      [BEYOND, HANDSHAKE, HANDSHAKE, BEYOND],
      { 'handshake right 101': 'free' },
    ],
    ['does not show by one of them', [BEYOND, HANDSHAKE, BEYOND], {}],
    ['does not show where the quota was back', [BEYOND, HANDSHAKE, HANDSHAKE, {}, BEYOND], {}],
    [
      'does not show where it may have flowed back meanwhile',
      [BEYOND, HANDSHAKE, HANDSHAKE, { ...BEYOND, startedMs: 2_000 }],
      {},
    ],
  ])('%s', (_, sent, expected) => {
    expect(costs(...sent)).toEqual(expected);
  });

  it('allows for a bucket that is refilled meanwhile', () => {
    const later = (remaining: number): Sent => ({ remaining, startedMs: 1_000 });
    // Of three counted ones, two may have flowed back.
    expect(costs(told(99), UNKNOWN_PATH, UNKNOWN_PATH, UNKNOWN_PATH, later(97))).toEqual({
      'GET right 404': 'counted',
    });
    expect(costs(told(99), UNKNOWN_PATH, UNKNOWN_PATH, later(98))).toEqual({});
  });
});

it('one more answer may tell of what came behind the last that told, as far as it is not known', () => {
  const of = (...sent: readonly Sent[]) => {
    const evidence = evidenceOf(sent);
    return openRequests(evidence, READING, spendingsOf(evidence, READING));
  };
  expect(of(UNKNOWN_PATH)).toBe(0);
  expect(of(told(99), REFUSED_KEY, told(98), REFUSED_KEY, HANDSHAKE, HANDSHAKE)).toBe(2);
});

it('what remains is told by a request that counts, of the documented limit', () => {
  const of = (sent: Sent, requests = 100) => {
    const [only] = evidenceOf([sent]);
    return only?.kind === 'exchange' ? reportedRemaining(only, { ...READING, requests }) : null;
  };
  expect(of(told(7))).toBe(7);
  expect(of(told(7), 1_000)).toBeNull();
  expect(of({ ...UNKNOWN_PATH, remaining: 7 })).toBeNull();
});

describe('a request that is served after a refusal', () => {
  const counted = (all: readonly Sent[]) =>
    observationsOf(evidenceOf(all), { ...READING, ownOffsetMs: 0 }).map((each) => each.counted);

  it('may have a quota of its own while the quota is spent, and counts a window later', () => {
    const served = [0, 59_000, 61_000].map((startedMs) => ({ startedMs }));
    const refused = { ...BEYOND, startedMs: 100 };
    expect(counted([...served, refused])).toEqual(['surely', 'surely', 'maybe', 'surely']);
  });

  it('may have a quota of its own with another kind of credential', () => {
    const other: Sent = { credential: 'other', remaining: 99 };
    expect(counted([{}, other, {}])).toEqual(['surely', 'maybe', 'surely']);
    expect(counted([{ ...BEYOND, credential: 'other' }, {}])).toEqual(['surely']);
    const [seen] = observationsOf(evidenceOf([other]), { ...READING, ownOffsetMs: 0 });
    expect(seen?.quota).toBeNull();
  });
});
