import { isJsonObject } from '../../json-text.ts';
import { StartFailure } from '../../provider/provider.ts';
import type { JournalEvent } from '../../report/results/events.ts';
import { reasonOf } from '../../thrown.ts';
import { recordEndings } from '../provider/provider-ending.ts';
import type { Providers } from '../provider/providers.ts';

/** What became of a provider that a worker wants to have started anew: its address, or why there is none. */
export type Renewed = { readonly url: string } | { readonly reason: string };

/** The main process's answer to a worker's `renew`. */
export interface RenewalReply {
  readonly conform: 1;
  readonly renewed: Renewed;
}

interface RenewalContext {
  readonly providers: Providers;
  /** What the run has written down so far. */
  readonly entries: () => readonly unknown[];
  readonly record: (event: JournalEvent) => void;
  readonly redact: (text: string) => string;
}

/**
 * Ends the provider of a service and starts it again. That it has ended of its own before is written down first: it
 * would be forgotten with it. Never rejects.
 */
export async function renewProvider(
  service: string,
  { providers, entries, record, redact }: RenewalContext,
): Promise<Renewed> {
  try {
    await recordEndings(providers, entries(), record, service);
    return { url: await providers.renew(service) };
  } catch (error) {
    if (error instanceof StartFailure) providers.failed(service, error.logs);
    const reason = reasonOf(error);
    return { reason: redact(`its provider did not start anew: ${reason}`) };
  }
}

/** Has the provider of this worker started anew. What else comes over the channel is the engine's. */
export function askForRenewal(ask: () => void): Promise<Renewed> {
  return new Promise((resolve) => {
    const take = (message: unknown) => {
      if (!isRenewalReply(message)) return;
      process.off('message', take);
      resolve(message.renewed);
    };
    process.on('message', take);
    ask();
  });
}

function isRenewalReply(message: unknown): message is RenewalReply {
  return isJsonObject(message) && message.conform === 1 && 'renewed' in message;
}
