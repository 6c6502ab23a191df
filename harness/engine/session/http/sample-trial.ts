import type { Exchange } from '../../../wire/exchange.ts';
import { faceOf, isDropped, isLimitersRefusal } from '../../../wire/limit/observed/observation.ts';
import type { SessionContext } from '../turn/session-context.ts';

/** Answers of one kind in a row after which it is not for what was asked: the request itself, and the sample. */
const IN_A_ROW = 4;

/** With these, or by an end of the connection, limiters refuse that do not say 429; services fail with them, too. */
const DOUBTFUL: ReadonlySet<number> = new Set([403, 500, 502, 503, 504]);

/** Whether an answer leaves open what it is about: what was asked, the rate, or a service that is not there any more. */
export function isDoubtful(answer: Exchange): boolean {
  const { response, credential } = answer;
  if (response === null) return isDropped(answer) || isLate(answer);
  // Whoever shows another key than his own is forbidden for that.
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

/** `not the rate`: it is answered likewise after a window as well, as to a client that is locked out. */
type About = 'what was asked' | 'the rate' | 'not the rate' | 'the service' | 'nobody knows';

/**
 * What a doubtful answer is about shows when the sample is asked behind it, which was served before. Where the sample is
 * served, the answer is about what was asked. Where it is answered likewise, and served after a window without a request,
 * the limiter has refused both. Where it is answered likewise for good, the service broke down over what was asked.
 */
export class SampleTrial {
  readonly #context: TrialContext;
  readonly #ask: (purpose: string, signal: AbortSignal) => Promise<Exchange>;
  /** Faces that are known not to be the limiter's: a window is waited for once for each. */
  readonly #settled = new Set<string>();
  #wasServed = false;

  constructor(context: TrialContext, ask: (purpose: string, signal: AbortSignal) => Promise<Exchange>) {
    this.#context = context;
    this.#ask = ask;
  }

  /** Told of each answer, which is kept as evidence already. */
  async heard(answer: Exchange, signal: AbortSignal): Promise<void> {
    const { limiter, outage, budget } = this.#context;
    this.#wasServed ||= isServed(answer) && this.#isAtSample(answer);
    if (!this.#wasServed || limiter.isIn(answer) || !isDoubtful(answer)) return;
    const face = JSON.stringify(faceOf(answer));
    // Where no limit is documented, or its refusal is known, a status is about what was asked.
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
    // Who forbids may have shut the client out.
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
