import { documentedSample } from '../../../base/clause.ts';
import { unlessBlocked } from '../../../base/verdict.ts';
import type { Reply } from '../../../wire/exchange/reply.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { spentBefore } from '../../../wire/limit/fault/remaining.ts';
import { faceOf, isDropped, isLimitersRefusal } from '../../../wire/limit/observed/observation.ts';
import { observationsOf } from '../../../wire/limit/observed/observing.ts';
import {
  openRequests,
  reportedRemaining,
  type Spendings,
  spendingsOf,
} from '../../../wire/limit/observed/spending.ts';
import { untilAdmitted } from '../../../wire/pace/backoff.ts';
import type { Budget } from '../../../wire/pace/budget.ts';
import { type Clock, wallOffsetMs } from '../../../wire/pace/clock.ts';
import type { SessionContext } from '../turn/session-context.ts';

const MOST_ATTEMPTS = 6;
/** Windows to wait in total: a longer wait means that others spend the quota. */
const MOST_WINDOWS = 4;

type OpeningContext = Pick<
  SessionContext,
  'budget' | 'transport' | 'pauses' | 'random' | 'remark' | 'limiter'
>;

/**
 * An earlier run or another client may have spent the quota, so a request that is refused for its rate is sent again.
 * The first request with the service's own credential finds the state of the quota; the others wait for it.
 */
export class QuotaOpening {
  readonly #context: OpeningContext;
  #opening: Promise<unknown> | null = null;
  #waitedMs = 0;

  constructor(context: OpeningContext) {
    this.#context = context;
  }

  /** `send` sends the request and records its evidence. */
  async reply(send: () => Promise<Reply>, signal: AbortSignal): Promise<Reply> {
    if (this.#opening !== null) {
      await this.#opening;
      return this.#admitted(send, signal, 'the quota is spent');
    }
    const first = this.#first(send, signal);
    this.#opening = first.catch(() => undefined);
    return first;
  }

  /** A limiter may refuse with any status: a response that remains after a window without a request is no refusal. */
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
      // Rounded up to a whole second, Retry-After may exceed a window a little.
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

/** Number of responses that show how the remaining quota falls. */
const ENOUGH = 3;

/** Finds in the first responses how much of the window others have spent, which the budget sets aside. */
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

/** Number of equal responses in a row, from the request and the sample, that are not about the request. */
const IN_A_ROW = 4;

/** Limiters without 429 refuse with these or by an end of the connection; services fail with them too. */
const DOUBTFUL: ReadonlySet<number> = new Set([403, 500, 502, 503, 504]);

/** Whether a response may be about the request, the rate, or an outage. */
export function isDoubtful(answer: Exchange): boolean {
  const { response, credential } = answer;
  if (response === null) return isDropped(answer) || isLate(answer);
  // Another key is lawfully forbidden.
  return DOUBTFUL.has(response.status) && (response.status !== 403 || credential === 'right');
}

function isLate({ failure }: Exchange): boolean {
  return failure?.kind === 'response-timeout';
}

function isServed({ response }: Exchange): boolean {
  return response !== null && response.status >= 200 && response.status < 300;
}

type TrialContext = Pick<
  SessionContext,
  'budget' | 'limiter' | 'log' | 'outage' | 'documented' | 'pauses' | 'transport'
>;

/** `not the rate`: the response is the same after a window, as for a blocked client. */
type About = 'what was asked' | 'the rate' | 'not the rate' | 'the service' | 'nobody knows';

/**
 * Finds the reason of a doubtful response by sending the sample, which was served before. If the sample is served,
 * the response was about the request. If it is served only after a window, the limiter refused both. If it is never
 * served, the service broke down after the request.
 */
export class SampleTrial {
  readonly #context: TrialContext;
  readonly #ask: (purpose: string, signal: AbortSignal) => Promise<Exchange>;
  /** Forms that are not the limiter's: each costs a window once. */
  readonly #settled = new Set<string>();
  #wasServed = false;

  constructor(context: TrialContext, ask: (purpose: string, signal: AbortSignal) => Promise<Exchange>) {
    this.#context = context;
    this.#ask = ask;
  }

  /** Takes each recorded response. */
  async heard(answer: Exchange, signal: AbortSignal): Promise<void> {
    const { limiter, outage, budget } = this.#context;
    this.#wasServed ||= isServed(answer) && this.#isAtSample(answer);
    if (!this.#wasServed || limiter.isIn(answer) || !isDoubtful(answer)) return;
    const face = JSON.stringify(faceOf(answer));
    // Without a documented limit, or with a known refusal, a status is about the request.
    const isSettled = budget.plan === null || limiter.face !== null || this.#settled.has(face);
    if (answer.response !== null && isSettled) return;
    switch (await this.#isAbout(answer, signal)) {
      case 'what was asked':
      case 'not the rate':
        this.#settled.add(face);
        break;
      case 'the rate':
        limiter.met(answer);
        break;
      case 'the service':
        outage.broke(answer);
        break;
      case 'nobody knows':
    }
  }

  #isAtSample({ request }: Exchange): boolean {
    const { method, path } = this.#context.documented;
    const [plain = ''] = path.split('?', 1);
    return request.method === method && new URL(request.url).pathname.endsWith(plain);
  }

  async #isAbout(answer: Exchange, signal: AbortSignal): Promise<About> {
    const { log, outage, budget, limiter } = this.#context;
    const isAlike = (sign: Exchange) =>
      answer.response === null ? sign.response === null : isLimitersRefusal(sign, faceOf(answer));
    for (let asked = 1; asked < IN_A_ROW && outage.reason === null; asked += 1) {
      const isLast = asked === IN_A_ROW - 1;
      if (isLast && budget.plan !== null && !isLate(answer)) await this.#waitWindow(signal);
      const sign = log.keep(await this.#ask('as documented, to see whether it is served', signal), 1);
      if (isServed(sign)) return isLast ? 'the rate' : 'what was asked';
      if (limiter.isIn(sign) || !isAlike(sign)) return 'nobody knows';
    }
    // With 403 the client may be blocked.
    const isBroken = answer.response !== null && answer.response.status >= 500;
    return isBroken ? 'the service' : 'not the rate';
  }

  async #waitWindow(signal: AbortSignal): Promise<void> {
    const { pauses, budget, transport } = this.#context;
    const reason =
      'the documented request is refused like another: a window without a request shows whether for its rate';
    await pauses.portFor(signal).until(transport.clock.now() + budget.rate.windowMs, reason);
  }
}

type SpendingContext = Pick<SessionContext, 'config' | 'budget' | 'limiter' | 'log' | 'outage'>;

/** Fewer open requests are not worth another request. */
const WORTH_ASKING = 2;

/**
 * Finds the kinds of requests that spend the quota before a wait for it. If responses to the documented request state
 * the remaining quota, another one shows the cost of the requests before it.
 */
export class SpendingTrial {
  readonly #context: SpendingContext;
  readonly #ask: (purpose: string, signal: AbortSignal) => Promise<Exchange>;
  /** The response did not state it. */
  #isMute = false;

  constructor(context: SpendingContext, ask: (purpose: string, signal: AbortSignal) => Promise<Exchange>) {
    this.#context = context;
    this.#ask = ask;
  }

  /** `forMs`: milliseconds of the wait for quota. */
  async costs(forMs: number, signal: AbortSignal): Promise<Spendings> {
    const { config, budget, limiter, log, outage } = this.#context;
    const { plan } = budget;
    if (plan === null) return new Map();
    const reading = { ...plan, refusal: limiter.face };
    const known = () => spendingsOf(log.all(), reading);
    const before = known();
    const isLong = forMs > plan.windowMs / plan.requests;
    const mayAsk =
      !this.#isMute &&
      documentedSample(config.contract) !== null &&
      outage.reason === null &&
      budget.hasRoom();
    const isWorthIt = () => budget.isReportOld || openRequests(log.all(), reading, before) >= WORTH_ASKING;
    if (!isLong || !mayAsk || !isWorthIt()) return before;
    const asked = this.#ask('as documented, to see what of the quota remains', signal);
    const told = await asked.catch(unlessBlocked);
    if (told !== null) log.keep(told, 1);
    this.#isMute = told === null || reportedRemaining(told, reading) === null;
    return known();
  }
}
