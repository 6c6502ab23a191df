import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Exchange, ExchangeFailureKind, FieldLine } from '../../evidence/exchange.ts';
import { about } from '../fixtures/setting.ts';
import { type BackoffOptions, RetryGate, retrying } from './backoff.ts';
import { type VirtualClock, virtualClock } from './fixtures/virtual-clock.ts';

/** What the provider does to one attempt. */
interface Answer {
  readonly status?: number;
  readonly failure?: ExchangeFailureKind;
  readonly fields?: readonly FieldLine[];
  /** How long it takes. */
  readonly afterMs?: number;
}

const GET = { method: 'GET', fields: [] };
const START = new Date('2026-01-01T00:00:00Z');

/** A generator of uniform numbers in [0, 1) from a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function exchangeOf(answer: Answer, clock: VirtualClock): Exchange {
  const body = { bytes: new Uint8Array(), received: 0, truncated: false };
  const { id, purpose, credential } = about();
  return {
    kind: 'exchange',
    id,
    purpose,
    credential,
    request: { method: 'GET', url: 'http://127.0.0.1/', target: '/', fields: [], body: null },
    response:
      answer.status === undefined
        ? null
        : {
            status: answer.status,
            reason: null,
            httpVersion: '1.1',
            fields: answer.fields ?? [],
            trailers: [],
            body,
            informational: [],
            framingFaults: [],
          },
    failure: answer.failure ? { kind: answer.failure, message: '' } : null,
    timing: { startedAt: '', startedMs: clock.now(), connectMs: null, responseMs: null, durationMs: 0 },
  };
}

function client(
  answers: (attempt: number, call: number) => Answer,
  overrides: Partial<BackoffOptions> & { readonly clock?: VirtualClock } = {},
) {
  const clock = overrides.clock ?? virtualClock({ wall: START });
  const options: BackoffOptions = {
    clock,
    random: seeded(1),
    baseMs: 1000,
    capMs: 20_000,
    maxAttempts: 6,
    maxTotalMs: 120_000,
    ...overrides,
  };
  const sent: { atMs: number; call: number; closedUntilMs: number; gate?: RetryGate }[] = [];
  let calls = 0;
  const call = (
    request: { method: string; fields: readonly FieldLine[] } = GET,
    more: Partial<BackoffOptions> = {},
  ) => {
    const index = calls++;
    const merged = { ...options, ...more };
    return retrying(
      {
        request,
        async send(attempt) {
          sent.push({
            atMs: clock.now(),
            call: index,
            closedUntilMs: merged.gate?.closedUntilMs ?? Number.NEGATIVE_INFINITY,
          });
          const answer = answers(attempt, index);
          await clock.sleep(answer.afterMs ?? 0);
          return exchangeOf(answer, clock);
        },
      },
      merged,
    );
  };
  return { clock, call, sent, options };
}

const gaps = (sent: readonly { atMs: number }[]) =>
  sent.slice(1).map(({ atMs }, index) => atMs - (sent[index]?.atMs ?? 0));
const retryAfter = (value: string): Answer => ({ status: 429, fields: [['Retry-After', value]] });

describe('what is repeated', () => {
  it.each([429, 503, 502, 504])('a safe request after %i', async (status) => {
    const { clock, call, sent } = client((attempt) => ({ status: attempt === 1 ? status : 200 }));
    const retried = await clock.drive(call());
    expect(retried).toMatchObject({ attempts: 2, gaveUp: null, exchange: { response: { status: 200 } } });
    expect(sent).toHaveLength(2);
  });

  it.each<ExchangeFailureKind>(['refused', 'reset', 'closed', 'connect-timeout', 'response-timeout'])(
    'a safe request after %s',
    async (failure) => {
      const { clock, call } = client((attempt) => (attempt === 1 ? { failure } : { status: 200 }));
      expect(await clock.drive(call())).toMatchObject({ attempts: 2, gaveUp: null });
    },
  );

  it.each([200, 301, 400, 401, 403, 404, 409, 500, 501])(
    'never a request answered with %i',
    async (status) => {
      const { clock, call } = client(() => ({ ...retryAfter('1'), status }));
      expect(await clock.drive(call())).toMatchObject({ attempts: 1, gaveUp: null });
    },
  );

  it.each<ExchangeFailureKind>(['tls', 'unresolved', 'malformed', 'not-sent', 'body-too-large'])(
    'never a request that ended as %s',
    async (failure) => {
      const { clock, call } = client(() => ({ failure }));
      expect(await clock.drive(call())).toMatchObject({ attempts: 1, gaveUp: null });
    },
  );

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('never %s without an idempotency key', async (method) => {
    const { clock, call } = client(() => ({ status: 429 }));
    expect(await clock.drive(call({ method, fields: [] }))).toMatchObject({
      attempts: 1,
      gaveUp: `status 429: ${method} is not repeated`,
    });
  });

  it('an unsafe request with an idempotency key, but only when it was refused unprocessed', async () => {
    const keyed = { method: 'POST', fields: [['Idempotency-Key', 'k1'] as const] };
    const refused = client((attempt) => ({ status: attempt === 1 ? 429 : 201 }));
    expect(await refused.clock.drive(refused.call(keyed))).toMatchObject({ attempts: 2 });
    const lost = client(() => ({ failure: 'reset' }));
    expect(await lost.clock.drive(lost.call(keyed))).toMatchObject({ attempts: 1 });
  });
});

describe('how long it waits', () => {
  it('grows exponentially up to the cap, drawn from zero to there', async () => {
    const highest = client(() => ({ status: 503 }), {
      random: () => 0.999999,
      maxAttempts: 8,
      maxTotalMs: 1e9,
    });
    await highest.clock.drive(highest.call());
    expect(gaps(highest.sent).map((gap) => Math.round(gap / 1000))).toEqual([1, 2, 4, 8, 16, 20, 20]);
    const lowest = client(() => ({ status: 503 }), { random: () => 0 });
    await lowest.clock.drive(lowest.call());
    expect(gaps(lowest.sent)).toEqual([0, 0, 0, 0, 0]);
  });

  it('differs between clients', async () => {
    const waits = async (seed: number) => {
      const { clock, call, sent } = client(() => ({ status: 503 }), { random: seeded(seed) });
      await clock.drive(call());
      return gaps(sent);
    };
    expect(await waits(1)).not.toEqual(await waits(2));
    expect(await waits(1)).toEqual(await waits(1));
  });

  it.each([
    ['seconds', '30'],
    ['an IMF-fixdate', 'Thu, 01 Jan 2026 00:00:30 GMT'],
    ['an RFC 850 date', 'Thursday, 01-Jan-26 00:00:30 GMT'],
    ['an asctime date', 'Thu Jan  1 00:00:30 2026'],
  ])('is at least what Retry-After says, in %s, and little more', async (_form, value) => {
    const { clock, call, sent } = client((attempt) => (attempt === 1 ? retryAfter(value) : { status: 200 }));
    await clock.drive(call());
    const [gap = 0] = gaps(sent);
    expect(gap).toBeGreaterThanOrEqual(30_000);
    expect(gap).toBeLessThanOrEqual(31_000);
  });

  it('takes a date by the clock that made it', async () => {
    const skewed: Answer = {
      status: 429,
      fields: [
        ['Date', 'Wed, 01 Jan 2031 00:00:00 GMT'],
        ['Retry-After', 'Wed, 01 Jan 2031 00:00:05 GMT'],
      ],
    };
    const { clock, call, sent } = client((attempt) => (attempt === 1 ? skewed : { status: 200 }));
    await clock.drive(call());
    expect(gaps(sent)[0]).toBeGreaterThanOrEqual(5000);
    expect(gaps(sent)[0]).toBeLessThanOrEqual(6000);
  });

  it.each(['0', '-1', 'Wed, 31 Dec 2025 23:00:00 GMT', 'soon', '', '2.5', 'NaN'])(
    'is its own when Retry-After is %j',
    async (value) => {
      const { clock, call, sent } = client(() => retryAfter(value), { random: () => 0.5 });
      await clock.drive(call());
      expect(gaps(sent)).toEqual([500, 1000, 2000, 4000, 8000]);
    },
  );

  it.each(['1000000', '99999999999999999999', 'Fri, 01 Jan 2100 00:00:00 GMT'])(
    'is not waited for when Retry-After is absurd: %s',
    async (value) => {
      const { clock, call } = client(() => retryAfter(value));
      const retried = await clock.drive(call());
      expect(retried).toMatchObject({ attempts: 1, exchange: { response: { status: 429 } } });
      expect(retried.gaveUp).toMatch(/^status 429: a wait of \d+ s is longer than there is time for$/);
      expect(clock.now()).toBe(0);
    },
  );

  it('is announced with its reason and end', async () => {
    const waits: unknown[] = [];
    const { clock, call } = client((attempt) => (attempt === 1 ? retryAfter('2') : { status: 200 }), {
      random: () => 0,
      waiting: (wait) => waits.push(wait),
    });
    await clock.drive(call());
    expect(waits).toEqual([
      { reason: 'status 429, attempt 1 of 6', untilMs: 2000, until: new Date(START.getTime() + 2000) },
    ]);
  });

  it('ends when the run is aborted', async () => {
    const abort = new AbortController();
    const { clock, call } = client(() => retryAfter('60'), { signal: abort.signal });
    const retried = call();
    await clock.advance(100);
    abort.abort(new Error('run aborted'));
    await expect(retried).rejects.toThrow('run aborted');
  });
});

describe('calls with one key', () => {
  it('pause together when one of them is refused, and grow the wait once', async () => {
    const clock = virtualClock({ wall: START });
    const gate = new RetryGate(clock);
    const { call, sent } = client(
      (attempt) => (attempt === 1 ? { status: 429, afterMs: 10 } : { status: 200 }),
      {
        clock,
        gate,
        random: () => 0.5,
      },
    );
    await clock.drive(Promise.all([call(), call(), call()]));
    const later = sent.filter(({ atMs }) => atMs > 0);
    expect(later).toHaveLength(3);
    for (const { atMs } of later) {
      expect(atMs).toBeGreaterThanOrEqual(510);
      expect(atMs).toBeLessThanOrEqual(1100);
    }
  });

  it('that are new wait for the pause as well', async () => {
    const clock = virtualClock({ wall: START });
    const gate = new RetryGate(clock);
    const { call, sent } = client(
      (attempt, index) => (index === 0 && attempt === 1 ? retryAfter('10') : { status: 200 }),
      {
        clock,
        gate,
      },
    );
    const first = call();
    await clock.advance(1);
    await clock.drive(Promise.all([first, call()]));
    expect(sent.slice(1).every(({ atMs }) => atMs >= 10_000)).toBe(true);
  });

  it('begin with small waits again once one is served', async () => {
    const clock = virtualClock({ wall: START });
    const gate = new RetryGate(clock);
    const { call, sent } = client((attempt) => ({ status: attempt === 4 ? 200 : 503 }), {
      clock,
      gate,
      random: () => 0.5,
    });
    await clock.drive(call());
    const before = sent.length;
    await clock.drive(call());
    expect(gaps(sent.slice(0, before))).toEqual([500, 1000, 2000]);
    expect(gaps(sent.slice(before))).toEqual([500, 1000, 2000]);
  });

  it('give up where the pause is longer than they may take', async () => {
    const clock = virtualClock({ wall: START });
    const gate = new RetryGate(clock);
    gate.closeFor(1e6);
    const { call } = client(() => ({ status: 200 }), { clock, gate });
    expect(await clock.drive(call())).toEqual({
      exchange: null,
      attempts: 0,
      gaveUp: 'the key is paused for too long',
    });
  });
});

describe('generated schedules', () => {
  const answer: fc.Arbitrary<Answer> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ status: fc.constantFrom(429, 503, 502, 504), afterMs: fc.nat(300) }),
    },
    {
      weight: 4,
      arbitrary: fc
        .record({
          status: fc.constantFrom(429, 503),
          value: fc.oneof(
            fc.nat(40).map(String),
            fc.constantFrom(
              '0',
              '-3',
              'x',
              '1e3',
              '1000000',
              '2.98',
              'Thu, 01 Jan 2026 00:00:20 GMT',
              'Thu, 01 Jan 1970 00:00:00 GMT',
            ),
          ),
        })
        .map(({ status, value }): Answer => ({ status, fields: [['Retry-After', value]] })),
    },
    {
      weight: 2,
      arbitrary: fc.record({ failure: fc.constantFrom<ExchangeFailureKind>('reset', 'closed', 'refused') }),
    },
    { weight: 1, arbitrary: fc.record({ status: fc.constantFrom(200, 400, 401, 404) }) },
  );
  const schedule = fc.record({
    answers: fc.array(fc.array(answer, { minLength: 1, maxLength: 10 }), { minLength: 1, maxLength: 5 }),
    seed: fc.nat(),
    baseMs: fc.integer({ min: 1, max: 2000 }),
    capMs: fc.integer({ min: 2000, max: 30_000 }),
    maxAttempts: fc.integer({ min: 1, max: 8 }),
    maxTotalMs: fc.integer({ min: 1, max: 90_000 }),
  });

  it('keep every bound', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async ({ answers, seed, ...bounds }) => {
        const clock = virtualClock({ wall: START });
        const gate = new RetryGate(clock);
        const given = (attempt: number, call: number): Answer =>
          answers[call]?.[attempt - 1] ?? { status: 200 };
        const { call, sent } = client(given, { clock, gate, random: seeded(seed), ...bounds });
        const retried = await clock.drive(Promise.all(answers.map(() => call())));

        for (const { atMs, closedUntilMs } of sent) expect(atMs).toBeGreaterThanOrEqual(closedUntilMs);
        retried.forEach(({ attempts, gaveUp, exchange }, index) => {
          const mine = sent.filter((each) => each.call === index);
          expect(mine).toHaveLength(attempts);
          expect(attempts).toBeLessThanOrEqual(bounds.maxAttempts);
          for (const { atMs } of mine) expect(atMs).toBeLessThanOrEqual(bounds.maxTotalMs);
          mine.forEach(({ atMs }, before) => {
            const next = mine[before + 1];
            const seconds = /^\d+$/.exec(given(before + 1, index).fields?.[0]?.[1] ?? '')?.[0];
            if (next && seconds) expect(next.atMs - atMs).toBeGreaterThanOrEqual(Number(seconds) * 1000);
          });
          const status = exchange?.response?.status;
          const last = given(attempts, index);
          if (exchange) expect(status ?? exchange.failure?.kind).toBe(last.status ?? last.failure);
          // Nothing that a further attempt could have helped is passed off as final, and the other way round.
          const repeatable =
            exchange !== null && (exchange.failure !== null || [429, 502, 503, 504].includes(status ?? 0));
          expect(gaveUp !== null).toBe(exchange === null || repeatable);
        });
      }),
      { numRuns: 400 },
    );
  });

  it('of a lone client keep its own waits between zero and the capped exponential', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async ({ seed, baseMs, capMs }) => {
        const { clock, call, sent } = client(() => ({ status: 503 }), {
          random: seeded(seed),
          baseMs,
          capMs,
          maxAttempts: 7,
          maxTotalMs: 1e9,
        });
        await clock.drive(call());
        gaps(sent).forEach((gap, index) => {
          expect(gap).toBeGreaterThanOrEqual(0);
          expect(gap).toBeLessThanOrEqual(Math.min(capMs, baseMs * 2 ** index) + 1e-6);
        });
      }),
      { numRuns: 200 },
    );
  });
});
