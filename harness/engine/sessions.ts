import type { ServiceConfig } from '../config/service.ts';
import type { Suite } from './check/check.ts';
import { applicabilityOf, type JudgeOptions } from './check/judge.ts';
import { type Judged, judging } from './check/plan.ts';
import { RunRecord } from './session/run-record.ts';
import type { Session } from './session/session.ts';

interface SessionsOptions extends JudgeOptions {
  /** Called again, after the one before was closed, if the provider was started anew. `recorded`: that of all of them. */
  readonly open: (recorded: RunRecord) => Session | Promise<Session>;
  /** Pieces of evidence so far. */
  readonly asked: () => number;
  /** Told of the suite of each check before anything is sent for it. */
  readonly entering?: (suite: Suite) => void;
}

/** A check that was judged, and the session that it was judged over. */
interface JudgedOver extends Judged {
  readonly session: Session;
}

/**
 * All checks of these suites, in that order and in this process, over one session; over one for each suite where each
 * is to meet a provider that nobody has asked anything yet. Rules over the record come last, and judge what all
 * sessions have recorded. All sessions are closed in every ending.
 */
export async function* judgeInSessions(
  suites: readonly Suite[],
  config: ServiceConfig,
  { open, asked, entering, ...options }: SessionsOptions,
): AsyncGenerator<JudgedOver> {
  const means = { options: () => options, ...(entering && { entering }) };
  const groups = startsFresh(config) ? suites.map((suite) => [suite]) : [suites];
  let before = asked();
  const recorded = new RunRecord();
  const overRecord: AsyncGenerator<JudgedOver>[] = [];
  let session = await open(recorded);
  try {
    for (const group of groups) {
      if (asked() > before && group.some((suite) => asksAnything(suite, config))) {
        await session.close();
        before = asked();
        session = await open(recorded);
      }
      const parts = judging(group, session, means);
      yield* judgedOver(session, parts.inTurn);
      overRecord.push(judgedOver(session, parts.overRecord));
    }
    for (const each of overRecord) yield* each;
  } finally {
    await session.close();
  }
}

async function* judgedOver(session: Session, all: AsyncGenerator<Judged>): AsyncGenerator<JudgedOver> {
  for await (const each of all) yield { ...each, session };
}

/** Whether each suite is to meet a provider that nobody has asked anything yet. */
export function startsFresh({ provider }: ServiceConfig): boolean {
  return 'freshForEachSuite' in provider && provider.freshForEachSuite;
}

/** Whether any check of a suite applies to the service. */
function asksAnything({ checks }: Pick<Suite, 'checks'>, config: ServiceConfig): boolean {
  return checks.some((check) => applicabilityOf(check, config).reasonNot === null);
}
