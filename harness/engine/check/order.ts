import { PutOff, type PutsOff } from '../session/probe.ts';
import type { Session } from '../session/session.ts';
import type { CheckDefinition, Suite } from './check.ts';
import { applicabilityOf, type JudgeOptions, type Judgment, judge } from './judge.ts';

/** A check of a suite, and what became of it. */
export interface Judged {
  readonly suite: Suite;
  readonly check: CheckDefinition;
  readonly judgment: Judgment;
}

export type OrderOptions = Omit<JudgeOptions, 'putsOff'>;

interface Means {
  /** Of the next check. */
  readonly options: () => OrderOptions;
  /** Told of the suite of each check before anything is sent for it. */
  readonly entering?: (suite: Suite) => void;
  /** Where suites may get a session of their own: whether this one is to, and how it comes to that. */
  readonly renewal?: {
    readonly isDue: (suite: Suite) => boolean;
    readonly renew: () => Promise<Session>;
  };
}

/**
 * The order in which the checks of one session are judged: as they come, but for those whose verdict hangs on something
 * risky. These are put off, and nothing risky is sent before they are asked for: at the end, or before a suite that uses up
 * the quota. Behind that suite comes what would have had to wait for quota before it, where no answer tells what is left of
 * it: then it is known what requests cost.
 */
class JudgingOrder {
  readonly #session: Session;
  readonly #suites: readonly Suite[];
  #putOff: (Omit<Judged, 'judgment'> & { readonly because: PutsOff })[] = [];

  /** `suites`: all that are judged over this session, in their order. */
  constructor(session: Session, suites: readonly Suite[]) {
    this.#session = session;
    this.#suites = suites;
  }

  /** null where it is put off. */
  async judge(suite: Suite, check: CheckDefinition, options: OrderOptions): Promise<Judgment | null> {
    const left = suite.checks.slice(suite.checks.indexOf(check));
    const putsOff = this.#meetsLimitAfter(suite) ? 'waiting' : 'last';
    await this.#askTogether(left, options.signal, putsOff);
    return this.#judgeOrPutOff(suite, check, { ...options, putsOff });
  }

  #meetsLimitAfter(suite: Suite): boolean {
    const toCome = this.#suites.slice(this.#suites.indexOf(suite) + 1);
    return this.#session.config.safety.exceedRateLimit && toCome.some(({ exhausts }) => exhausts);
  }

  async #judgeOrPutOff(
    suite: Suite,
    check: CheckDefinition,
    options: JudgeOptions,
  ): Promise<Judgment | null> {
    try {
      return await judge(check, this.#session, options);
    } catch (thrown) {
      if (!(thrown instanceof PutOff)) throw thrown;
      this.#putOff.push({ suite, check, because: thrown.because });
      return null;
    }
  }

  /**
   * Those that were put off; before a suite that uses up the quota, where none of them waits for that. `goesOn`: more is
   * judged after them, so what comes last of all stays put off.
   */
  async *rest(means: Means, goesOn = false): AsyncGenerator<Judged> {
    const isWaiting = this.#putOff.some(({ because }) => because === 'waiting');
    if (goesOn && isWaiting) return;
    if (isWaiting) yield* this.#rest(means, 'last');
    yield* this.#rest(means, 'last of all');
    if (!goesOn) yield* this.#rest(means, 'nothing');
  }

  async *#rest({ options, entering }: Means, putsOff: PutsOff): AsyncGenerator<Judged> {
    const rest = this.#putOff;
    this.#putOff = [];
    for (const [index, { suite, check }] of rest.entries()) {
      entering?.(suite);
      const left = rest.slice(index).map((each) => each.check);
      await this.#askTogether(left, options().signal, putsOff);
      const judgment = await this.#judgeOrPutOff(suite, check, { ...options(), putsOff });
      if (judgment !== null) yield { suite, check, judgment };
    }
  }

  /** What the first of these checks waits for, and the others with it, where that was waited for in vain before. */
  async #askTogether(
    checks: readonly CheckDefinition[],
    signal: AbortSignal,
    putsOff: PutsOff,
  ): Promise<void> {
    const { config, waitsInVain } = this.#session;
    if (!waitsInVain || checks[0]?.waits.length === 0) return;
    const waiting = checks.filter((check) => {
      const { reasonNot, missing } = applicabilityOf(check, config);
      return reasonNot === null && missing === null;
    });
    const probes = new Set(waiting.flatMap(({ waits }) => waits));
    await Promise.all([...probes].map((probe) => this.#session.ask(probe, signal, putsOff)));
  }
}

/** All checks of these suites, in that order. */
export async function* judgeInOrder(
  suites: readonly Suite[],
  session: Session,
  means: Means,
): AsyncGenerator<Judged> {
  const { options, entering, renewal } = means;
  let order = new JudgingOrder(session, renewal ? [] : suites);
  for (const suite of suites) {
    if (renewal?.isDue(suite)) {
      yield* order.rest(means);
      order = new JudgingOrder(await renewal.renew(), []);
    }
    if (suite.exhausts) yield* order.rest(means, true);
    entering?.(suite);
    for (const check of suite.checks) {
      const judgment = await order.judge(suite, check, options());
      if (judgment !== null) yield { suite, check, judgment };
    }
  }
  yield* order.rest(means);
}
