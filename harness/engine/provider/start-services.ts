import { UsageError } from '../../base/exit.ts';
import { reasonOf } from '../../base/thrown.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { StartFailure } from '../../providers/provider.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import { plainLine } from '../../report/results/words/plain.ts';
import type { Progress } from '../../report/terminal/progress.ts';
import type { Redaction } from '../../wire/redaction/redaction.ts';
import { addressOf } from '../../wire/socket/address.ts';
import { proxyFor } from '../../wire/socket/proxies.ts';
import { announcementOf } from '../announcement.ts';
import type { Selection } from '../selection/selection.ts';
import type { Providers } from './providers.ts';
import { startProvider } from './start.ts';

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
