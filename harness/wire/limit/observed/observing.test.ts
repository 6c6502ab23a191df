import { describe, expect, it } from 'vitest';
import type { Burst, BurstEntry, Evidence } from '../../evidence.ts';
import type { Exchange } from '../../exchange.ts';
import {
  exampleBody,
  exampleBurst,
  exampleConversation,
  exampleExchange,
  exampleId,
  exampleRequest,
  exampleResponse,
} from '../../fixtures/example-evidence.ts';
import { at } from '../fixtures/observed.ts';
import type { RefusalFace } from './observation.ts';
import { ALONE, observationsOf, serverClock, wholeOf } from './observing.ts';

const READING = { requests: 5, windowMs: 60_000, ownOffsetMs: 0, refusal: null };
const UNAVAILABLE: RefusalFace = { status: 503, content: '' };
const DROPPED: RefusalFace = { status: null, content: '' };

const observed = (
  evidence: readonly Evidence[],
  reading: { readonly refusal: RefusalFace | null } = { refusal: null },
) =>
  observationsOf(evidence, { ...READING, ...reading }).map(
    ({ fate, counted, part }) => `${part} ${fate} ${counted}`,
  );

function timed(startedMs: number, durationMs = 1): Exchange['timing'] {
  return {
    startedAt: '2026-11-21T12:00:00.000Z',
    startedMs,
    connectMs: 0,
    responseMs: durationMs,
    durationMs,
  };
}

interface Answered extends Partial<Exchange> {
  readonly status?: number;
  readonly method?: string;
}

function answer({ status = 200, method = 'GET', ...exchange }: Answered = {}): Exchange {
  return exampleExchange({
    timing: timed(0),
    request: exampleRequest({ method }),
    response: exampleResponse({ status, body: exampleBody('') }),
    ...exchange,
  });
}

const failed = (kind: NonNullable<Exchange['failure']>['kind'], exchange: Partial<Exchange> = {}) =>
  answer({ response: null, failure: { kind, message: kind }, ...exchange });
const alone = { purpose: `${ALONE}whether the quota is back` };

describe('an answered request', () => {
  it.each<
    readonly [name: string, exchange: Exchange, expected: readonly string[], refusal: RefusalFace | null]
  >([
    ['served', answer(), ['before admitted surely'], null],
    ['served at the end of the class', answer({ status: 299 }), ['before admitted surely'], null],
    ['redirected', answer({ status: 300 }), ['before admitted maybe'], null],
    ['of another method', answer({ method: 'POST' }), ['before admitted maybe'], null],
    ['not found', answer({ status: 404 }), ['before admitted maybe'], null],
    // The client is not known yet.
    ['without a valid credential', answer({ status: 401 }), [], null],
    ['forbidden', answer({ status: 403 }), [], null],
    ['with a target that is too long', answer({ status: 414 }), [], null],
    ['with fields that are too large', answer({ status: 431 }), [], null],
    ['refused', answer({ status: 429 }), ['before refused surely'], null],
    ['refused, of another method', answer({ status: 429, method: 'POST' }), ['before refused surely'], null],
    ['refused, as this limiter does', answer({ status: 503 }), ['before refused surely'], UNAVAILABLE],
    ['failed', answer({ status: 503 }), ['before admitted maybe'], null],
    ['without an answer', failed('response-timeout'), [], null],
    ['that was not sent', failed('not-sent', alone), [], null],
    ['dropped, as this limiter does', failed('reset'), ['before refused surely'], DROPPED],
    ['alone', answer(alone), ['probe admitted surely'], null],
    ['alone, without an answer', failed('response-timeout', alone), ['probe lost maybe'], null],
    ['alone, and forbidden', answer({ ...alone, status: 403 }), [], null],
    [
      'alone, and forbidden after refusals',
      answer({ ...alone, status: 403 }),
      ['probe refused surely'],
      UNAVAILABLE,
    ],
    ['forbidden after refusals', answer({ status: 403 }), [], UNAVAILABLE],
    [
      'alone, and not found after refusals',
      answer({ ...alone, status: 404 }),
      ['probe admitted maybe'],
      UNAVAILABLE,
    ],
    [
      'with a purpose that ends like that of one alone',
      answer({ purpose: `not ${ALONE}` }),
      ['before admitted surely'],
      null,
    ],
    ['of another credential', answer({ credential: 'other' }), ['before admitted maybe'], null],
    ['of another credential, refused', answer({ credential: 'other', status: 429 }), [], null],
    ['of a wrong credential', answer({ credential: 'wrong' }), [], null],
  ])('%s', (_, exchange, expected, refusal) => {
    expect(observed([exchange], { refusal })).toEqual(expected);
  });

  it('has the moments of its sending and its answer, and what its fields told', () => {
    const fields = [
      ['Date', 'Sat, 21 Nov 2026 12:00:07 GMT'],
      ['Retry-After', '30'],
      ['X-RateLimit-Limit', '5'],
      ['X-RateLimit-Remaining', '3'],
    ] as const;
    const [seen] = observationsOf(
      [answer({ timing: timed(1_000, 250), response: exampleResponse({ fields }) })],
      READING,
    );
    expect(seen).toMatchObject({
      sentMs: 1_000,
      finishedMs: 1_250,
      status: 200,
      quota: { limit: 5, remaining: 3 },
      retryAfterMs: 30_000,
      retryAfterIsDate: false,
      dateMs: Date.UTC(2026, 10, 21, 12, 0, 7),
    });
  });

  it('tells a date of Retry-After by the clock of the service', () => {
    const fields = [
      ['Date', 'Sat, 21 Nov 2026 12:00:00 GMT'],
      ['Retry-After', 'Sat, 21 Nov 2026 12:00:20 GMT'],
    ] as const;
    const exchange = answer({ response: exampleResponse({ status: 429, fields }) });
    const [seen] = observationsOf([exchange], READING);
    expect(seen).toMatchObject({ retryAfterMs: 20_000, retryAfterIsDate: true });
  });

  it('tells a date of Retry-After by our clock, without a Date', () => {
    const fields = [['Retry-After', 'Sat, 21 Nov 2026 12:00:20 GMT']] as const;
    const exchange = answer({ timing: timed(500, 500), response: exampleResponse({ status: 429, fields }) });
    const ownOffsetMs = Date.UTC(2026, 10, 21, 12) - 1_000;
    const [seen] = observationsOf([exchange], { ...READING, ownOffsetMs });
    expect(seen).toMatchObject({ retryAfterMs: 20_000, dateMs: null });
  });

  it('is read again for another window', () => {
    const fields = [
      ['X-RateLimit-Limit', '5'],
      ['X-RateLimit-Remaining', '3'],
    ] as const;
    const exchange = answer({ response: exampleResponse({ fields }) });
    const windowsFor = (windowMs: number) => observationsOf([exchange], { ...READING, windowMs })[0]?.quota;
    expect(windowsFor(1_000)).toBe(windowsFor(1_000));
    expect(windowsFor(1_000)).not.toBe(windowsFor(60_000));
  });

  it('comes in the order of sending', () => {
    const all = [answer({ timing: timed(20) }), answer({ timing: timed(0) }), answer({ timing: timed(10) })];
    expect(observationsOf(all, READING).map(({ sentMs }) => sentMs)).toEqual([0, 10, 20]);
  });
});

describe('a request that is served while the quota is spent', () => {
  const servedAt = (sentMs: number, exchange: Answered = {}, refusal: Answered = {}) =>
    observed([answer({ status: 429, ...refusal }), answer({ timing: timed(sentMs), ...exchange })])[1];
  const wait = {
    response: exampleResponse({ status: 429, fields: [['Retry-After', '90']], body: exampleBody('') }),
  };

  it('may be free for a window, or for as long as the refusal says', () => {
    // Answered after 1 ms; 70 ms for the clocks.
    expect(servedAt(60_070)).toBe('before admitted maybe');
    expect(servedAt(60_071)).toBe('before admitted surely');
    expect(servedAt(90_070, {}, wait)).toBe('before admitted maybe');
    expect(servedAt(90_071, {}, wait)).toBe('before admitted surely');
  });

  it('counts if it was sent alone', () => {
    expect(servedAt(1_000, alone)).toBe('probe admitted surely');
  });
});

describe('a handshake', () => {
  const handshake = (status: number, startedMs = 0): Evidence => {
    const { handshake } = exampleConversation();
    const timing = { ...timed(startedMs), responseMs: 40, durationMs: 5_000 };
    return exampleConversation({
      timing,
      handshake: { ...handshake, response: exampleResponse({ status, body: exampleBody('') }) },
    });
  };
  const remaining = (left: number, startedMs: number) =>
    answer({
      timing: timed(startedMs),
      response: exampleResponse({
        fields: [
          ['X-RateLimit-Limit', '5'],
          ['X-RateLimit-Remaining', String(left)],
        ],
      }),
    });

  it('may count or not', () => {
    expect(observed([handshake(101)])).toEqual(['before admitted maybe']);
  });

  it('is answered when its response is in', () => {
    expect(observationsOf([handshake(101)], READING)[0]?.finishedMs).toBe(40);
  });

  it('counts, or is free, where what remains tells it', () => {
    const between = (before: number, after: number) =>
      observed([remaining(before, 0), handshake(101, 100), remaining(after, 200)]);
    expect(between(4, 2)).toEqual([
      'before admitted surely',
      'before admitted surely',
      'before admitted surely',
    ]);
    expect(between(4, 3)).toEqual(['before admitted surely', 'before admitted surely']);
  });

  it('counts when it is refused by the limiter', () => {
    expect(observed([handshake(429)])).toEqual(['before refused maybe']);
  });
});

describe('a burst', () => {
  /** Its entries by status, one each 10 ms, with what remains. */
  const burst = (
    statuses: readonly (number | null)[],
    more: Partial<Burst> = {},
    remaining: readonly (number | null)[] = [],
  ) =>
    exampleBurst({
      refusal: null,
      entries: statuses.map((status, index): BurstEntry => {
        const left = remaining[index] ?? null;
        const fields = left === null ? [] : ([['X-RateLimit-Remaining', String(left)]] as const);
        return { index: index + 1, sentMs: index * 10, durationMs: 4, status, fields, failure: null };
      }),
      ...more,
    });
  const fates = (...given: Parameters<typeof burst>) => observed([burst(...given)]);
  const parallel = { mode: 'parallel' } as const;

  it('has an observation for each request', () => {
    expect(fates([200, 299, 300, 429, 199])).toEqual([
      'serial admitted surely',
      'serial admitted surely',
      'serial refused surely',
      'serial refused surely',
      'serial refused surely',
    ]);
    expect(observationsOf([burst([200, 200])], READING)[1]).toMatchObject({
      sentMs: 10,
      finishedMs: 14,
      status: 200,
    });
  });

  it('has lost those without an answer, unless the limiter drops what it refuses', () => {
    expect(fates([null])).toEqual(['serial lost surely']);
    expect(observed([burst([null])], { refusal: DROPPED })).toEqual(['serial refused surely']);
    expect(observed([burst([null])], { refusal: UNAVAILABLE })).toEqual(['serial lost surely']);
  });

  it('may not have counted a fault before its refusal', () => {
    expect(fates([200, 503, 200])[1]).toBe('serial admitted maybe');
    // The last one is the refusal.
    expect(fates([200, 503])).toEqual(['serial admitted surely', 'serial refused surely']);
  });

  it('has faults of requests sent together only where refusals look otherwise', () => {
    expect(fates([200, 503, 200], parallel)[1]).toBe('parallel refused surely');
    const seen = (refusal: RefusalFace) => observed([burst([200, 503, 200], parallel)], { refusal })[1];
    expect(seen(UNAVAILABLE)).toBe('parallel refused surely');
    expect(seen({ status: 429, content: '' })).toBe('parallel admitted maybe');
    expect(observed([burst([200, 404], parallel)], { refusal: UNAVAILABLE })[1]).toBe(
      'parallel refused surely',
    );
  });

  it('counted a fault, or did not, where what remains tells it', () => {
    const statuses = [200, 503, 200, 429];
    expect(fates(statuses, {}, [4, null, 2])).toHaveLength(4);
    expect(fates(statuses, {}, [4, null, 2])[1]).toBe('serial admitted surely');
    expect(fates(statuses, {}, [4, null, 3])).toEqual([
      'serial admitted surely',
      'serial admitted surely',
      'serial refused surely',
    ]);
    // Others spent of it as well.
    expect(fates(statuses, {}, [4, null, 1])[1]).toBe('serial admitted maybe');
    expect(fates(statuses, {}, [4, null, null])[1]).toBe('serial admitted maybe');
    expect(fates(statuses, {}, [null, null, 2])[1]).toBe('serial admitted maybe');
    // What a fault itself tells is of no use.
    expect(fates([200, 503, 503, 200, 429], {}, [4, 1, 1, 3])).toHaveLength(3);
    expect(fates([200, 503, 503, 200, 429], {}, [4, 4, 4, 2])[1]).toBe('serial admitted maybe');
    expect(fates([200, 200, 503, 200, 429], {}, [0, null, null, 0])[2]).toBe('serial admitted maybe');
  });

  it('is not counted twice by its exchanges that are kept whole', () => {
    const refusal = answer({ id: exampleId('e8'), status: 429, timing: timed(30) });
    const fault = answer({ id: exampleId('e7'), status: 503, timing: timed(10) });
    const other = answer({ id: exampleId('e9'), timing: timed(50_000_000) });
    const whole = burst([200, 503, 200, 429], { refusal: refusal.id, faults: [fault.id] });
    expect(wholeOf(whole)).toEqual(['e7', 'e8']);
    expect(wholeOf(burst([200]))).toEqual([]);
    expect(observed([fault, refusal, whole, other])).toEqual([
      'serial admitted surely',
      'serial admitted maybe',
      'serial admitted surely',
      'serial refused surely',
      'before admitted surely',
    ]);
  });
});

describe('the clock of the service', () => {
  /** Sent and answered at those moments, with that Date. */
  const dated = (sentMs: number, finishedMs: number, dateMs: number | null) =>
    at(sentMs, 'admitted', { finishedMs, dateMs });

  it('is ours, give or take a tick, without any Date', () => {
    expect(serverClock([], 500)).toEqual({ least: 480, most: 520 });
    expect(serverClock([dated(0, 10, null)], 500)).toEqual({ least: 480, most: 520 });
  });

  it('is that of its Dates, which are cut to the second and may be a second old', () => {
    expect(serverClock([dated(100, 300, 10_000)], 0)).toEqual({ least: 9_700, most: 11_900 });
    expect(serverClock([dated(100, 300, 10_000), dated(900, 950, 11_000)], 0)).toEqual({
      least: 10_050,
      most: 11_900,
    });
    expect(serverClock([dated(900, 950, 11_000), dated(2_000, 2_100, 11_000)], 0)).toEqual({
      least: 10_050,
      most: 11_000,
    });
  });

  it.each([
    [9_680, true],
    [9_679, false],
    [11_920, true],
    [11_921, false],
    [10_000, true],
  ])('is ours if ours is within those bounds: ahead by %i, %s', (ownOffsetMs, isOurs) => {
    const seen = serverClock([dated(100, 300, 10_000)], ownOffsetMs);
    const ours = { least: ownOffsetMs - 20, most: ownOffsetMs + 20 };
    expect(seen).toEqual(isOurs ? ours : { least: 9_700, most: 11_900 });
  });

  it('is ours if its Dates contradict each other', () => {
    expect(serverClock([dated(0, 10, 10_000), dated(20, 30, 90_000)], 7)).toEqual({ least: -13, most: 27 });
    // One moment is left.
    expect(serverClock([dated(0, 0, 10_000), dated(0, 0, 12_000)], 0)).toEqual({
      least: 12_000,
      most: 12_000,
    });
  });
});
