import type { Suite } from '../check/check.ts';
import { applicabilityOf } from '../check/judge.ts';
import { type Judged, JudgingOrder } from '../check/order.ts';
import type { ServiceConfig } from '../config/service.ts';
import type { Session } from '../session/session.ts';

interface Means {
  readonly open: () => Session;
  /** Pieces of evidence so far. */
  readonly asked: () => number;
  readonly signal: AbortSignal;
  readonly strict: boolean;
  /** Ids of the checks that are judged at all; all when left out. */
  readonly selected?: ReadonlySet<string>;
  /** Told of the suite of each check before anything is sent for it. */
  readonly entering?: (suite: Suite) => void;
}

/** A check that was judged, and the session that it was judged over. */
interface JudgedOver extends Judged {
  readonly session: Session;
}

/**
 * All checks of these suites, in that order and in this process, over one session; over one for each suite where each
 * is to meet a provider that nobody has asked anything yet. All sessions are closed in every ending.
 */
export async function* judgeInSessions(
  suites: readonly Suite[],
  config: ServiceConfig,
  { open, asked, entering, ...means }: Means,
): AsyncGenerator<JudgedOver> {
  const options = () => means;
  const together = startsFresh(config) ? [] : suites;
  let session = open();
  let order = new JudgingOrder(session, together);
  let isFresh = true;
  async function* rest(goesOn = false): AsyncGenerator<JudgedOver> {
    for await (const each of order.rest({ options, goesOn, ...(entering && { entering }) }))
      yield { ...each, session };
  }
  try {
    for (const suite of suites) {
      if (startsFresh(config) && !isFresh && asksAnything(suite, config)) {
        yield* rest();
        await session.close();
        session = open();
        order = new JudgingOrder(session, together);
      }
      if (suite.exhausts) yield* rest(true);
      entering?.(suite);
      const before = asked();
      for (const check of suite.checks) {
        const judgment = await order.judge(suite, check, options());
        if (judgment !== null) yield { suite, check, judgment, session };
      }
      isFresh &&= asked() === before;
    }
    yield* rest();
  } finally {
    await session.close();
  }
}

/** Whether each suite is to meet a provider that nobody has asked anything yet. */
export function startsFresh({ provider }: ServiceConfig): boolean {
  return 'freshForEachSuite' in provider && provider.freshForEachSuite;
}

/** Whether any check of a suite applies to the service. */
export function asksAnything({ checks }: Pick<Suite, 'checks'>, config: ServiceConfig): boolean {
  return checks.some((check) => applicabilityOf(check, config).reasonNot === null);
}
