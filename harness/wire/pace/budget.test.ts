import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { BudgetExhausted, type BudgetOptions, type BudgetWait, openBudget } from './budget.ts';
import type { Clock } from './clock.ts';
import { manualClock } from './fixtures/virtual-clock.ts';

function open(overrides: Partial<BudgetOptions> = {}) {
  const clock = manualClock();
  const waits: BudgetWait[] = [];
  const budget = openBudget({
    plan: { requests: 10, windowMs: 1000 },
    maxRequests: 1000,
    clock,
    concurrency: 4,
    waiting: (wait) => waits.push(wait),
    ...overrides,
  });
  /** So many, one after the other; when each was there. */
  const takes = async (count: number) => {
    const takenMs: number[] = [];
    for (let at = 0; at < count; at++) {
      await budget.take();
      takenMs.push(clock.now());
    }
    return takenMs;
  };
  /** The same, all asked for at once. */
  const takesTogether = (count: number) =>
    Promise.all(Array.from({ length: count }, () => takes(1))).then((each) => each.flat());
  return { clock, budget, waits, takes, takesTogether };
}

/** What is sent for 10 ms each, and how many were under way together at the most. */
function sending(clock: Clock) {
  let under = 0;
  let peak = 0;
  const send = async () => {
    peak = Math.max(peak, ++under);
    await clock.sleep(10);
    under -= 1;
  };
  return { send, peak: () => peak };
}

describe('pace', () => {
  it('keeps a reserve of the plan, then waits until the window has room, saying why and until when', async () => {
    const { clock, waits, takes } = open();
    const taken = await clock.drive(takes(10));
    expect(taken.slice(0, 9)).toEqual(Array(9).fill(0));
    expect(taken[9]).toBeGreaterThanOrEqual(1000);
    expect(waits).toEqual([
      {
        reason: 'the plan allows 10 requests in 1 s, of which 9 are used at most',
        untilMs: taken[9],
        until: new Date(Date.UTC(2026, 0, 1) + (taken[9] ?? 0)),
      },
    ]);
  });

  it('keeps to further limits as well, shorter or longer ones', async () => {
    const further = [
      { requests: 4, windowMs: 200 },
      { requests: 8, windowMs: 5_000 },
    ];
    const { clock, waits, takesTogether } = open({ further });
    const taken = await clock.drive(takesTogether(8));
    expect(taken.slice(0, 3)).toEqual([0, 0, 0]);
    expect(taken[3]).toBeGreaterThanOrEqual(200);
    expect(taken[6]).toBeLessThan(1_000);
    expect(taken[7]).toBeGreaterThanOrEqual(5_000);
    expect(new Set(waits.map(({ reason }) => reason))).toEqual(new Set(['a further limit leaves no room']));
  });

  it('is one request in a window at the smallest plan', async () => {
    const { clock, takesTogether } = open({ plan: { requests: 1, windowMs: 1000 } });
    await clock.drive(takesTogether(3));
    expect(clock.now()).toBeGreaterThanOrEqual(2000);
  });

  it('is courteous without a plan', async () => {
    const { clock, waits, takesTogether } = open({ plan: null });
    await clock.drive(takesTogether(301));
    expect(clock.now()).toBeGreaterThanOrEqual(60_000);
    expect(waits[0]?.reason).toBe('no plan is configured; at most 300 requests are sent in 60 s');
  });

  it('never lets a window hold more than the plan, whoever asks and whenever', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          requests: fc.integer({ min: 1, max: 30 }),
          windowMs: fc.integer({ min: 10, max: 5000 }),
        }),
        fc.array(fc.record({ pauseMs: fc.nat(600), count: fc.integer({ min: 1, max: 12 }) }), {
          maxLength: 12,
        }),
        async (plan, bursts) => {
          const { clock, takesTogether } = open({ plan });
          const all = bursts.map(async ({ pauseMs, count }) => {
            await clock.sleep(pauseMs);
            return takesTogether(count);
          });
          const taken = (await clock.drive(Promise.all(all))).flat();
          for (const start of taken) {
            const held = taken.filter((at) => at >= start && at <= start + plan.windowMs).length;
            expect(held).toBeLessThanOrEqual(Math.max(1, Math.floor(0.9 * plan.requests)));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('lets those who ask first go first', async () => {
    const { clock, budget } = open({ plan: { requests: 1, windowMs: 10 } });
    const order: number[] = [];
    await clock.drive(Promise.all([0, 1, 2, 3].map((turn) => budget.take().then(() => order.push(turn)))));
    expect(order).toEqual([0, 1, 2, 3]);
  });
});

describe('ceiling', () => {
  it('is told, never met in silence, and is not passed in a section that exceeds the rate either', async () => {
    const { clock, budget } = open({ maxRequests: 3 });
    await budget.take();
    await clock.drive(
      budget.exceed(async () => {
        await budget.take();
        await budget.take();
        await expect(budget.take()).rejects.toThrow('the budget of 3 requests is spent (safety.maxRequests)');
      }),
    );
    await expect(budget.take()).rejects.toThrow(BudgetExhausted);
    expect(budget.spent()).toBe(3);
  });

  it('counts what somebody else has sent earlier in the run', async () => {
    const { budget } = open({ maxRequests: 3, before: 2 });
    await budget.take();
    expect(budget.spent()).toBe(3);
    await expect(budget.take()).rejects.toThrow('the budget of 3 requests is spent (safety.maxRequests)');
  });
});

describe('room for what can come later', () => {
  const minute = { plan: { requests: 10, windowMs: 60_000 } };
  const { signal } = new AbortController();

  async function spent(overrides: Partial<BudgetOptions>) {
    const opened = open(overrides);
    await opened.takes(9);
    return opened;
  }

  it('is none where the wait is long and nothing tells what requests cost, and then for nothing', async () => {
    const { budget } = await spent(minute);
    expect(await budget.hasRoomFor(0, signal)).toBe(true);
    expect(await budget.hasRoomFor(1, signal)).toBe(false);
    expect(budget.isAwaited).toBe(true);
    budget.reportRemaining(5, 1);
    expect(await budget.hasRoomFor(1, signal)).toBe(true);
    expect(budget.isAwaited).toBe(false);
  });

  it('is there as long as all of it fits into the window', async () => {
    const { budget, takes } = open(minute);
    await takes(5);
    expect([await budget.hasRoomFor(4, signal), await budget.hasRoomFor(5, signal)]).toEqual([true, false]);
  });

  it('is there where the wait is short', async () => {
    const { budget } = await spent({});
    expect(await budget.hasRoomFor(1, signal)).toBe(true);
  });

  it('is there where the service tells what remains', async () => {
    const { clock, budget } = await spent(minute);
    budget.reportRemaining(0, clock.now());
    expect(await budget.hasRoomFor(1, signal)).toBe(true);
  });

  it('is there where what was sent has turned out to cost nothing', async () => {
    const { budget } = open(minute);
    budget.findCostsBy(async () => new Map([['free', 'free']]));
    for (let count = 0; count < 9; count++) {
      await budget.run(async (each) => {
        each.kind = 'free';
      });
    }
    expect(await budget.hasRoomFor(3, signal)).toBe(true);
  });
});

describe('a service whose windows forget', () => {
  it('is not spared what only a counter that weighs the window before would need', async () => {
    const { clock, budget, takes, takesTogether } = open({ plan: { requests: 10, windowMs: 60_000 } });
    await budget.exceed(() => takes(14));
    budget.forgets();
    await clock.drive(takesTogether(9));
    expect(clock.now()).toBeLessThan(60_200);
  });
});

describe('abort', () => {
  it('ends a wait at once, spends nothing, and lets the next in', async () => {
    const { clock, budget } = open({ plan: { requests: 1, windowMs: 1000 } });
    await budget.take();
    const abort = new AbortController();
    const waiting = budget.take(abort.signal);
    const queued = budget.take(abort.signal);
    const next = budget.take();
    await clock.advance(10);
    abort.abort(new Error('run aborted'));
    await expect(waiting).rejects.toThrow('run aborted');
    await expect(queued).rejects.toThrow('run aborted');
    expect(budget.spent()).toBe(1);
    await clock.drive(next);
    expect(budget.spent()).toBe(2);
  });
});

describe('exceed', () => {
  it('does not hold its own requests back, but counts them', async () => {
    const { clock, budget, takes } = open();
    await budget.exceed(() => takes(25));
    expect(clock.now()).toBe(0);
    expect(budget.spent()).toBe(25);
    await clock.drive(budget.take());
    expect(clock.now()).toBeGreaterThanOrEqual(1000);
  });

  it('keeps everybody else out meanwhile', async () => {
    const { clock, budget } = open();
    const order: string[] = [];
    const inside = Promise.withResolvers<void>();
    const section = budget.exceed(async () => {
      await budget.take();
      order.push('inside');
      await inside.promise;
      await budget.take();
      order.push('inside');
    });
    const other = budget.take().then(() => order.push('outside'));
    await clock.advance(0);
    inside.resolve();
    await clock.drive(Promise.all([section, other]));
    expect(order).toEqual(['inside', 'inside', 'outside']);
  });

  it('runs its requests one after the other, or as many together as it says', async () => {
    const { clock, budget } = open();
    const most = async (...concurrency: readonly [] | readonly [number]) => {
      const { send, peak } = sending(clock);
      const section = () => Promise.all(Array.from({ length: 8 }, () => budget.run(send)));
      await clock.drive(budget.exceed(section, ...concurrency));
      return peak();
    };
    expect(await most()).toBe(1);
    expect(await most(8)).toBe(8);
  });
});

describe('run', () => {
  it('has no more under way than allowed, and passes on what comes of it', async () => {
    const { clock, budget } = open({ concurrency: 2 });
    const { send, peak } = sending(clock);
    const all = Array.from({ length: 6 }, (_, index) => budget.run(() => send().then(() => index)));
    expect(await clock.drive(Promise.all(all))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(peak()).toBe(2);
    await expect(clock.drive(budget.run(() => Promise.reject(new Error('sending failed'))))).rejects.toThrow(
      'sending failed',
    );
  });
});

describe('setAside', () => {
  it('keeps clear of what others have spent, until their quota is renewed', async () => {
    const { clock, budget } = open();
    const { requests, windowMs } = budget.rate;
    budget.setAside(requests - 1, windowMs / 2);
    await budget.take();
    expect(clock.now()).toBe(0);
    await clock.drive(budget.take());
    expect(clock.now()).toBeGreaterThanOrEqual(windowMs / 2);
    expect(clock.now()).toBeLessThan(windowMs);
    expect(budget.spent()).toBe(2);
  });

  it('never waits for more than one window, whatever is told', async () => {
    const { clock, budget } = open();
    budget.setAside(1_000_000, budget.rate.windowMs);
    await clock.drive(budget.take());
    expect(clock.now()).toBeLessThan(2 * budget.rate.windowMs);
  });
});

describe('what requests of a kind cost', () => {
  it('is asked for before a wait, and those that are free are not waited for', async () => {
    const asked: number[] = [];
    const { clock, budget, waits } = open();
    budget.findCostsBy(async ({ forMs }) => {
      asked.push(forMs);
      return new Map([
        ['free', 'free'],
        ['counted', 'counted'],
      ]);
    });
    const send = (kind: string) =>
      budget.run(async (spent) => {
        spent.kind = kind;
      });
    for (let count = 0; count < 40; count++) await send('free');
    for (let count = 0; count < 9; count++) await send('counted');
    expect([clock.now(), waits, asked.length]).toEqual([0, [], 1]);
    await clock.drive(send('counted'));
    expect(clock.now()).toBeGreaterThanOrEqual(1000);
    expect(budget.spent()).toBe(50);
  });
});

describe('what the service tells', () => {
  it('is kept to but for one, where it admits more than the share of the plan that is used', async () => {
    const { clock, budget, takes } = open({ plan: { requests: 100, windowMs: 1000 } });
    await budget.take();
    await clock.advance(1);
    budget.reportRemaining(99, 0);
    await takes(98);
    expect(clock.now()).toBe(1);
    await clock.drive(budget.take());
    expect(clock.now()).toBeGreaterThanOrEqual(1000);
  });

  it('spares the wait for a counter that weighs the window before', async () => {
    const paced = async (tells: boolean) => {
      const { clock, budget, takes } = open();
      await clock.drive(takes(10));
      await clock.advance(1);
      if (tells) budget.reportRemaining(9, clock.now());
      await clock.drive(takes(8));
      return clock.now();
    };
    expect(await paced(true)).toBeLessThan(1200);
    expect(await paced(false)).toBeGreaterThan(1500);
  });

  it('makes no room beyond the plan, whatever it is', async () => {
    const { clock, budget, takes } = open();
    budget.reportRemaining(1_000_000, 0);
    await clock.drive(takes(30));
    expect(clock.now()).toBeGreaterThanOrEqual(3000);
  });
});
