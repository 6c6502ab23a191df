import { UsageError } from '../../base/exit.ts';
import { type LoadedService, loadServices } from '../../config/load.ts';
import { runSecrets } from '../../config/secrets.ts';
import { withCauses } from '../../report/diagnosis/causes.ts';
import type { ReportChoices } from '../../report/format.ts';
import { withDrift } from '../../report/memory/drift.ts';
import { withKnown } from '../../report/memory/known.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import { foldEvents } from '../../report/results/fold/fold.ts';
import { merged, type ShardResults } from '../../report/results/fold/merge.ts';
import type { Results } from '../../report/results/results.ts';
import { tallyOf } from '../../report/results/tally.ts';
import { openRunFolder, type WrittenReports, writeReports } from '../../report/write.ts';
import { type JournalContent, openJournal } from '../../wire/record/journal.ts';
import { createRedaction } from '../../wire/redaction/redaction.ts';
import type { Suite } from '../check/check.ts';
import { loadSuites, SUITES_URL, selectChecks } from '../selection/selection.ts';
import { judgeRecord } from './judge-record.ts';
import { judgeTraffic } from './judge-traffic.ts';
import { isOfOtherClient, recordOfHar } from './read-har.ts';
import type { RecordFile, RunEvidence } from './read-record.ts';
import type { RecordedRun } from './recording.ts';

export interface JudgingRequest {
  readonly configDir: string;
  /** Empty: every service of the record. */
  readonly services: readonly string[];
  /** Those of the record if both are empty. */
  readonly suites: readonly string[];
  readonly checks: readonly string[];
  /** Default: as the record was. */
  readonly strict?: boolean;
  /** The day for which known failures are looked up. Default: that of the record. */
  readonly asOf?: string;
  readonly reportsDir: string;
  readonly reportChoices?: ReportChoices;
  readonly env: NodeJS.ProcessEnv;
  readonly harness: Results['run']['harness'];
}

export interface JudgedEvidence {
  readonly results: Results;
  readonly reports: WrittenReports;
}

/** Judges a record and writes its reports. @throws UsageError if config and record do not fit. */
export async function judgeEvidence(evidence: RecordFile, request: JudgingRequest): Promise<JudgedEvidence> {
  const judging = await prepare(evidence, request);
  const folder = openRunFolder(request.reportsDir, judging.run);
  const journal = openJournal(folder.journalPath);
  try {
    await judging.judge((event) => journal.append(event));
    journal.restore();
    const results = withCauses(judging.resultsOf(journal.read()));
    return { results, reports: write(results, request, folder.journalPath) };
  } finally {
    journal.close();
  }
}

/**
 * Judges the records of the shards of one run and writes the reports of the whole. @throws UsageError also if they
 * are of several runs, or one is given twice.
 */
export async function judgeShards(
  shards: readonly RunEvidence[],
  request: JudgingRequest,
): Promise<JudgedEvidence> {
  // Reports a wrong set before anything is judged.
  merged(
    shards.map(({ file, record: { run } }) => ({ source: file, results: { ...NOTHING, run: ended(run) } })),
  );
  const judged: ShardResults[] = [];
  for (const shard of shards) {
    const judging = await prepare(shard, request);
    const entries: unknown[] = [];
    await judging.judge((event) => void entries.push(JSON.parse(JSON.stringify(event))));
    judged.push({ source: shard.file, results: judging.resultsOf({ entries, badLines: [] }) });
  }
  const results = withCauses(merged(judged));
  return { results, reports: write(results, request, null) };
}

const NOTHING = { schemaVersion: 1, services: [], totals: tallyOf([]) } as const;

function ended(run: RecordedRun['run']): Results['run'] {
  const { startedAt } = run;
  return { ...run, finishedAt: startedAt, interrupted: false, interruption: null, exitCode: 0, faults: [] };
}

function write(results: Results, request: JudgingRequest, journalPath: string | null): WrittenReports {
  const { reportsDir, reportChoices } = request;
  return writeReports(results, { reportsDir, journalPath, ...(reportChoices && { choices: reportChoices }) });
}

/** The judging of a record, and how its results are made. */
async function prepare(evidence: RecordFile, request: JudgingRequest) {
  const { harness } = request;
  const services = await servicesOf(evidence, request);
  const recorded = evidence.kind === 'har' ? readHar(evidence, services, harness) : evidence.record;
  const chosen =
    request.suites.length + request.checks.length > 0
      ? { suites: request.suites, checks: request.checks }
      : { suites: [], checks: [], ...recorded.run.selection };
  const configs = services.map(({ config }) => config);
  const suites = await loadSuites(SUITES_URL, configs);
  const selection = selectChecks(suites, chosen, configs);
  const isTraffic =
    evidence.kind === 'har' && isOfOtherClient(evidence.text) && isEmpty(chosen) && configs.length === 1;
  const { selection: _, ...whole } = recorded.run;
  const isSelection = isTraffic || !isEmpty(chosen);
  const run = {
    ...whole,
    harness,
    strict: request.strict ?? whole.strict,
    ...(request.asOf === undefined ? {} : { asOf: request.asOf }),
    ...(isSelection ? { selection: { partial: whole.partial ?? false, ...chosen } } : {}),
  };
  return {
    run,
    judge: async (record: (event: JournalEvent) => void) =>
      isTraffic
        ? judgeOthers({ ...recorded, run }, services, suites, record)
        : judgeRecord({ ...recorded, run }, services, {
            selection,
            strict: run.strict,
            userAgent: `${whole.harness.name}/${whole.harness.version}`,
            configDir: request.configDir,
            record,
          }),
    resultsOf({ entries, badLines }: Pick<JournalContent, 'entries' | 'badLines'>): Results {
      const { finishedAt } = recorded;
      const folded = foldEvents(entries, { run, finishedAt, badLines, interruption: null });
      return withDrift(withKnown(folded));
    },
  };
}

function isEmpty({ suites, checks }: Pick<JudgingRequest, 'suites' | 'checks'>): boolean {
  return suites.length + checks.length === 0;
}

/** Entries of another client: each is judged by itself. */
async function judgeOthers(
  { run, finishedAt, services: recorded }: RecordedRun,
  services: readonly LoadedService[],
  suites: readonly Suite[],
  record: (event: JournalEvent) => void,
): Promise<void> {
  record({ type: 'run-started', run, services: services.map(({ config }) => config.service) });
  const redaction = createRedaction(runSecrets(services.map(({ config }) => config)));
  for (const { config } of services) {
    const its = recorded.find(({ service }) => service === config.service);
    if (its) await judgeTraffic(its, config, { suites, strict: run.strict, redact: redaction.sink, record });
  }
  record({ type: 'run-finished', finishedAt, interrupted: false, reason: null });
}

/** @throws UsageError for a HAR file without a named service. */
async function servicesOf(evidence: RecordFile, request: JudgingRequest): Promise<readonly LoadedService[]> {
  const { configDir, env, services: named } = request;
  if (evidence.kind === 'har') {
    if (named.length === 1) {
      const standIns = () => ({ forms: null });
      return (await loadServices({ configDir, services: named, env, standIns })).services;
    }
    throw new UsageError('a HAR file does not say which service it is of', {
      place: { file: evidence.file },
      remedy: 'name one with --service',
    });
  }
  const { services } = evidence.record;
  const recorded = services.map(({ service }) => service);
  const wanted = named.length === 0 ? recorded : recorded.filter((name) => named.includes(name));
  const { services: loaded } = await loadServices({
    configDir,
    services: wanted.length > 0 ? wanted : named,
    environment: services.find(({ environment }) => environment !== null)?.environment ?? undefined,
    env,
    standIns: (name) => ({ forms: services.find(({ service }) => service === name)?.secrets ?? null }),
  });
  return loaded;
}

function readHar(
  { text, file }: Extract<RecordFile, { kind: 'har' }>,
  services: readonly LoadedService[],
  harness: JudgingRequest['harness'],
): RecordedRun {
  const configs = services.map(({ config }) => config);
  const [service = ''] = configs.map((config) => config.service);
  return recordOfHar(text, { file, service, harness, redaction: createRedaction(runSecrets(configs)) });
}
