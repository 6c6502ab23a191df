import { isJsonObject } from '../../base/json-text.ts';
import type { Outcome } from '../../base/verdict.ts';
import { isPackedSecret, type PackedRunSecrets, type PackedSecret } from '../../config/secrets.ts';
import { nameElsewhere } from '../../wire/redaction/marker.ts';
import type { QuotaTurn } from '../turns/turns.ts';

/** What a worker is given, by structured clone over its private channel; never written anywhere. */
export interface WorkerInput {
  readonly run: RunInput;
  readonly services: readonly ServiceInput[];
  /** How many of them it judges at the same time. */
  readonly sideBySide: number;
}

/** What all workers of a run are given. */
export interface RunInput {
  readonly secrets: PackedRunSecrets;
  readonly runId: string;
  /** `conform/1.2.3`. */
  readonly userAgent: string;
  readonly journalPath: string;
  /** URL of the module whose `suites` are run. */
  readonly suitesUrl: string;
  readonly strict: boolean;
  /** The longest active time of one check, in ms; null for the usual one. */
  readonly checkLimitMs: number | null;
}

/** One service of a run. */
export interface ServiceInput {
  readonly service: string;
  /** `packService(config)`: validated, secrets in memory. */
  readonly config: unknown;
  /** null: the worker starts the provider itself, which is built in, and shares a clock with it that leaps over waits. */
  readonly providerUrl: string | null;
  /** A command line that runs this service by itself, as it is run here. */
  readonly runAlone: string;
  /** Ids of the checks to judge. */
  readonly selected: readonly string[];
  /** What an earlier worker has left of it; null where this is the first. */
  readonly left: LeftOver | null;
}

export function isSimulated({ providerUrl }: ServiceInput): boolean {
  return providerUrl === null;
}

/** Where a worker came to its end before a service was done. */
export interface LeftOver {
  /** Ids of the checks that it had judged. */
  readonly judged: readonly string[];
  /** Number of its last piece of evidence; 0 when there was none. */
  readonly lastEvidence: number;
  /** Requests that it had sent to the service. */
  readonly requestsSent: number;
  /** When it came to its end, Unix time in ms: until then it may have spent the quota. */
  readonly endedMs: number;
}

/**
 * What a worker tells the main process while it runs. Only for progress, for secrets and for noticing a worker that
 * hangs: results travel through the journal, which survives both processes, as long as it can be written.
 */
export type WorkerMessage =
  | ({ readonly conform: 1 } & (
      | { readonly type: 'hello'; readonly pid: number }
      | { readonly type: 'alive' }
      | ({ readonly type: 'unwritten' } & Unwritten)
      /** A suite has printed it. */
      | { readonly type: 'printed'; readonly text: string }
      /** What the harness got wrong, such as suites that do not load. */
      | { readonly type: 'fault'; readonly error: string }
      /** An error that belongs to no check, such as an unhandled rejection: nobody knows what it spoiled. */
      | { readonly type: 'stray'; readonly error: string }
      /** There is nothing more to come. */
      | { readonly type: 'done' }
    ))
  | ServiceMessage;

/** A line that the journal did not take. */
export interface Unwritten {
  readonly line: string;
  /** In words. */
  readonly why: string;
}

/** What it tells of one of its services. */
export type ServiceMessage = {
  readonly conform: 1;
  readonly service: string;
} /** What is to come, in words; null where nobody knows. Nothing has been sent yet. */ & (
  | { readonly type: 'estimate'; readonly cost: string | null }
  /** There is evidence that is judged now; told where the worker was at another service before. */
  | { readonly type: 'evidence' }
  | { readonly type: 'outcome'; readonly suite: string; readonly id: string; readonly outcome: Outcome }
  /** It waits on purpose; `untilMs` is Unix time in ms. */
  | { readonly type: 'waiting'; readonly reason: string; readonly untilMs: number }
  /** The service cannot be exercised any more. */
  | { readonly type: 'outage'; readonly reason: string }
  /** One that has arrived, for whoever keeps secrets out of logs and reports; never written anywhere. */
  | { readonly type: 'secret'; readonly name: string; readonly value: string }
  /** It wants its provider started anew; the answer is `renewed`. */
  | { readonly type: 'renew' }
  /** It wants its quota to itself; the answer is `turn`. */
  | { readonly type: 'turn' }
  | { readonly type: 'finished' }
);

/** `Omit` over the union would lose its variants; this keeps them. */
type WithoutEnvelope<T> = T extends unknown ? Omit<T, 'conform' | 'service'> : never;
export type ServiceNews = WithoutEnvelope<ServiceMessage>;

export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return isJsonObject(message) && message.conform === 1;
}

/** A secret that one service has learned, as the others know it. */
export function learnedElsewhere(message: ServiceMessage & { readonly type: 'secret' }): PackedSecret {
  const secretName = nameElsewhere(message.name, message.service);
  return { secretName, secretValue: message.value, secretPlace: secretName };
}

/** What became of a provider that a worker wants to have started anew: its address, or why there is none. */
export type Renewed = { readonly url: string } | { readonly reason: string };

/** What the main process tells a worker: its work once, and first. */
export type MainMessage = { readonly conform: 1 } & (
  | { readonly work: WorkerInput }
  /** The run is over for whatever is not judged. */
  | { readonly cancelled: true }
  /** All that it has told is heard. */
  | { readonly over: true }
  | ({ readonly service: string } & (Pick<Replies, 'renewed'> | Pick<Replies, 'turn'>))
  /** One that another worker has learned. */
  | { readonly secret: PackedSecret }
);

/** What the main process answers about one service: to a `renew`, and to a `turn`. */
interface Replies {
  readonly renewed: Renewed;
  readonly turn: QuotaTurn;
}

/** Calls back for each secret that another worker has learned, as long as this process lives. */
export function hearSecrets(heard: (secret: PackedSecret) => void): void {
  process.on('message', (message: unknown) => {
    if (isJsonObject(message) && message.conform === 1 && isPackedSecret(message.secret))
      heard(message.secret);
  });
}

/** Has the provider of a service started anew, or waits for its turn: the main process's answer to what `ask` tells it. */
export function askFor<M extends keyof Replies>(
  member: M,
  service: string,
  ask: () => void,
): Promise<Replies[M]> {
  return new Promise((resolve) => {
    const take = (message: unknown) => {
      if (!isJsonObject(message) || message.conform !== 1) return;
      if (!(member in message) || message.service !== service) return;
      process.off('message', take);
      resolve(message[member] as Replies[M]);
    };
    process.on('message', take);
    ask();
  });
}
