import { HarnessError, UsageError } from '../../base/exit.ts';
import { listed } from '../../base/text.ts';
import { reasonOf } from '../../base/thrown.ts';
import { shownValues } from '../../config/secrets.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { type RunningProvider, StartFailure } from '../../providers/provider.ts';
import { eventsIn, type JournalEvent } from '../../report/results/fold/events.ts';
import { plainLine } from '../../report/results/words/plain.ts';
import type { Progress } from '../../report/terminal/progress.ts';
import type { Journal } from '../../wire/record/journal.ts';
import { type Redaction, SHORTEST_SECRET } from '../../wire/redaction/redaction.ts';
import { addressOf } from '../../wire/socket/address.ts';
import { proxyFor } from '../../wire/socket/proxies.ts';
import { announcementOf } from '../announcement.ts';
import type { Selection } from '../selection/selection.ts';
import { startProvider } from './start.ts';

/** Milliseconds until a process is known to have ended: a busy container runtime reports it late. */
const PATIENCE_MS = 10_000;

/** The providers of a run, by service: their output, their endings, and their stop in every ending of the run. */
export class Providers {
  readonly #running = new Map<string, RunningProvider>();
  /** Output of earlier providers, one after the other. */
  readonly #earlier = new Map<string, readonly string[]>();
  readonly #renewals = new Set<Promise<unknown>>();
  #stopped = false;

  started(service: string, provider: RunningProvider): void {
    this.#running.set(service, provider);
    if (this.#stopped) void provider.stop();
  }

  /** For a provider that did not start; `logs` is its output. */
  failed(service: string, logs: string): void {
    this.#earlier.set(service, [...(this.#earlier.get(service) ?? []), logs]);
  }

  /** Restarts the provider of a service and returns its address. @throws as a start does; no provider is left then. */
  async renew(service: string): Promise<string> {
    const renewal = this.#renew(service);
    this.#renewals.add(renewal);
    return renewal.finally(() => this.#renewals.delete(renewal));
  }

  async #renew(service: string): Promise<string> {
    const provider = this.#running.get(service);
    if (provider?.again === undefined)
      throw new HarnessError(`the provider of ${service} cannot be started again`);
    await provider.stop();
    this.#running.delete(service);
    this.failed(service, provider.logs?.() ?? '');
    const next = await provider.again();
    this.started(service, next);
    return next.url;
  }

  logs(): ReadonlyMap<string, string> {
    const services = new Set([...this.#earlier.keys(), ...this.#running.keys()]);
    const all = [...services].map((service) => {
      const written = [...(this.#earlier.get(service) ?? []), this.#running.get(service)?.logs?.() ?? ''];
      return [service, written.filter((logs) => logs !== '').join('\n')] as const;
    });
    return new Map(all.filter(([, logs]) => logs !== ''));
  }

  /** Reasons of the providers that ended by themselves; those with an outage may still end. `only`: of this service. */
  async endings(withOutage: ReadonlySet<string>, only?: string): Promise<ReadonlyMap<string, string>> {
    const asked = [...this.#running].filter(([service]) => only === undefined || service === only);
    const all = await Promise.all(
      asked.map(async ([service, provider]) => {
        const ending = await provider.ending?.(withOutage.has(service) ? PATIENCE_MS : 0);
        return [service, ending ?? ''] as const;
      }),
    );
    return new Map(all.filter(([, ending]) => ending !== ''));
  }

  /** Stops all; waits at most `ms`. */
  async stop(ms: number): Promise<void> {
    this.#stopped = true;
    const patience = new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
    const stopAll = async () => {
      await Promise.allSettled(this.#renewals);
      await Promise.all([...this.#running.values()].map((each) => each.stop()));
    };
    await Promise.race([stopAll(), patience]);
  }

  /** Stops without waiting, for a process that exits. */
  abandon(): void {
    for (const provider of this.#running.values()) provider.abandon?.();
  }
}

/**
 * Records the endings of providers that ended while they were judged, or that of one service, and adds them to the
 * checks that were blocked for it.
 */
export async function recordEndings(
  providers: Providers,
  read: Journal['read'],
  record: (event: JournalEvent) => void,
  only?: string,
): Promise<void> {
  const outages = eventsIn(read(['service-trouble']).entries);
  const withOutage = outages.flatMap((event) => (event.type === 'service-trouble' ? [event.service] : []));
  const endings = await providers.endings(new Set(withOutage), only);
  const events = endings.size === 0 ? [] : eventsIn(read(['service-trouble', 'outcome']).entries);
  for (const [service, ending] of endings) {
    for (const event of endingEvents(events, service, ending)) record(event);
  }
}

export function endingEvents(
  journal: readonly JournalEvent[],
  service: string,
  ending: string,
): readonly JournalEvent[] {
  const events = journal.filter((event) => 'service' in event && event.service === service);
  const seen = events.findLast((event) => event.type === 'service-trouble')?.reason;
  const reason =
    seen === undefined ? `its provider ended while it was judged: ${ending}` : `${seen}: ${ending}`;
  const explained = events.flatMap((event) => {
    if (event.type !== 'outcome' || event.outcome !== 'blocked') return [];
    if (seen === undefined || !event.message.includes(seen)) return [];
    return [{ ...event, message: event.message.replace(seen, () => reason) }];
  });
  return [{ type: 'service-trouble', service, reason, fault: 'service' }, ...explained];
}

interface RenewalContext {
  readonly providers: Providers;
  readonly read: Journal['read'];
  readonly record: (event: JournalEvent) => void;
  readonly redact: (text: string) => string;
}

/** Restarts the provider of a service, after recording its earlier ending. Never rejects. */
export async function renewProvider(
  service: string,
  { providers, read, record, redact }: RenewalContext,
): Promise<{ readonly url: string } | { readonly reason: string }> {
  try {
    await recordEndings(providers, read, record, service);
    return { url: await providers.renew(service) };
  } catch (error) {
    if (error instanceof StartFailure) providers.failed(service, error.logs);
    const reason = reasonOf(error);
    return { reason: redact(`its provider did not start anew: ${reason}`) };
  }
}

/** A service whose provider can be reached; a `providerUrl` of null is started by its worker, in simulated time. */
export interface StartedService {
  readonly config: ServiceConfig;
  readonly providerUrl: string | null;
  readonly selected: readonly string[];
}

interface StartContext {
  readonly record: (event: JournalEvent) => void;
  readonly providers: Providers;
  readonly runId: string;
  readonly isSimulated: (config: ServiceConfig) => boolean;
  readonly progress: Progress;
  readonly redaction: Redaction;
  readonly signal: AbortSignal;
}

/** UTF-16 units shown of a message of a start. */
const SAID = 500;

/**
 * Starts the providers side by side. A service whose provider does not start has an outage, the others run. @throws
 * UsageError for an invalid provider, such as one with an unknown defect.
 */
export async function startServices(
  configs: readonly ServiceConfig[],
  selection: Selection,
  context: StartContext,
): Promise<readonly StartedService[]> {
  const starts = await Promise.allSettled(configs.map((config) => startService(config, selection, context)));
  // Every started provider has to be known before an error is thrown.
  for (const start of starts) if (start.status === 'rejected') throw start.reason;
  return starts.flatMap((start) =>
    start.status === 'fulfilled' && start.value !== null ? [start.value] : [],
  );
}

async function startService(
  config: ServiceConfig,
  selection: Selection,
  { record, providers, runId, isSimulated, progress, redaction, signal }: StartContext,
): Promise<StartedService | null> {
  const redact = (text: string) => redaction.sink(text);
  const { service } = config;
  const announced = announcementOf(config, selection, redact);
  const { planned, cautions = [] } = announced;
  const simulated = isSimulated(config);
  const selected = planned.map(({ id }) => id);
  const announce = (provider: { kind: string; url: string; image?: string; proxy?: string }) => {
    record({
      type: 'service-started',
      ...announced,
      ...(simulated ? { simulatedTime: true } : {}),
      provider,
    });
    const shown = shownValues(config);
    if (shown.length > 0) {
      const text = `fewer than ${SHORTEST_SECRET} characters cannot be hidden: reports show the value of ${listed(shown)}`;
      record({ type: 'remark', service, text });
    }
    for (const caution of cautions) progress.say(`conform: ${service}: beware, ${caution}`);
    progress.serviceStarted(service, planned.length);
  };
  if (simulated) {
    announce({ kind: config.provider.kind, url: '' });
    return { config, providerUrl: null, selected };
  }
  try {
    const say = (text: string) => progress.say(`conform: ${service}: ${plainLine(redact(text), SAID)}`);
    const provider = await startProvider(config, { runId, signal, say, redaction });
    providers.started(service, provider);
    const { kind, url, image } = provider;
    const proxy = config.proxies && proxyFor(addressOf(url), config.proxies)?.shown;
    if (proxy) say(`through the proxy ${proxy}`);
    announce({
      kind,
      url: redact(url),
      ...(image === undefined ? {} : { image }),
      ...(proxy ? { proxy: redact(proxy) } : {}),
    });
    return { config, providerUrl: provider.url, selected };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof StartFailure) providers.failed(service, error.logs);
    announce({ kind: config.provider.kind, url: '' });
    const reason = redact(`its provider did not start: ${reasonOf(error)}`);
    record({ type: 'service-trouble', service, reason });
    record({ type: 'service-finished', service, requestsSent: 0, durationMs: 0 });
    progress.outage(service, reason);
    return null;
  }
}
