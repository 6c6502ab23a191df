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
import { wallOffsetMs } from '../../../wire/pace/clock.ts';
import type { SessionContext } from '../turn/session-context.ts';

const MOST_ATTEMPTS = 6;
/** Windows to wait in total: a longer wait means that others spend the quota. */
const MOST_WINDOWS = 4;

type AskForSample = (purpose: string, signal: AbortSignal) => Promise<Exchange>;
type SendReply = () => Promise<Reply>;

/**
 * An earlier run or another client may have spent the quota, so a request that is refused for its rate is sent again.
 * The first request with the service's own credential finds the state of the quota; the others wait for it. `send`
 * sends the request and records its evidence.
 */
export function quotaOpening({ budget, transport, pauses, random, remark, limiter }: SessionContext) {
  const { clock } = transport;
  let opening: Promise<unknown> | null = null;
  let waitedMs = 0;

  /** A limiter may refuse with any status: a response that remains after a window without a request is no refusal. */
  async function first(send: SendReply, signal: AbortSignal): Promise<Reply> {
    const reply = await admitted(send, signal, 'the quota was spent before this run');
    const { response } = reply.exchange;
    if (budget.plan === null || response === null || !isDoubtful(reply.exchange)) return reply;
    const reason = `answered ${response.status} at once: a window without a request shows whether for the rate`;
    await pauses.portFor(signal).until(clock.now() + budget.rate.windowMs, reason);
    const again = await send();
    if (again.served) limiter.met(reply.exchange);
    return again;
  }

  async function admitted(send: SendReply, signal: AbortSignal, why: string): Promise<Reply> {
    const { windowMs } = budget.rate;
    const unasked: number[] = [];
    const reply = await untilAdmitted(send, {
      clock,
      random,
      baseMs: windowMs / 8,
      capMs: windowMs,
      maxAttempts: MOST_ATTEMPTS,
      // Rounded up to a whole second, Retry-After may exceed a window a little.
      maxTotalMs: Math.min(MOST_WINDOWS * windowMs - waitedMs, 1.5 * windowMs + 2_000),
      signal,
      isRefused: (exchange) => limiter.isIn(exchange),
      waiting: ({ isAsked, ...wait }) => {
        const forMs = wait.untilMs - clock.now();
        waitedMs += forMs;
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

  return async (send: SendReply, signal: AbortSignal): Promise<Reply> => {
    if (opening !== null) {
      await opening;
      return admitted(send, signal, 'the quota is spent');
    }
    const reply = first(send, signal);
    opening = reply.catch(() => undefined);
    return reply;
  };
}

/** Number of responses that show how the remaining quota falls. */
const ENOUGH = 3;

/** Finds in the first responses how much of the window others have spent, which the budget sets aside. */
export function quotaAsFound({ budget, transport }: SessionContext): (exchange: Exchange) => void {
  const { plan } = budget;
  let seen: Exchange[] | null = [];
  return (exchange) => {
    if (seen === null || plan === null) return;
    seen.push(exchange);
    const ownOffsetMs = wallOffsetMs(transport.clock);
    const observations = observationsOf(seen, { ...plan, ownOffsetMs, refusal: null });
    if (observations.filter(({ fate }) => fate === 'admitted').length < ENOUGH) return;
    const resetSeconds = observations.at(-1)?.quota?.resetSeconds ?? null;
    const forMs = resetSeconds === null ? plan.windowMs : Math.min(plan.windowMs, resetSeconds * 1000);
    budget.setAside(spentBefore(observations, plan), forMs);
    seen = null;
  };
}

/** Number of equal responses in a row, from the request and the sample, that are not about the request. */
const IN_A_ROW = 4;

/** Limiters without 429 refuse with these or by an end of the connection; services fail with them too. */
const DOUBTFUL: ReadonlySet<number> = new Set([403, 500, 502, 503, 504]);

/** Whether a response may be about the request, the rate, or an outage. */
function isDoubtful(answer: Exchange): boolean {
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

/** `not the rate`: the response is the same after a window, as for a blocked client. */
type Reason = 'the request' | 'the rate' | 'not the rate' | 'the service' | 'unknown';

/**
 * Finds the reason of a doubtful response by sending the sample, which was served before. If the sample is served, the
 * response was about the request. If it is served only after a window, the limiter refused both. If it is never served,
 * the service broke down after the request. Takes each recorded response.
 */
export function sampleTrial(context: SessionContext, ask: AskForSample) {
  const { budget, limiter, log, outage, documented, pauses, transport } = context;
  /** Forms that are not the limiter's: each costs a window once. */
  const settled = new Set<string>();
  let wasServed = false;

  function isAtSample({ request }: Exchange): boolean {
    const [plain = ''] = documented.path.split('?', 1);
    return request.method === documented.method && new URL(request.url).pathname.endsWith(plain);
  }

  async function reasonOf(answer: Exchange, signal: AbortSignal): Promise<Reason> {
    const isAlike = (sign: Exchange) =>
      answer.response === null ? sign.response === null : isLimitersRefusal(sign, faceOf(answer));
    for (let asked = 1; asked < IN_A_ROW && outage.reason === null; asked += 1) {
      const isLast = asked === IN_A_ROW - 1;
      if (isLast && budget.plan !== null && !isLate(answer)) {
        const why =
          'the documented request is refused like another: a window without a request shows whether for its rate';
        await pauses.portFor(signal).until(transport.clock.now() + budget.rate.windowMs, why);
      }
      const sign = log.keep(await ask('as documented, to see whether it is served', signal), 1);
      if (isServed(sign)) return isLast ? 'the rate' : 'the request';
      if (limiter.isIn(sign) || !isAlike(sign)) return 'unknown';
    }
    // With 403 the client may be blocked.
    return answer.response !== null && answer.response.status >= 500 ? 'the service' : 'not the rate';
  }

  return async (answer: Exchange, signal: AbortSignal): Promise<void> => {
    wasServed ||= isServed(answer) && isAtSample(answer);
    if (!wasServed || limiter.isIn(answer) || !isDoubtful(answer)) return;
    const face = JSON.stringify(faceOf(answer));
    // Without a documented limit, or with a known refusal, a status is about the request.
    const isSettled = budget.plan === null || limiter.face !== null || settled.has(face);
    if (answer.response !== null && isSettled) return;
    const reason = await reasonOf(answer, signal);
    if (reason === 'the request' || reason === 'not the rate') settled.add(face);
    if (reason === 'the rate') limiter.met(answer);
    if (reason === 'the service') outage.broke(answer);
  };
}

/** Fewer open requests are not worth another request. */
const WORTH_ASKING = 2;

/**
 * Finds the kinds of requests that spend the quota before a wait of `forMs` for it. If responses to the documented
 * request state the remaining quota, another one shows the cost of the requests before it.
 */
export function spendingTrial(context: SessionContext, ask: AskForSample) {
  const { config, budget, limiter, log, outage } = context;
  const { plan } = budget;
  let isStated = true;
  return async (forMs: number, signal: AbortSignal): Promise<Spendings> => {
    if (plan === null) return new Map();
    const reading = { ...plan, refusal: limiter.face };
    const known = () => spendingsOf(log.all(), reading);
    const before = known();
    const isLong = forMs > plan.windowMs / plan.requests;
    const hasSample = documentedSample(config.contract) !== null;
    const mayAsk = isStated && hasSample && outage.reason === null && budget.hasRoom();
    const isWorthIt = () => budget.isReportOld || openRequests(log.all(), reading, before) >= WORTH_ASKING;
    if (!isLong || !mayAsk || !isWorthIt()) return before;
    const asked = ask('as documented, to see what of the quota remains', signal);
    const answer = await asked.catch(unlessBlocked);
    if (answer !== null) log.keep(answer, 1);
    isStated = answer !== null && reportedRemaining(answer, reading) !== null;
    return known();
  };
}
