import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Suite } from '../check/check.ts';
import { loadServices } from '../config/load.ts';
import { brokerSecrets } from '../config/pact/pacts.ts';
import { serviceSecrets } from '../config/secrets-of.ts';
import type { ServiceConfig } from '../config/service.ts';
import { type Journal, openJournal, readJournal } from '../evidence/journal.ts';
import { createRedaction } from '../evidence/redaction.ts';
import { HarnessError, UsageError } from '../exit.ts';
import { INTERACTION } from '../probe/pact.ts';
import type { JournalEvent } from '../report/events.ts';
import { foldEvents, withFault } from '../report/fold.ts';
import { plainLine } from '../report/plain.ts';
import type { Progress } from '../report/progress.ts';
import type { Results, RunResult } from '../report/results.ts';
import { openRunFolder, type RunFolder, type WrittenReports, writeReports } from '../report/write.ts';
import { loadSuites, SUITES_URL } from './catalogue.ts';
import { type EngineReport, runEngine } from './engine.ts';
import { type Interruption, interruptible } from './interruption.ts';
import type { WorkerMessage } from './message.ts';
import { recordEndings } from './provider-ending.ts';
import { Providers } from './providers.ts';
import { withPactsFetched } from './remote-pacts.ts';
import { renewProvider } from './renewal.ts';
import { type Selection, selectChecks } from './selection.ts';
import { startServices } from './start-services.ts';

export interface RunRequest {
  readonly configDir: string;
  /** Names; empty means every service of the config folder. */
  readonly services: readonly string[];
  readonly environment: string | null;
  /** Takes the place of the provider of the one service that is run. */
  readonly providerUrl: string | null;
  /** Files, folders and URLs of pacts in place of the configured ones; empty for those. */
  readonly pacts?: readonly string[];
  readonly suites: readonly string[];
  readonly checks: readonly string[];
  readonly strict: boolean;
  /** Stop at the first failure. */
  readonly bail: boolean;
  /** Services at the same time. */
  readonly concurrency: number;
  readonly reportsDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly harness: Results['run']['harness'];
  /** URL of the module with the suites; the shipped ones when left out. */
  readonly suitesUrl?: string;
  /** A worker silent for so long is ended, in ms. */
  readonly stallMs?: number;
  /** The longest active time of one check, in ms. */
  readonly checkLimitMs?: number;
}

export interface FinishedRun {
  readonly results: Results;
  /** null when they could not be written, which is then among the faults of the results. */
  readonly reports: WrittenReports | null;
  /** A signal cut it short. */
  readonly signalled: boolean;
}

const STALL_MS = 15_000;
/** How long a provider of ours may take to stop: nobody waits for it any more. */
const STOP_MS = 3_000;
/** The reason with which `--bail` ends a run: not an interruption, since the verdict stands. */
const BAIL = 'stopped at the first failure (--bail)';
const PROCESS_ENDED = 'the process ended early';

/**
 * One run from config to reports: services are loaded and the selection is held against the catalogue before
 * anything is started; providers are started before anything is sent; every outcome is in the journal before
 * it is in a report; whatever ends the run, what is finished is rendered.
 *
 * @throws UsageError when nothing was sent; HarnessError when the journal cannot be written.
 */
export async function runConformance(request: RunRequest): Promise<FinishedRun> {
  const { services } = await loadServices({
    configDir: request.configDir,
    services: request.services,
    environment: request.environment ?? undefined,
    providerUrl: request.providerUrl ?? undefined,
    pacts: request.pacts,
    env: request.env,
  });
  const suitesUrl = request.suitesUrl ?? SUITES_URL;
  const configs = services.map(({ config }) => config);
  const selected = selectChecks(await loadSuites(suitesUrl), request, configs);
  const redact = redactionOf(configs);

  const { progress } = request;
  const run = newRun(request);
  const { folder, journal } = openRun(request.reportsDir, run, configs);
  const providers = new Providers();
  const render = once((interruption: string | null) => {
    const { entries, badLines } = readJournal(folder.journalPath);
    const results = foldEvents(entries, {
      run,
      badLines,
      finishedAt: new Date().toISOString(),
      interruption,
    });
    try {
      return { results, reports: writeReports(results, { ...folder, logs: providers.logs() }) };
    } catch (error) {
      if (!(error instanceof HarnessError)) throw error;
      return { results: withFault(results, error.message), reports: null };
    }
  });
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
    await conduct({
      request,
      run,
      folder,
      configs,
      selected,
      suitesUrl,
      redact,
      providers,
      interruption,
      journal,
    });
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

interface Conduct {
  readonly request: RunRequest;
  readonly run: NewRun;
  readonly folder: RunFolder;
  readonly configs: readonly ServiceConfig[];
  readonly selected: Selection;
  readonly suitesUrl: string;
  readonly redact: (text: string) => string;
  /** Receives every provider that is started, so that all are stopped in every ending. */
  readonly providers: Providers;
  readonly interruption: Interruption;
  readonly journal: Journal;
}

/** From the providers' start to the last entry of the journal. What the harness gets wrong is recorded there too. */
async function conduct(run: Conduct): Promise<void> {
  const { request, folder, redact, journal, interruption } = run;
  const { progress } = request;
  const { signal } = interruption;
  for (const { service, pacts } of run.configs.filter((config) => isAsked(run.selected(config)))) {
    for (const pact of pacts?.leftOut ?? [])
      progress.say(plainLine(`conform: ${service} leaves out ${pact}`, PRINTED));
  }
  const record = (event: JournalEvent) => journal.append(event);
  try {
    const userAgent = `${request.harness.name}/${request.harness.version}`;
    const configs = await Promise.all(
      run.configs.map((config) =>
        isAsked(run.selected(config))
          ? withPactsFetched(config, { userAgent, runId: run.run.id, signal })
          : config,
      ),
    );
    const jobs = await startServices(configs, run.selected, {
      record,
      providers: run.providers,
      job: {
        runId: run.run.id,
        userAgent,
        journalPath: folder.journalPath,
        suitesUrl: run.suitesUrl,
        strict: request.strict,
        checkLimitMs: request.checkLimitMs ?? null,
      },
      progress,
      redact,
      signal,
    });
    const runs = jobs.length > 0 && !signal.aborted;
    const engine = runs
      ? await runEngine({
          jobs,
          concurrency: request.concurrency,
          stallMs: request.stallMs ?? STALL_MS,
          scratchDir: folder.runDir,
          signal,
          onMessage: (message) => follow(message, request, interruption.stop),
          renew: (service) =>
            renewProvider(service, {
              providers: run.providers,
              entries: () => readJournal(folder.journalPath).entries,
              record,
              redact,
            }),
          onCrash: (service, reason) => progress.trouble(service, redact(reason)),
          onPrint: (text) => progress.say(plainLine(redact(text), PRINTED)),
        })
      : NOTHING_RAN;
    if (!signal.aborted) {
      const { entries } = readJournal(folder.journalPath);
      await recordEndings(run.providers, entries, record);
    }
    finishJournal(record, engine, signal, redact);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    record({ type: 'fault', message: redact(describeFault(error)) });
    if (signal.aborted) finishJournal(record, NOTHING_RAN, signal, redact);
  }
}

/** Whether pacts are judged: nothing is fetched, or told of, that nobody asks about. */
function isAsked(suites: readonly Suite[]): boolean {
  return suites.some(({ checks }) => checks.some(({ partOf }) => partOf === INTERACTION));
}

const NOTHING_RAN: EngineReport = { crashed: new Map(), faults: [], strays: [] };
/** UTF-16 units that are shown of what a suite prints. */
const PRINTED = 2_000;

type NewRun = Pick<RunResult, 'id' | 'startedAt' | 'harness' | 'strict'>;

function newRun({ harness, strict }: RunRequest): NewRun {
  return { id: randomBytes(4).toString('hex'), startedAt: new Date().toISOString(), harness, strict };
}

/** @throws UsageError when there is no place for reports: that is found out before anything is sent. */
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

/** Takes the secrets of all services out of text on its way to a person or a file. */
function redactionOf(configs: readonly ServiceConfig[]): (text: string) => string {
  const secrets = configs.flatMap((config) => [
    ...serviceSecrets(config),
    ...brokerSecrets(config.pacts?.broker ?? null),
  ]);
  const redaction = createRedaction(secrets);
  return (text) => redaction.sink(text);
}

function follow(
  message: WorkerMessage,
  { progress, bail }: RunRequest,
  stop: (reason: string) => void,
): void {
  switch (message.type) {
    case 'outcome':
      progress.outcome(message.service, message.suite, message.outcome);
      if (bail && message.outcome === 'fail') stop(BAIL);
      return;
    case 'waiting':
      progress.waiting(message.service, message.reason, message.untilMs);
      return;
    case 'trouble':
      progress.trouble(message.service, message.reason);
      return;
    case 'finished':
      progress.serviceFinished(message.service);
      return;
    case 'hello':
    case 'alive':
    case 'renew':
      return;
  }
}

/**
 * Writes down how the engine ended. A signal, a crashed worker or a stray error makes the run interrupted: its
 * list of outcomes is not whole, or cannot be relied on. What could not be loaded is a fault of the harness.
 */
function finishJournal(
  record: (event: JournalEvent) => void,
  engine: EngineReport,
  signal: AbortSignal,
  redact: (text: string) => string,
): void {
  for (const [service, reason] of engine.crashed) {
    record({ type: 'service-trouble', service, reason: redact(reason) });
  }
  for (const message of engine.faults) record({ type: 'fault', message: redact(message) });
  const bailed = signal.aborted && signal.reason === BAIL;
  const causes = [
    ...(signal.aborted && !bailed ? [String(signal.reason)] : []),
    ...[...engine.crashed].map(([service, reason]) => `${service}: ${reason}`),
    ...engine.strays.map((error) => `an unexpected error: ${error}`),
  ].map(redact);
  record({
    type: 'run-finished',
    finishedAt: new Date().toISOString(),
    interrupted: causes.length > 0,
    reason: causes.length > 0 ? causes.join('; ') : bailed ? BAIL : null,
  });
}

function describeFault(error: unknown): string {
  if (error instanceof HarnessError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function once<A extends unknown[], R>(produce: (...args: A) => R): (...args: A) => R {
  let made: { readonly value: R } | undefined;
  return (...args) => {
    made ??= { value: produce(...args) };
    return made.value;
  };
}
