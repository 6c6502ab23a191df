import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HarnessError, UsageError } from '../base/exit.ts';
import { withTexts } from '../base/json-text.ts';
import { codeOf, reasonOf } from '../base/thrown.ts';
import { type LoadedService, loadServices } from '../config/load.ts';
import { runSecrets, secretForms } from '../config/secrets.ts';
import type { ServiceConfig } from '../config/service.ts';
import { faultsOf } from '../config/yaml/origin.ts';
import { withCauses } from '../report/diagnosis/causes.ts';
import { withDrift } from '../report/memory/drift.ts';
import { pastRun, withHistory } from '../report/memory/history.ts';
import { readHistory, remember } from '../report/memory/history-file.ts';
import { withKnown } from '../report/memory/known.ts';
import { type FoldContext, foldEvents, withFault } from '../report/results/fold/fold.ts';
import type { Results, RunResult } from '../report/results/results.ts';
import { plainLine } from '../report/results/words/plain.ts';
import type { Estimate } from '../report/terminal/estimate.ts';
import { openRunFolder, type RunFolder, type WrittenReports, writeReports } from '../report/write.ts';
import { type Journal, openJournal } from '../wire/record/journal.ts';
import { createRedaction } from '../wire/redaction/redaction.ts';
import { interruptible } from './ending/interruption.ts';
import { estimate } from './estimate.ts';
import { execute } from './execution.ts';
import { Providers } from './provider/providers.ts';
import { holdProviders } from './provider/start.ts';
import type { RunRequest } from './request.ts';
import { loadSuites, SUITES_URL, selectChecks } from './selection/selection.ts';
import { partOf, shardNote } from './selection/shard.ts';
import { isSimulated } from './simulation/simulation.ts';

export interface FinishedRun extends RenderedRun {
  readonly signalled: boolean;
}

/** Milliseconds to wait for providers to stop. */
const STOP_MS = 3_000;
const PROCESS_ENDED = 'the process ended early';

/**
 * One run from config to reports: the selection is checked before providers start, providers start before anything is
 * sent, every outcome is in the journal before it is in a report, and each ending is rendered. @throws UsageError
 * when nothing was sent.
 */
export async function runConformance(request: RunRequest): Promise<FinishedRun> {
  const { services, configs, selection, suitesUrl, shard } = await prepare(request);
  if (request.strict) holdToStrictness(services);
  const redaction = createRedaction(runSecrets(configs));
  // Lists may contain secrets.
  const withoutSecrets = <T>(listed: T): T => withTexts(listed, redaction.sink) as T;

  const { progress } = request;
  const run = newRun(request, shard);
  const { folder, journal } = openRun(request.reportsDir, run, configs);
  for (const { config, known, accepted } of services) {
    const { service } = config;
    journal.append({ type: 'secrets', service, forms: secretForms(config) });
    if (accepted.length > 0) journal.append({ type: 'accepted', service, listed: withoutSecrets(accepted) });
    if (known.length > 0) journal.append({ type: 'known-failures', service, listed: withoutSecrets(known) });
  }
  const providers = new Providers();
  let rendered: RenderedRun | undefined;
  const render = (interruption: string | null) => {
    const { reportChoices: choices, formats } = request;
    const how = { choices, formats, progress };
    rendered ??= renderRun({ run, folder, journal, logs: providers.logs(), ...how }, interruption);
    return rendered;
  };
  const renderOnExit = () => {
    process.exitCode = render(PROCESS_ENDED).results.run.exitCode;
    providers.abandon();
  };
  process.on('exit', renderOnExit);
  const interruption = interruptible({
    onSignal: (name) => progress.say(`conform: ${name}, finishing; a second one ends at once`),
    atOnce: (reason) => {
      progress.stop();
      process.exit(render(reason).results.run.exitCode);
    },
  });
  try {
    const opened = { folder, journal, redaction, providers, interruption };
    await execute({ request, runId: run.id, configs, selection, suitesUrl, ...opened });
    return { ...render(null), signalled: interruption.signalled };
  } catch (error) {
    // Nothing was sent, so there is nothing to report.
    if (error instanceof UsageError) rmSync(folder.runDir, { recursive: true, force: true });
    throw error;
  } finally {
    process.off('exit', renderOnExit);
    journal.close();
    progress.stop();
    await providers.stop(STOP_MS);
    interruption.release();
  }
}

/** A strict run decides a release, so the service must be authenticated. @throws UsageError otherwise. */
function holdToStrictness(services: readonly LoadedService[]): void {
  for (const { config, origins } of services) {
    if (!config.tls?.insecure) continue;
    throw faultsOf(origins)(
      'tls.insecure',
      'a strict run decides, and nobody would know about whom',
      'name the file of the authority as `tls.ca`, or run without --strict',
    );
  }
}

/** The request of a dry run. */
type PlannedRun = Omit<
  RunRequest,
  | 'strict'
  | 'asOf'
  | 'partial'
  | 'maxFailures'
  | 'concurrency'
  | 'reportsDir'
  | 'progress'
  | 'runId'
  | 'harness'
>;

/** The effect of a run on each service. Nothing is started or sent. @throws UsageError as a run does. */
export async function dryRun(request: PlannedRun): Promise<readonly Estimate[]> {
  const { configs, selection } = await prepare(request);
  return configs.map((config) => {
    const suites = selection.selected(config);
    const simulatedTime = isSimulated(config, request);
    return { ...estimate(config, { suites, catalogue: selection.catalogue(config) }), simulatedTime };
  });
}

async function prepare(request: PlannedRun) {
  const { services } = await loadServices({
    configDir: request.configDir,
    services: request.services,
    environment: request.environment ?? undefined,
    providerUrl: request.providerUrl ?? undefined,
    rules: request.rules ?? undefined,
    timeout: request.timeout,
    http2: request.http2,
    allow: request.allow,
    operations: request.operations,
    pacts: request.pacts,
    env: request.env,
  });
  await holdProviders(services);
  const suitesUrl = request.suitesUrl ?? SUITES_URL;
  const all = services.map(({ config }) => config);
  const selection = selectChecks(await loadSuites(suitesUrl, all), request, all);
  if (request.shard === undefined) return { services, configs: all, selection, suitesUrl };
  const configs = partOf(all, request.shard);
  const { suites, checks } = request;
  return {
    services: services.filter(({ config }) => configs.includes(config)),
    configs,
    selection,
    suitesUrl,
    shard: shardNote(request.shard, all, { suites, checks }),
  };
}

type NewRun = Pick<
  RunResult,
  'id' | 'startedAt' | 'harness' | 'strict' | 'asOf' | 'partial' | 'selection' | 'shard'
>;

function newRun(
  { harness, strict, asOf, suites, checks, operations = [], partial, runId }: RunRequest,
  shard: RunResult['shard'],
): NewRun {
  const isWhole = [suites, checks, operations].every(({ length }) => length === 0);
  const chosen = operations.length > 0 ? { operations } : {};
  const startedAt = new Date().toISOString();
  return {
    id: runId ?? randomBytes(4).toString('hex'),
    startedAt,
    harness,
    strict,
    asOf: asOf ?? startedAt.slice(0, 10),
    ...(partial ? { partial } : {}),
    ...(shard === undefined ? {} : { shard }),
    ...(isWhole ? {} : { selection: { suites, checks, ...chosen, partial: partial ?? false } }),
  };
}

/** @throws UsageError, before anything is sent, if reports cannot be written. */
function openRun(
  reportsDir: string,
  run: NewRun,
  configs: readonly ServiceConfig[],
): { readonly folder: RunFolder; readonly journal: Journal } {
  try {
    const folder = openRunFolder(reportsDir, run);
    const journal = openJournal(folder.journalPath);
    journal.append({ type: 'run-started', run, services: configs.map(({ service }) => service) });
    return { folder, journal };
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    throw new UsageError(error.message, { remedy: 'name a folder that can be written to with --reports' });
  }
}

export interface RenderedRun {
  readonly results: Results;
  /** null if they could not be written anywhere, which is a fault of the results. */
  readonly reports: WrittenReports | null;
}

interface RunUnderWay {
  readonly run: FoldContext['run'];
  readonly folder: RunFolder;
  readonly journal: Journal;
  readonly logs: ReadonlyMap<string, string>;
  readonly choices: RunRequest['reportChoices'];
  readonly formats: RunRequest['formats'];
  readonly progress: RunRequest['progress'];
}

/** From the journal to the reports. If the folder of the run cannot be written, they go to a new temporary folder. */
export function renderRun(rendered: RunUnderWay, interruption: string | null): RenderedRun {
  const { run, folder, journal, progress } = rendered;
  const unwritable = orFault(() => {
    const befell = journal.restore();
    if (befell !== null) journal.append({ type: 'remark', text: befell });
    return null;
  });
  const judged = withDrift(withKnown(foldedFrom(journal, run, interruption)));
  const { runs, notes } = readHistory(folder.reportsDir);
  const results = withHistory(withCauses(judged), runs, notes);
  const written = unwritable ?? orFault(() => write(results, folder, rendered));
  if ('fault' in written) return rescued(results, written.fault, rendered);
  const unwritten = remember(folder.reportsDir, pastRun(results));
  if (unwritten !== null) progress.say(`conform: ${plainLine(unwritten)}`);
  return { results, reports: written };
}

/** A function of its own, so that the many entries are freed afterwards. */
function foldedFrom(journal: Journal, run: FoldContext['run'], interruption: string | null): Results {
  const { entries, badLines } = journal.read();
  return foldEvents(entries, { run, badLines, finishedAt: new Date().toISOString(), interruption });
}

function rescued(results: Results, fault: string, rendered: RunUnderWay): RenderedRun {
  const reports = orFault(() => {
    const folder = openRunFolder(mkdtempSync(join(tmpdir(), 'conform-')), rendered.run);
    rendered.journal.moveTo(folder.journalPath);
    const noted = withFault(results, `${fault}; the reports are in ${folder.reportsDir}`);
    return { results: noted, reports: write(noted, folder, rendered) };
  });
  return 'fault' in reports ? { results: withFault(results, fault), reports: null } : reports;
}

function write(results: Results, folder: RunFolder, { logs, choices, formats }: RunUnderWay): WrittenReports {
  return writeReports(results, { ...folder, logs, ...(choices && { choices }), ...(formats && { formats }) });
}

function orFault<T>(act: () => T): T | { readonly fault: string } {
  try {
    return act();
  } catch (error) {
    // Errors of the system have a code; others are mistakes of the harness.
    if (error instanceof HarnessError || codeOf(error) !== null) return { fault: reasonOf(error) };
    throw error;
  }
}
