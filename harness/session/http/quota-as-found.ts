import type { Reply } from '../../evidence/exchange/reply.ts';
import type { Exchange } from '../../evidence/exchange.ts';
import { observationsOf } from '../../evidence/limit/observing.ts';
import { spentBefore } from '../../evidence/limit/others.ts';
import { untilAdmitted } from '../../transport/pace/backoff.ts';
import type { Budget } from '../../transport/pace/budget.ts';
import type { Clock } from '../../transport/pace/clock.ts';
import type { SessionMeans } from '../turn/means.ts';

const TOO_MANY = 429;
const MOST_ATTEMPTS = 6;

type OpeningMeans = Pick<SessionMeans, 'budget' | 'transport' | 'pauses' | 'random' | 'remark'>;

/**
 * The first request of a session with the service's own credential meets the quota as it was left; the others wait
 * until it is known how that is. An earlier run, or a colleague, may have spent it: while the request is refused for
 * that it is no evidence of anything, and the client comes back as any good client does.
 */
export class QuotaOpening {
  readonly #means: OpeningMeans;
  #opening: Promise<unknown> | null = null;

  constructor(means: OpeningMeans) {
    this.#means = means;
  }

  /** `send` sends the request and keeps what comes as evidence. */
  async reply(send: () => Promise<Reply>, signal: AbortSignal): Promise<Reply> {
    if (this.#opening !== null) {
      await this.#opening;
      return send();
    }
    const first = this.#first(send, signal);
    this.#opening = first.catch(() => undefined);
    return first;
  }

  async #first(send: () => Promise<Reply>, signal: AbortSignal): Promise<Reply> {
    const { budget, transport, pauses, random, remark } = this.#means;
    const { windowMs } = budget.rate;
    const unasked: number[] = [];
    const reply = await untilAdmitted(send, {
      clock: transport.clock,
      random,
      baseMs: windowMs / 8,
      capMs: windowMs,
      maxAttempts: MOST_ATTEMPTS,
      // Rounded up to a whole second, it may ask for a little more than a window.
      maxTotalMs: 1.5 * windowMs + 2_000,
      signal,
      waiting: ({ isAsked, ...wait }) => {
        if (!isAsked) unasked.push(wait.untilMs - transport.clock.now());
        pauses.announce({ ...wait, reason: `the quota was spent before this run: ${wait.reason}` });
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
    const ownOffsetMs = this.#clock.wallNow().getTime() - this.#clock.now();
    const reading = { windowMs: plan.windowMs, ownOffsetMs, refusedStatus: TOO_MANY };
    const seen = observationsOf(this.#seen, reading);
    if (seen.filter(({ fate }) => fate === 'admitted').length < ENOUGH) return;
    const resetSeconds = seen.at(-1)?.quota?.resetSeconds ?? null;
    const forMs = resetSeconds === null ? plan.windowMs : Math.min(plan.windowMs, resetSeconds * 1000);
    this.#budget.setAside(spentBefore(seen, plan), forMs);
    this.#known = true;
    this.#seen = [];
  }
}
