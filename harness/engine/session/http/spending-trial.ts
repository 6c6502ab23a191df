import { documentedSample } from '../../../base/clause.ts';
import { unlessBlocked } from '../../../base/verdict.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import {
  openRequests,
  type Spendings,
  spendingsOf,
  toldRemaining,
} from '../../../wire/limit/observed/spending.ts';
import type { SessionContext } from '../turn/session-context.ts';

type SpendingContext = Pick<SessionContext, 'config' | 'budget' | 'limiter' | 'log' | 'outage'>;

/** One request more is not worth it to find out about fewer than that. */
const WORTH_ASKING = 2;

/**
 * Finds out which kinds of requests spend the quota, before anybody waits for what they may have spent. Where
 * the answer to the documented request tells what remains, one more of it shows what came between.
 */
export class SpendingTrial {
  readonly #context: SpendingContext;
  readonly #ask: (purpose: string, signal: AbortSignal) => Promise<Exchange>;
  /** It was asked and did not tell. */
  #isMute = false;

  constructor(context: SpendingContext, ask: (purpose: string, signal: AbortSignal) => Promise<Exchange>) {
    this.#context = context;
    this.#ask = ask;
  }

  /** `forMs`: how long would be waited for what may have been spent, in ms. */
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
    const isWorthIt = () => budget.isToldLongAgo || openRequests(log.all(), reading, before) >= WORTH_ASKING;
    if (!isLong || !mayAsk || !isWorthIt()) return before;
    const asked = this.#ask('as documented, to see what of the quota remains', signal);
    const told = await asked.catch(unlessBlocked);
    if (told !== null) log.keep(told, 1);
    this.#isMute = told === null || toldRemaining(told, reading) === null;
    return known();
  }
}
