import type { Reply } from '../../../wire/exchange/reply.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { spentBefore } from '../../../wire/limit/fault/told-of-limit.ts';
import { observationsOf } from '../../../wire/limit/observed/observing.ts';
import { untilAdmitted } from '../../../wire/pace/backoff.ts';
import type { Budget } from '../../../wire/pace/budget.ts';
import type { Clock } from '../../../wire/pace/clock.ts';
import { wallOffsetMs } from '../../../wire/pace/clock.ts';
import type { SessionContext } from '../turn/session-context.ts';
import { isDoubtful } from './sample-trial.ts';

const MOST_ATTEMPTS = 6;
/** Of all requests together, in windows: whoever has to wait longer than that has no quota to himself. */
const MOST_WINDOWS = 4;

type OpeningContext = Pick<
  SessionContext,
  'budget' | 'transport' | 'pauses' | 'random' | 'remark' | 'limiter'
>;

/**
 * A request that is refused for its rate is no evidence of anything: an earlier run, or a colleague, has spent the
 * quota, and the client comes back as any good client does. The first request of a session with the service's own
 * credential meets the quota as it was left; the others wait until it is known how that is.
 */
export class QuotaOpening {
  readonly #context: OpeningContext;
  #opening: Promise<unknown> | null = null;
  #waitedMs = 0;

  constructor(context: OpeningContext) {
    this.#context = context;
  }

  /** `send` sends the request and keeps what comes as evidence. */
  async reply(send: () => Promise<Reply>, signal: AbortSignal): Promise<Reply> {
    if (this.#opening !== null) {
      await this.#opening;
      return this.#admitted(send, signal, 'the quota is spent');
    }
    const first = this.#first(send, signal);
    this.#opening = first.catch(() => undefined);
    return first;
  }

  /** A limiter may refuse with any status: what is still so after a window without a request is none of its refusals. */
  async #first(send: () => Promise<Reply>, signal: AbortSignal): Promise<Reply> {
    const { budget, transport, pauses, limiter } = this.#context;
    const reply = await this.#admitted(send, signal, 'the quota was spent before this run');
    const { response } = reply.exchange;
    if (budget.plan === null || response === null || !isDoubtful(reply.exchange)) return reply;
    const reason = `answered ${response.status} at once: a window without a request shows whether for the rate`;
    await pauses.portFor(signal).until(transport.clock.now() + budget.rate.windowMs, reason);
    const again = await send();
    if (again.served) limiter.met(reply.exchange);
    return again;
  }

  async #admitted(send: () => Promise<Reply>, signal: AbortSignal, why: string): Promise<Reply> {
    const { budget, transport, pauses, random, remark, limiter } = this.#context;
    const { windowMs } = budget.rate;
    const unasked: number[] = [];
    const leftMs = MOST_WINDOWS * windowMs - this.#waitedMs;
    const reply = await untilAdmitted(send, {
      clock: transport.clock,
      random,
      baseMs: windowMs / 8,
      capMs: windowMs,
      maxAttempts: MOST_ATTEMPTS,
      // Rounded up to a whole second, it may ask for a little more than a window.
      maxTotalMs: Math.min(leftMs, 1.5 * windowMs + 2_000),
      signal,
      isRefused: (exchange) => limiter.isIn(exchange),
      waiting: ({ isAsked, ...wait }) => {
        const forMs = wait.untilMs - transport.clock.now();
        this.#waitedMs += forMs;
        if (!isAsked) unasked.push(forMs);
        pauses.announce({ ...wait, reason: `${why}: ${wait.reason}` });
      },
    });
    if (unasked.length > 0) {
      const seconds = Math.round(unasked.reduce((sum, ms) => sum + ms, 0) / 1000);
      const times = `${unasked.length} ${unasked.length === 1 ? 'answer' : 'answers'}`;
      remark(`${times} 429 without Retry-After: the run waited ${seconds} s of its own accord and came back`);
    }
    return reply;
  }
}

/** Answers after which the fall of the remaining quota is known: one request, one less. */
const ENOUGH = 3;

/** Watches the first answers for what others have spent of the window; the budget keeps clear of that. */
export class QuotaAsFound {
  readonly #clock: Clock;
  readonly #budget: Budget;
  #seen: Exchange[] = [];
  #known: boolean;

  constructor(clock: Clock, budget: Budget) {
    this.#clock = clock;
    this.#budget = budget;
    this.#known = budget.plan === null;
  }

  saw(exchange: Exchange): void {
    const { plan } = this.#budget;
    if (this.#known || plan === null) return;
    this.#seen.push(exchange);
    const ownOffsetMs = wallOffsetMs(this.#clock);
    const reading = { ...plan, ownOffsetMs, refusal: null };
    const seen = observationsOf(this.#seen, reading);
    if (seen.filter(({ fate }) => fate === 'admitted').length < ENOUGH) return;
    const resetSeconds = seen.at(-1)?.quota?.resetSeconds ?? null;
    const forMs = resetSeconds === null ? plan.windowMs : Math.min(plan.windowMs, resetSeconds * 1000);
    this.#budget.setAside(spentBefore(seen, plan), forMs);
    this.#known = true;
    this.#seen = [];
  }
}
