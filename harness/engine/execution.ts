import { HarnessError, UsageError } from '../base/exit.ts';
import { holdInstalled } from '../base/optional-package.ts';
import { traceOf } from '../base/thrown.ts';
import { packRunSecrets, packService } from '../config/secrets.ts';
import type { ServiceConfig } from '../config/service.ts';
import type { JournalEvent } from '../report/results/fold/events.ts';
import { plainLine } from '../report/results/words/plain.ts';
import type { RunFolder } from '../report/write.ts';
import type { Journal } from '../wire/record/journal.ts';
import type { Redaction } from '../wire/redaction/redaction.ts';
import type { Suite } from './check/check.ts';
import { clearUp, leftOvers } from './ending/clear-up.ts';
import type { Interruption } from './ending/interruption.ts';
import { withPactsFetched } from './pact/remote-pacts.ts';
import { type Providers, recordEndings, renewProvider, startServices } from './provider/providers.ts';
import { commandAlone, type RunRequest } from './request.ts';
import type { Selection } from './selection/selection.ts';
import { INTERACTION } from './session/pact/verification.ts';
import { isSimulated } from './simulation/simulation.ts';
import { openTurnStore, STORE_VARIABLE, storeAddress, type TurnStore } from './turns/turn-store.ts';
import { quotasOf, Turns } from './turns/turns.ts';
import { capacityOf } from './worker/capacity.ts';
import type { ServiceMessage } from './worker/channel.ts';
import { type EngineReport, runEngine } from './worker/engine.ts';
import { WorkerProcess } from './worker/worker-process.ts';

const STALL_MS = 15_000;
/** The reason of `--max-failures`: no interruption, since the verdict stands. */
function enough(failures: number): string {
  return failures === 1
    ? 'stopped at the first failure (--bail)'
    : `stopped after ${failures} failures (--max-failures)`;
}

interface Execution {
  readonly request: RunRequest;
  readonly runId: string;
  readonly folder: RunFolder;
  readonly configs: readonly ServiceConfig[];
  readonly selection: Selection;
  readonly suitesUrl: string;
  readonly redaction: Redaction;
  /** Receives every started provider, so that each ending stops it. */
  readonly providers: Providers;
  readonly interruption: Interruption;
  readonly journal: Journal;
}

/** From the start of the providers to the last entry of the journal, which also records faults of the harness. */
export async function execute(run: Execution): Promise<void> {
  const { request, folder, redaction, journal, interruption } = run;
  const redact = (text: string) => redaction.sink(text);
  const { progress } = request;
  const { signal } = interruption;
  const say = (text: string) => progress.say(plainLine(text, PRINTED));
  const asks = (config: ServiceConfig) => asksOfPacts(run.selection.selected(config));
  for (const { service, pacts } of run.configs.filter(asks)) {
    for (const pact of pacts?.leftOut ?? []) say(`conform: ${service} leaves out ${pact}`);
  }
  if (run.configs.some((config) => config.pacts && asks(config)))
    holdInstalled('@pact-foundation/pact-core', 'the verification of pacts');
  const record = (event: JournalEvent) => journal.append(event);
  const follow = follower(request, interruption.stop);
  const ending = { signal, redact };
  let store: TurnStore | null = null;
  try {
    store = await storeOfTurns(run);
    const userAgent = `${request.harness.name}/${request.harness.version}`;
    const configs = await Promise.all(
      run.configs.map((config) =>
        asks(config) ? withPactsFetched(config, { userAgent, runId: run.runId, signal }) : config,
      ),
    );
    const { providers, runId } = run;
    progress.preparing(configs.map(preparation).find((text) => text !== null) ?? 'Starting');
    const started = await startServices(configs, run.selection, {
      record,
      providers,
      runId,
      isSimulated: (config) => isSimulated(config, request),
      progress,
      redaction,
      signal,
    });
    const runs = started.length > 0 && !signal.aborted;
    const turns = new Turns({
      quotas: new Map(started.map(({ config }) => [config.service, quotasOf(config)])),
      shared: store,
      waiting: (service, others) =>
        say(`conform: ${service} waits for ${others.join(', ')}: they share a quota`),
      now: Date.now,
    });
    const engine = runs
      ? await runEngine({
          run: {
            secrets: packRunSecrets(configs),
            runId,
            userAgent,
            journalPath: folder.journalPath,
            suitesUrl: run.suitesUrl,
            strict: request.strict,
            checkLimitMs: request.checkLimitMs ?? null,
          },
          services: started.map(({ config, providerUrl, selected }) => ({
            service: config.service,
            config: packService(config),
            providerUrl,
            selected,
            runAlone: redact(commandAlone(config.service, request)),
            left: null,
          })),
          capacity: request.capacity ?? capacityOf(started.length, request.concurrency),
          newWorker: request.newWorker ?? (() => new WorkerProcess()),
          stallMs: request.stallMs ?? STALL_MS,
          signal,
          onMessage: (message) => {
            if (message.type === 'secret') redaction.add(message.name, message.value);
            else follow(message);
            if (message.type === 'finished') void turns.give(message.service);
          },
          renew: (service) => renewProvider(service, { providers, read: journal.read, record, redact }),
          turn: (service) => turns.take(service),
          turnOver: (service) => void turns.give(service),
          leftOf: (services, endedMs) =>
            leftOvers(journal.read(['outcome', 'evidence']).entries, services, endedMs),
          onAgain: (services, reason) => {
            const text = redact(`${reason}; what was left was given to another worker`);
            for (const service of services) record({ type: 'remark', service, text });
            say(`conform: ${services.join(', ')}: ${redact(reason)}; another one goes on`);
          },
          onUnwritten: ({ line, why }) => journal.keep(line, why),
          onPrint: (text) => say(redact(text)),
        })
      : NOTHING_RAN;
    for (const [service, reason] of engine.crashed) progress.outage(service, redact(reason));
    await clearUp(started, {
      runId,
      userAgent,
      redaction,
      read: journal.read,
      record: (event) => {
        record(event);
        if (event.type === 'waiting') progress.waiting(event.service, event.reason, event.untilMs);
      },
    });
    if (!signal.aborted) await recordEndings(providers, journal.read, record);
    finishJournal(record, engine, request, ending);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    record({ type: 'fault', message: redact(describeFault(error)) });
    if (signal.aborted) finishJournal(record, NOTHING_RAN, request, ending);
  } finally {
    await store?.close();
  }
}

async function storeOfTurns({ request, configs, redaction, interruption, journal }: Execution) {
  const { [STORE_VARIABLE]: text = '' } = request.env;
  if (text === '') return null;
  const address = storeAddress(text, STORE_VARIABLE);
  if (address.password !== null) redaction.add(STORE_VARIABLE, address.password);
  return openTurnStore({
    address,
    lost: (sentence) => {
      for (const { service } of configs) journal.append({ type: 'remark', service, text: sentence });
      request.progress.say(plainLine(`conform: ${sentence}`, PRINTED));
    },
    signal: interruption.signal,
  });
}

/** Whether pacts are judged; otherwise none is fetched or mentioned. */
function asksOfPacts(suites: readonly Suite[]): boolean {
  return suites.some(({ checks }) => checks.some(({ partOf }) => partOf === INTERACTION));
}

const NOTHING_RAN: EngineReport = { crashed: new Map(), faults: [], strays: [] };
/** UTF-16 units shown of a line that a suite prints. */
const PRINTED = 2_000;

/** What takes time before anything is sent to the service; null for nothing. */
function preparation({ service, provider: { kind } }: ServiceConfig): string | null {
  return kind === 'container' || kind === 'command' ? `Starting ${service} (${kind})` : null;
}

/** Passes messages on to the progress, and stops the run after enough failures. */
function follower({ progress, maxFailures }: RunRequest, stop: (reason: string) => void) {
  let failures = 0;
  return (message: Exclude<ServiceMessage, { readonly type: 'secret' }>): void => {
    const { service } = message;
    if (message.type === 'outcome') {
      progress.outcome(service, message.suite, message.outcome);
      if (message.outcome === 'fail') failures += 1;
      if (failures === maxFailures) stop(enough(failures));
    }
    if (message.type === 'evidence' && message.request !== null) progress.asking(service, message.request);
    if (message.type === 'waiting') progress.waiting(service, message.reason, message.untilMs);
    if (message.type === 'estimate') progress.estimated(service, message.cost);
    if (message.type === 'outage') progress.outage(service, message.reason);
    if (message.type === 'finished') progress.serviceFinished(service);
  };
}

/**
 * Records how the engine ended. A signal, a crashed worker or a stray error interrupts the run: its outcomes are
 * incomplete or unreliable. Suites that do not load are a fault of the harness.
 */
function finishJournal(
  record: (event: JournalEvent) => void,
  engine: EngineReport,
  { maxFailures }: RunRequest,
  { signal, redact }: { readonly signal: AbortSignal; readonly redact: (text: string) => string },
): void {
  for (const [service, reason] of engine.crashed) {
    record({ type: 'service-trouble', service, reason: redact(reason) });
  }
  for (const message of engine.faults) record({ type: 'fault', message: redact(message) });
  const bailed = signal.aborted && maxFailures !== null && signal.reason === enough(maxFailures);
  const causes = [
    ...(signal.aborted && !bailed ? [String(signal.reason)] : []),
    ...[...engine.crashed].map(([service, reason]) => `${service}: ${reason}`),
    ...engine.strays.map((error) => `an unexpected error: ${error}`),
  ].map(redact);
  record({
    type: 'run-finished',
    finishedAt: new Date().toISOString(),
    interrupted: causes.length > 0,
    reason: causes.length > 0 ? causes.join('; ') : bailed ? String(signal.reason) : null,
  });
}

function describeFault(error: unknown): string {
  return error instanceof HarnessError ? error.message : traceOf(error);
}
