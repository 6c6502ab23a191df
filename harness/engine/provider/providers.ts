import { HarnessError, UsageError } from '../../base/exit.ts';
import { reasonOf } from '../../base/thrown.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { type RunningProvider, StartFailure } from '../../providers/provider.ts';
import { eventsIn, type JournalEvent } from '../../report/results/fold/events.ts';
import { plainLine } from '../../report/results/words/plain.ts';
import type { Progress } from '../../report/terminal/progress.ts';
import type { Journal } from '../../wire/record/journal.ts';
import type { Redaction } from '../../wire/redaction/redaction.ts';
import { addressOf } from '../../wire/socket/address.ts';
import { proxyFor } from '../../wire/socket/proxies.ts';
import { announcementOf } from '../announcement.ts';
import type { Selection } from '../selection/selection.ts';
import { startProvider } from './start.ts';

/** A connection breaks before the process is known to have ended: a busy container runtime tells it seconds later. */
const PATIENCE_MS = 10_000;

/** The providers of a run, by service: what they write, how they end, and that they are stopped in every ending. */
export class Providers {
  readonly #running = new Map<string, RunningProvider>();
  /** What those wrote that are there no more, one after the other. */
  readonly #earlier = new Map<string, readonly string[]>();
  readonly #renewals = new Set<Promise<unknown>>();
  #stopped = false;

  started(service: string, provider: RunningProvider): void {
    this.#running.set(service, provider);
    if (this.#stopped) void provider.stop();
  }

  /** Did not start; `logs` is what it wrote until then. */
  failed(service: string, logs: string): void {
    this.#earlier.set(service, [...(this.#earlier.get(service) ?? []), logs]);
  }

  /**
   * Ends the provider of a service and starts it again. Returns its address.
   *
   * @throws as the start of a provider does; nothing is there then.
   */
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

  /** What each has written so far, of those that are known to have written something. */
  logs(): ReadonlyMap<string, string> {
    const services = new Set([...this.#earlier.keys(), ...this.#running.keys()]);
    const all = [...services].map((service) => {
      const written = [...(this.#earlier.get(service) ?? []), this.#running.get(service)?.logs?.() ?? ''];
      return [service, written.filter((logs) => logs !== '').join('\n')] as const;
    });
    return new Map(all.filter(([, logs]) => logs !== ''));
  }

  /**
   * How those came to their end that ended of their own; one with an outage may be about to. `only`: of this service.
   */
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

  /** Ends all of them; what does not end within `ms` is not waited for any more. */
  async stop(ms: number): Promise<void> {
    this.#stopped = true;
    const patience = new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
    const stopAll = async () => {
      await Promise.allSettled(this.#renewals);
      await Promise.all([...this.#running.values()].map((each) => each.stop()));
    };
    await Promise.race([stopAll(), patience]);
  }

  /** Ends what can be ended without waiting, for a process on its way out. */
  abandon(): void {
    for (const provider of this.#running.values()) provider.abandon?.();
  }
}

/**
 * Adds to a journal what has become of the providers that ended while they were judged, or of that of one service. A
 * worker sees only that nobody answers any more; the checks that were blocked for it then say why.
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
  return [{ type: 'service-trouble', service, reason }, ...explained];
}

interface RenewalContext {
  readonly providers: Providers;
  /** What the run has written down so far. */
  readonly read: Journal['read'];
  readonly record: (event: JournalEvent) => void;
  readonly redact: (text: string) => string;
}

/**
 * Ends the provider of a service and starts it again. That it has ended of its own before is written down first: it
 * would be forgotten with it. Never rejects.
 */
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

/** A service whose provider can be asked. */
export interface StartedService {
  readonly config: ServiceConfig;
  /** null: its worker starts it, and simulates time. */
  readonly providerUrl: string | null;
  /** Ids of the checks to judge. */
  readonly selected: readonly string[];
}

interface StartContext {
  readonly record: (event: JournalEvent) => void;
  /** Receives every provider that was started, so that all are stopped in every ending. */
  readonly providers: Providers;
  readonly runId: string;
  /** Whether a service and its provider share a simulated time. */
  readonly isSimulated: (config: ServiceConfig) => boolean;
  readonly progress: Progress;
  readonly redaction: Redaction;
  /** Aborted, no start is waited for any more. */
  readonly signal: AbortSignal;
}

/** UTF-16 units that are shown of what a start says of itself. */
const SAID = 500;

/**
 * Starts the providers, side by side. A service whose provider does not start has an outage, the others run.
 *
 * @throws UsageError for a provider that cannot be meant, such as one with an unknown defect.
 */
export async function startServices(
  configs: readonly ServiceConfig[],
  selection: Selection,
  context: StartContext,
): Promise<readonly StartedService[]> {
  const starts = await Promise.allSettled(configs.map((config) => startService(config, selection, context)));
  // Only when all have settled is every provider known that has to be stopped.
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
