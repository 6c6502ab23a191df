import { isJsonObject } from '../../base/json-text.ts';
import { isPackedSecret, type PackedSecret } from '../../config/secrets.ts';
import type { Outcome } from '../../contract/outcome.ts';

/** What a worker is given, by structured clone over its private channel; never written anywhere. */
export interface WorkerInput {
  readonly service: string;
  /** `packService(config)`: validated, secrets in memory. */
  readonly config: unknown;
  /** Of the whole run, its own first. */
  readonly secrets: readonly PackedSecret[];
  /** null: the worker starts the provider itself, which is built in, and shares a clock with it that leaps over waits. */
  readonly providerUrl: string | null;
  readonly runId: string;
  /** `conform/1.2.3`. */
  readonly userAgent: string;
  readonly journalPath: string;
  /** A command line that runs this service by itself, as it is run here. */
  readonly runAlone: string;
  /** URL of the module whose `suites` are run. */
  readonly suitesUrl: string;
  /** Ids of the checks to judge. */
  readonly selected: readonly string[];
  readonly strict: boolean;
  /** Whether the run is rehearsed first, so that it is known what it costs. */
  readonly rehearsed: boolean;
  /** The longest active time of one check, in ms; null for the usual one. */
  readonly checkLimitMs: number | null;
}

declare module 'vitest' {
  interface ProvidedContext {
    conform: WorkerInput;
  }
}

/**
 * What a service's worker tells the main process while it runs. Only for progress, for secrets and for noticing a
 * worker that hangs: results travel through the journal, which survives both processes.
 */
export type WorkerMessage = { readonly conform: 1; readonly service: string } & (
  | { readonly type: 'hello'; readonly pid: number }
  | { readonly type: 'alive' }
  /** What is to come, in words; null where nobody knows. Nothing has been sent yet. */
  | { readonly type: 'estimate'; readonly cost: string | null }
  | { readonly type: 'outcome'; readonly suite: string; readonly id: string; readonly outcome: Outcome }
  /** The worker waits on purpose; `untilMs` is Unix time in ms. */
  | { readonly type: 'waiting'; readonly reason: string; readonly untilMs: number }
  /** The service cannot be exercised any more. */
  | { readonly type: 'trouble'; readonly reason: string }
  /** One that has arrived, for whoever keeps secrets out of logs and reports; never written anywhere. */
  | { readonly type: 'secret'; readonly name: string; readonly value: string }
  /** It wants its provider started anew; the answer is a `RenewalReply`. */
  | { readonly type: 'renew' }
  | { readonly type: 'finished' }
);

/** `Omit` over the union would lose its variants; this keeps them. */
type WithoutEnvelope<T> = T extends unknown ? Omit<T, 'conform' | 'service'> : never;
export type WorkerNews = WithoutEnvelope<WorkerMessage>;

export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return isJsonObject(message) && message.conform === 1;
}

/** What became of a provider that a worker wants to have started anew: its address, or why there is none. */
export type Renewed = { readonly url: string } | { readonly reason: string };

/** What the main process tells a worker. */
export type MainMessage = { readonly conform: 1 } & (
  | RenewalReply
  /** One that another worker has learned. */
  | { readonly secret: PackedSecret }
);

/** The main process's answer to a worker's `renew`. */
interface RenewalReply {
  readonly renewed: Renewed;
}

/** Calls back for each secret that another worker has learned, as long as this process lives. */
export function hearSecrets(heard: (secret: PackedSecret) => void): void {
  process.on('message', (message: unknown) => {
    if (isJsonObject(message) && message.conform === 1 && isPackedSecret(message.secret))
      heard(message.secret);
  });
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
