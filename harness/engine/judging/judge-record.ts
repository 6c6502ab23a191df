import { withTexts } from '../../base/json-text.ts';
import { Blocked } from '../../base/verdict.ts';
import type { LoadedService } from '../../config/load.ts';
import { digestOf } from '../../config/pact/pacts.ts';
import { runSecrets, secretForms } from '../../config/secrets.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import { counted } from '../../report/results/tally.ts';
import { leapsAfter, virtualClock } from '../../wire/pace/virtual-clock.ts';
import { createRedaction, type Redaction } from '../../wire/redaction/redaction.ts';
import { announcementOf } from '../announcement.ts';
import { judgeInSessions } from '../check/plan.ts';
import { commandAlone } from '../request.ts';
import type { Selection } from '../selection/selection.ts';
import type { PactJudge } from '../session/pact/verification.ts';
import { openSession } from '../session/session.ts';
import type { AnswerRecord } from '../session/turn/evidence-log.ts';
import { type RecordedRun, type RecordedService, Shelf } from './recording.ts';
import { replayWire } from './replay-wire.ts';

/** Turns of the event loop without a new wait, after which everything waits. */
const QUIET_TURNS = 3;

type Judgeable = Pick<LoadedService, 'config' | 'known' | 'accepted'>;

export interface JudgingOptions {
  readonly selection: Selection;
  readonly strict: boolean;
  /** `conform/1.2.3` of the recorded run: some requests contain the version. */
  readonly userAgent: string;
  /** For the commands that repeat a finding; not named if it is the usual folder. */
  readonly configDir?: string;
  /** Remembers texts that it redacted before. Default: one for each service. */
  readonly redaction?: Redaction;
  readonly record: (event: JournalEvent) => void;
}

/** Real milliseconds for all judging. */
const HUNG_MS = 10 * 60_000;

/**
 * Judges the record of these services with today's checks, and records events as a run does. Nothing is sent or
 * waited for: sessions read the record, on its clock.
 */
export async function judgeRecord(
  { run, finishedAt, interruption, services: recorded }: RecordedRun,
  services: readonly Judgeable[],
  options: JudgingOptions,
): Promise<void> {
  const { record } = options;
  record({ type: 'run-started', run, services: services.map(({ config }) => config.service) });
  const configs = services.map(({ config }) => config);
  for (const loaded of services) {
    const { service } = loaded.config;
    const redaction = options.redaction ?? createRedaction(runSecrets(configs, loaded.config));
    const listed = <T>(entries: T): T => withTexts(entries, redaction.sink) as T;
    record({ type: 'secrets', service, forms: secretForms(loaded.config) });
    if (loaded.accepted.length > 0) record({ type: 'accepted', service, listed: listed(loaded.accepted) });
    if (loaded.known.length > 0) record({ type: 'known-failures', service, listed: listed(loaded.known) });
    const its = recorded.find((each) => each.service === service);
    if (its !== undefined) await judgeService(its, loaded, { ...options, run, redaction });
  }
  record({
    type: 'run-finished',
    finishedAt,
    interrupted: interruption !== null,
    reason: interruption === null ? null : `the record was cut short: ${interruption}`,
  });
}

interface RecordJudging extends JudgingOptions {
  readonly run: RecordedRun['run'];
  readonly redaction: Redaction;
}

async function judgeService(
  recorded: RecordedService,
  { config: configured }: Judgeable,
  { selection, strict, userAgent, configDir, record, run, redaction }: RecordJudging,
): Promise<void> {
  // The time limit of a run does not apply to judging.
  const config = { ...configured, timeouts: { ...configured.timeouts, runMs: Number.POSITIVE_INFINITY } };
  const { service } = recorded;
  const providerUrl = recorded.providerUrl ?? 'http://localhost';
  const { image } = recorded;
  record({
    type: 'service-started',
    ...announcementOf(configured, selection, redaction.sink),
    provider: {
      kind: config.provider.kind,
      url: recorded.providerUrl ?? '',
      ...(image === null ? {} : { image }),
    },
  });
  const shelf = new Shelf(recorded.evidence);
  const beginning = recorded.evidence
    .map(({ evidence }) => evidence.timing)
    .toSorted((a, b) => a.startedMs - b.startedMs)[0];
  const clock = virtualClock({
    beginMs: beginning?.startedMs ?? 0,
    beginAt: new Date(beginning?.startedAt ?? run.startedAt),
    passage: leapsAfter(QUIET_TURNS),
  });
  const alone = (folder: string) =>
    commandAlone(service, { configDir: folder, environment: recorded.environment, providerUrl: null });
  let pieces = 0;
  // It was never reachable.
  const absence = beginning === undefined ? recorded.outage : null;
  let outage: string | null = null;
  const open = (everything: AnswerRecord) => {
    const session = openSession({
      recorded: everything,
      config,
      providerUrl,
      runId: run.id,
      userAgent,
      clock,
      wire: replayWire(recorded, shelf, clock),
      pacts: replayPacts(recorded, shelf),
      redaction,
      random: () => 0.5,
      evidenceBefore: recorded.evidence.length,
      ...(configDir !== undefined && { runAlone: redaction.text(alone(configDir)) }),
      record(event) {
        if (event.type === 'evidence') pieces += 1;
        record(event);
      },
    });
    return absence === null ? session : { ...session, outage: absence, outageSide: recorded.outageSide };
  };
  const suites = selection.selected(config);
  const judged = judgeInSessions(suites, config, {
    open,
    selected: new Set(suites.flatMap(({ checks }) => checks.map(({ id }) => id))),
    asked: () => pieces,
    signal: AbortSignal.timeout(HUNG_MS),
    strict,
  });
  for await (const { check, judgment, session } of judged) {
    record({ type: 'outcome', service, id: check.id, ...judgment });
    if (session.outage === null || outage !== null) continue;
    outage = session.outage;
    const { outageSide: fault } = session;
    record({ type: 'service-trouble', service, reason: outage, ...(fault !== null && { fault }) });
  }
  for (const text of [...recorded.remarks, ...remarksOn(config, shelf)])
    record({ type: 'remark', service, text });
  const durationMs = clock.now() - (beginning?.startedMs ?? 0);
  record({ type: 'service-finished', service, requestsSent: 0, durationMs });
}

function remarksOn({ pacts }: ServiceConfig, { unused }: Shelf): readonly string[] {
  const unasked = `${counted(unused, 'piece')} of evidence in the record answered no check of today`;
  const unread = 'pacts that are not in the config folder were not fetched, for nothing is sent';
  return [...(unused > 0 ? [unasked] : []), ...(pacts && pacts.unread.length > 0 ? [unread] : [])];
}

/** The recorded verdicts of Pact, since Pact itself would send requests. */
function replayPacts({ verifications }: RecordedService, shelf: Shelf): PactJudge {
  return {
    portFor: ({ log }, _http, turn) => ({
      async verify(interaction) {
        const found = verifications.findLast((each) => each.interaction === interaction.id);
        if (found === undefined) throw new Blocked(`not in the record: what Pact says of ${interaction.id}`);
        if (found.expected !== digestOf(interaction))
          throw new Blocked('the pact has changed since the record, and Pact itself sends requests');
        for (const { evidence, requests } of shelf.takeAll(`pact ${interaction.id}`))
          turn.trail.add(log.keep(evidence, requests).id);
        if (found.blocked !== null) throw new Blocked(found.blocked);
        const { mismatches, evidence, remark } = found;
        return { mismatches, evidence, remark };
      },
    }),
    close: async () => undefined,
  };
}
