import { PutOff } from '../session/probe.ts';
import type { Session } from '../session/session.ts';
import type { CheckDefinition, Suite } from './check.ts';
import { applicabilityOf, type JudgeOptions, type Judgment, judge } from './judge.ts';

/** A check of a suite, and what became of it. */
export interface Judged {
  readonly suite: Suite;
  readonly check: CheckDefinition;
  readonly judgment: Judgment;
}

type Options = Omit<JudgeOptions, 'careful'>;

interface Means {
  /** Of the next check. */
  readonly options: () => Options;
  /** Told of the suite of each check before anything is sent for it. */
  readonly entering?: (suite: Suite) => void;
}

/**
 * The order in which the checks of one session are judged: as they come, but for those whose verdict hangs on something
 * risky. These are put off, and nothing risky is sent before they are asked for: at the end, or before a suite that uses
 * up the quota.
 */
export class JudgingOrder {
  readonly #session: Session;
  #putOff: Omit<Judged, 'judgment'>[] = [];

  constructor(session: Session) {
    this.#session = session;
  }

  /** null where it is put off. */
  async judge(suite: Suite, check: CheckDefinition, options: Options): Promise<Judgment | null> {
    const left = suite.checks.slice(suite.checks.indexOf(check));
    await this.#askTogether(left, options.signal, true);
    try {
      return await judge(check, this.#session, { ...options, careful: true });
    } catch (thrown) {
      if (!(thrown instanceof PutOff)) throw thrown;
      this.#putOff.push({ suite, check });
      return null;
    }
  }

  /** Those that were put off. */
  async *rest({ options, entering }: Means): AsyncGenerator<Judged> {
    const rest = this.#putOff;
    this.#putOff = [];
    for (const [index, { suite, check }] of rest.entries()) {
      entering?.(suite);
      const left = rest.slice(index).map((each) => each.check);
      await this.#askTogether(left, options().signal);
      yield { suite, check, judgment: await judge(check, this.#session, options()) };
    }
  }

  /** What the first of these checks waits for, and the others with it, where that was waited for in vain before. */
  async #askTogether(
    checks: readonly CheckDefinition[],
    signal: AbortSignal,
    careful = false,
  ): Promise<void> {
    const { config, waitsInVain } = this.#session;
    if (!waitsInVain || checks[0]?.waits.length === 0) return;
    const waiting = checks.filter((check) => {
      const { reasonNot, missing } = applicabilityOf(check, config);
      return reasonNot === null && missing === null;
    });
    const probes = new Set(waiting.flatMap(({ waits }) => waits));
    await Promise.all([...probes].map((probe) => this.#session.ask(probe, signal, careful)));
  }
}

/** All checks of these suites, in that order. */
export async function* judgeInOrder(
  suites: readonly Suite[],
  session: Session,
  means: Means,
): AsyncGenerator<Judged> {
  const order = new JudgingOrder(session);
  for (const suite of suites) {
    if (suite.exhausts) yield* order.rest(means);
    means.entering?.(suite);
    for (const check of suite.checks) {
      const judgment = await order.judge(suite, check, means.options());
      if (judgment !== null) yield { suite, check, judgment };
    }
  }
  yield* order.rest(means);
}
