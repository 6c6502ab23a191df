import type { CheckDefinition, Suite } from '../../check/check.ts';
import { suitesFor } from '../../check/check.ts';
import type { Judgment } from '../../check/judge.ts';
import { JudgingOrder } from '../../check/order.ts';
import { unpackSecretList, unpackService } from '../../config/secrets.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { openJournal } from '../../evidence/record/journal.ts';
import { createRedaction } from '../../evidence/redaction/redaction.ts';
import type { JournalEvent } from '../../report/results/events.ts';
import { announcement } from '../../report/terminal/estimate.ts';
import { openLiveSession } from '../../session/live.ts';
import type { Session } from '../../session/session.ts';
import { systemClock } from '../../transport/pace/clock.ts';
import { asksAnything, startsFresh } from '../freshness.ts';
import { loadSuites, selectById } from '../selection.ts';
import { simulate } from '../simulation/simulation.ts';
import { askForRenewal, hearSecrets, type WorkerInput, type WorkerNews } from './channel.ts';

/** The main process ends a worker that is silent for much longer than this. */
const ALIVE_EVERY_MS = 500;
/** Nobody waits longer to hear what a run will cost, in ms. */
const LONGEST_REHEARSAL_MS = 20_000;

export interface Worker {
  readonly suites: readonly Suite[];
  /** null where it is put off, for its verdict hangs on what may upset the service. */
  judge(suite: Suite, check: CheckDefinition, signal: AbortSignal): Promise<Judgment | null>;
  /** What was put off. */
  judgeRest(signal: AbortSignal): Promise<void>;
  finish(): Promise<void>;
}

/** One service's side of a run: its session, its line to the journal, and its signs of life. */
export async function openWorker(input: WorkerInput): Promise<Worker> {
  const tell = (news: WorkerNews) => process.send?.({ ...news, conform: 1, service: input.service });
  tell({ type: 'hello', pid: process.pid });
  const pulse = setInterval(() => tell({ type: 'alive' }), ALIVE_EVERY_MS);
  pulse.unref();

  const journal = openJournal(input.journalPath);
  let lastEvidence = 0;
  let asked = false;
  const record = (event: JournalEvent) => {
    journal.append(event);
    if (event.type === 'evidence') {
      asked = true;
      lastEvidence = Math.max(lastEvidence, Number(event.id.slice(1)));
    }
    if (event.type === 'waiting' && simulation === null)
      tell({ type: 'waiting', reason: event.reason, untilMs: event.untilMs });
  };
  const config = unpackService(input.config);
  const redaction = createRedaction(unpackSecretList(input.secrets));
  hearSecrets(({ secretName, secretValue }) => redaction.add(secretName, secretValue));
  const simulation = input.providerUrl === null ? await simulate(config) : null;
  const firstUrl = simulation?.providerUrl ?? input.providerUrl ?? '';
  const open = (providerUrl: string) =>
    openLiveSession({
      config,
      clock: systemClock,
      ...simulation,
      providerUrl,
      runId: input.runId,
      userAgent: input.userAgent,
      redaction,
      record,
      learned: (secret) => tell({ type: 'secret', name: secret.name, value: secret.reveal() }),
      evidenceBefore: lastEvidence,
      runAlone: input.runAlone,
    });
  let session = open(firstUrl);
  let order = new JudgingOrder(session);
  const closed = { requestsSent: 0, durationMs: 0 };
  const close = async () => {
    const { requestsSent, durationMs } = await session.close();
    closed.requestsSent += requestsSent;
    closed.durationMs += durationMs;
  };

  let outageTold = false;
  const reportOutage = () => {
    if (session.outage === null || outageTold) return;
    outageTold = true;
    record({ type: 'service-trouble', service: input.service, reason: session.outage });
    tell({ type: 'trouble', reason: session.outage });
  };

  /** What was found out is about the provider that is gone: the new one is asked anew. */
  const renew = async () => {
    await close();
    const renewed = await askForRenewal(() => tell({ type: 'renew' }));
    outageTold = false;
    asked = false;
    fresh = 'url' in renewed;
    session = 'url' in renewed ? open(renewed.url) : outOfReach(open(firstUrl), renewed.reason);
    order = new JudgingOrder(session);
  };
  let fresh = startsFresh(config);
  const selected = new Set(input.selected);
  let met: Suite | null = null;

  const suites = selectById(suitesFor(await loadSuites(input.suitesUrl), config), input.selected);
  const cost =
    simulation !== null ? 'in simulated time' : input.rehearsed ? await costOf(config, suites) : null;
  tell({ type: 'estimate', cost });

  const optionsOf = (signal: AbortSignal) => ({
    strict: input.strict,
    signal,
    selected,
    ...(input.checkLimitMs === null ? {} : { limitMs: input.checkLimitMs }),
  });
  const conclude = (suite: Suite, { id }: CheckDefinition, judgment: Judgment) => {
    record({ type: 'outcome', service: input.service, id, ...judgment });
    tell({ type: 'outcome', suite: suite.name, id, outcome: judgment.outcome });
    reportOutage();
  };
  const judgeRest = async (signal: AbortSignal) => {
    for await (const { suite, check, judgment } of order.rest({ options: () => optionsOf(signal) }))
      conclude(suite, check, judgment);
  };

  return {
    suites,
    async judge(suite, check, signal) {
      if (fresh && asked && met !== suite && asksAnything(suite, config)) {
        await judgeRest(signal);
        await renew();
      }
      if (suite.exhausts && met !== suite) await judgeRest(signal);
      met = suite;
      const judgment = await order.judge(suite, check, optionsOf(signal));
      if (judgment !== null) conclude(suite, check, judgment);
      return judgment;
    },
    judgeRest,
    async finish() {
      clearInterval(pulse);
      await close();
      await simulation?.stop();
      record({ type: 'service-finished', service: input.service, ...closed });
      tell({ type: 'finished' });
    },
  };
}

/** What a run will cost, in words; null where that does not come to light: no verdict hangs on it. */
async function costOf(config: ServiceConfig, suites: readonly Suite[]): Promise<string | null> {
  try {
    const { estimate } = await import('../rehearsal/estimate.ts');
    return announcement(await estimate(config, { suites, catalogue: 0 }, LONGEST_REHEARSAL_MS));
  } catch {
    return null;
  }
}

/** The session of a provider that is not there: what applies is blocked for it, and nothing is sent. */
function outOfReach(session: Session, outage: string): Session {
  return { ...session, outage };
}
