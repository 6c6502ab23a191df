import type { ServiceConfig } from '../config/service.ts';
import type { Suite } from './check/check.ts';
import { applicabilityOf, type JudgeOptions } from './check/judge.ts';
import { type Judged, judgeInOrder } from './check/plan.ts';
import type { Session } from './session/session.ts';

interface SessionsOptions extends JudgeOptions {
  /** Asked for again, after the one before was closed, where the provider was started anew. */
  readonly open: () => Session | Promise<Session>;
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
 * is to meet a provider that nobody has asked anything yet. All sessions are closed in every ending.
 */
export async function* judgeInSessions(
  suites: readonly Suite[],
  config: ServiceConfig,
  { open, asked, entering, ...options }: SessionsOptions,
): AsyncGenerator<JudgedOver> {
  const means = { options: () => options, ...(entering && { entering }) };
  const groups = startsFresh(config) ? suites.map((suite) => [suite]) : [suites];
  let before = asked();
  let session = await open();
  try {
    for (const group of groups) {
      if (asked() > before && group.some((suite) => asksAnything(suite, config))) {
        await session.close();
        before = asked();
        session = await open();
      }
      for await (const each of judgeInOrder(group, session, means)) yield { ...each, session };
    }
  } finally {
    await session.close();
  }
}

/** Whether each suite is to meet a provider that nobody has asked anything yet. */
export function startsFresh({ provider }: ServiceConfig): boolean {
  return 'freshForEachSuite' in provider && provider.freshForEachSuite;
}

/** Whether any check of a suite applies to the service. */
function asksAnything({ checks }: Pick<Suite, 'checks'>, config: ServiceConfig): boolean {
  return checks.some((check) => applicabilityOf(check, config).reasonNot === null);
}
