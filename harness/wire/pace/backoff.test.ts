import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import type { Exchange, FieldLine } from '../exchange.ts';
import { exampleExchange, exampleRequest, exampleResponse } from '../fixtures/example-evidence.ts';
import { type BackoffOptions, untilAdmitted } from './backoff.ts';
import { manualClock } from './fixtures/virtual-clock.ts';

/** What the provider answers to one attempt; null for no answer. */
interface Answer {
  readonly status: number | null;
  readonly fields?: readonly FieldLine[];
}

const START = new Date('2026-01-01T00:00:00Z');
const REFUSED: Answer = { status: 429 };
const SERVED: Answer = { status: 200 };

function exchangeOf({ status, fields = [] }: Answer, method: string): Exchange {
  return exampleExchange({
    request: exampleRequest({ method }),
    response: status === null ? null : exampleResponse({ status, fields }),
    failure: status === null ? { kind: 'reset', message: '' } : null,
  });
}

function client(
  answers: (attempt: number) => Answer,
  overrides: Partial<BackoffOptions> = {},
  method = 'GET',
) {
  const clock = manualClock({ wall: START });
  const sentMs: number[] = [];
  const options: BackoffOptions = {
    clock,
    random: () => 0.3,
    baseMs: 1000,
    capMs: 20_000,
    maxAttempts: 6,
    maxTotalMs: 120_000,
    signal: new AbortController().signal,
    isRefused: ({ response }) => response?.status === 429,
    waiting: () => undefined,
    ...overrides,
  };
  const call = async () => {
    const send = async () => {
      sentMs.push(clock.now());
      return { exchange: exchangeOf(answers(sentMs.length), method) };
    };
    return (await untilAdmitted(send, options)).exchange.response?.status ?? null;
  };
  return { clock, sentMs, call, gaps: () => sentMs.slice(1).map((ms, index) => ms - (sentMs[index] ?? 0)) };
}

const retryAfter = (value: string): Answer => ({ status: 429, fields: [['Retry-After', value]] });
const onceThenServed = (first: Answer) => (attempt: number) => (attempt === 1 ? first : SERVED);

describe('what is repeated', () => {
  it('a safe request that was refused for its rate', async () => {
    const { clock, call, sentMs } = client(onceThenServed(REFUSED));
    expect(await clock.drive(call())).toBe(200);
    expect(sentMs).toHaveLength(2);
  });

  it.each([200, 301, 400, 401, 403, 404, 500, 503, null])(
    'never a request answered with %s',
    async (status) => {
      const { clock, call, sentMs } = client(() => ({ ...retryAfter('1'), status }));
      expect(await clock.drive(call())).toBe(status);
      expect(sentMs).toHaveLength(1);
    },
  );

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('never %s', async (method) => {
    const { clock, call, sentMs } = client(() => REFUSED, {}, method);
    expect(await clock.drive(call())).toBe(429);
    expect(sentMs).toHaveLength(1);
  });
});

describe('how long it waits', () => {
  it('grows exponentially up to the cap, drawn from zero to there', async () => {
    const patient = { maxAttempts: 8, maxTotalMs: 1e9 };
    const highest = client(() => REFUSED, { random: () => 0.999999, ...patient });
    await highest.clock.drive(highest.call());
    expect(highest.gaps().map((gap) => Math.round(gap / 1000))).toEqual([1, 2, 4, 8, 16, 20, 20]);
    const lowest = client(() => REFUSED, { random: () => 0 });
    await lowest.clock.drive(lowest.call());
    expect(lowest.gaps()).toEqual([0, 0, 0, 0, 0]);
  });

  it.each([
    ['seconds', '30'],
    ['an IMF-fixdate', 'Thu, 01 Jan 2026 00:00:30 GMT'],
    ['an RFC 850 date', 'Thursday, 01-Jan-26 00:00:30 GMT'],
    ['an asctime date', 'Thu Jan  1 00:00:30 2026'],
  ])('is at least what Retry-After says, in %s, and little more', async (_form, value) => {
    const { clock, call, gaps } = client(onceThenServed(retryAfter(value)));
    await clock.drive(call());
    expect(gaps()[0]).toBeGreaterThanOrEqual(30_000);
    expect(gaps()[0]).toBeLessThanOrEqual(31_000);
  });

  it('takes a date by the clock that made it', async () => {
    const skewed: Answer = {
      status: 429,
      fields: [
        ['Date', 'Wed, 01 Jan 2031 00:00:00 GMT'],
        ['Retry-After', 'Wed, 01 Jan 2031 00:00:05 GMT'],
      ],
    };
    const { clock, call, gaps } = client(onceThenServed(skewed));
    await clock.drive(call());
    expect(gaps()[0]).toBeGreaterThanOrEqual(5000);
    expect(gaps()[0]).toBeLessThanOrEqual(6000);
  });

  it.each(['0', '-1', 'Wed, 31 Dec 2025 23:00:00 GMT', 'soon', '', '2.5', 'NaN'])(
    'is its own when Retry-After is %j',
    async (value) => {
      const { clock, call, gaps } = client(() => retryAfter(value), { random: () => 0.5 });
      await clock.drive(call());
      expect(gaps()).toEqual([500, 1000, 2000, 4000, 8000]);
    },
  );

  it.each(['1000000', '99999999999999999999', 'Fri, 01 Jan 2100 00:00:00 GMT'])(
    'is not waited for when Retry-After is absurd: %s',
    async (value) => {
      const { clock, call, sentMs } = client(() => retryAfter(value));
      expect(await clock.drive(call())).toBe(429);
      expect([sentMs.length, clock.now()]).toEqual([1, 0]);
    },
  );

  it('is announced with its reason and end', async () => {
    const waits: unknown[] = [];
    const { clock, call } = client(onceThenServed(retryAfter('2')), {
      random: () => 0,
      waiting: (wait) => waits.push(wait),
    });
    await clock.drive(call());
    expect(waits).toEqual([
      {
        reason: 'status 429, attempt 1 of 6',
        untilMs: 2000,
        until: new Date(START.getTime() + 2000),
        isAsked: true,
      },
    ]);
  });

  it('ends when the run is aborted', async () => {
    const abort = new AbortController();
    const { clock, call } = client(() => retryAfter('60'), { signal: abort.signal });
    const called = call();
    await clock.advance(100);
    abort.abort(new Error('run aborted'));
    await expect(called).rejects.toThrow('run aborted');
  });
});

/** A gap is the difference of two moments, each of them a sum of fractions of a millisecond. */
const ROUNDING_MS = 1e-6;

it('keeps every bound, whatever is answered', async () => {
  const value = fc.oneof(fc.nat(40).map(String), fc.constantFrom('-3', 'x', '1e3', '1000000', '2.98'));
  const answer = fc.oneof(fc.constant(REFUSED), value.map(retryAfter), fc.constant(SERVED));
  const schedule = fc.record({
    answers: fc.array(answer, { minLength: 1, maxLength: 10 }),
    draws: fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
    baseMs: fc.integer({ min: 1, max: 2000 }),
    capMs: fc.integer({ min: 2000, max: 30_000 }),
    maxAttempts: fc.integer({ min: 1, max: 8 }),
    maxTotalMs: fc.integer({ min: 1, max: 90_000 }),
  });
  await fc.assert(
    fc.asyncProperty(schedule, async ({ answers, draws, ...bounds }) => {
      const given = (attempt: number) => answers[attempt - 1] ?? SERVED;
      const { clock, call, sentMs, gaps } = client(given, { random: () => draws.next().value, ...bounds });
      expect(await clock.drive(call())).toBe(given(sentMs.length).status);
      expect(sentMs.length).toBeLessThanOrEqual(bounds.maxAttempts);
      expect(sentMs.at(-1)).toBeLessThanOrEqual(bounds.maxTotalMs);
      gaps().forEach((gap, index) => {
        const asked = given(index + 1).fields?.[0]?.[1] ?? '';
        const askedMs = /^\d+$/.test(asked) ? Number(asked) * 1000 : 0;
        const ownMs = Math.min(bounds.capMs, bounds.baseMs * 2 ** index);
        expect(gap).toBeGreaterThanOrEqual(askedMs - ROUNDING_MS);
        expect(gap).toBeLessThanOrEqual(Math.max(askedMs + bounds.baseMs, ownMs) + ROUNDING_MS);
      });
    }),
    { numRuns: 400 },
  );
});
