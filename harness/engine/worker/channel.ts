import { isJsonObject } from '../../base/json-text.ts';
import type { Outcome } from '../../base/verdict.ts';
import { isPackedSecret, type PackedRunSecrets, type PackedSecret } from '../../config/secrets.ts';
import { nameElsewhere } from '../../wire/redaction/marker.ts';
import type { QuotaTurn } from '../turns/turns.ts';

/** The work of a worker, sent over its private channel and never written. */
export interface WorkerInput {
  readonly run: RunInput;
  readonly services: readonly ServiceInput[];
  /** Number of services at the same time. */
  readonly sideBySide: number;
}

/** Common to all workers of a run. */
export interface RunInput {
  readonly secrets: PackedRunSecrets;
  readonly runId: string;
  readonly userAgent: string;
  readonly journalPath: string;
  /** URL of the module with the `suites`. */
  readonly suitesUrl: string;
  readonly strict: boolean;
  /** Longest active time of one check, in ms; null for the default. */
  readonly checkLimitMs: number | null;
}

export interface ServiceInput {
  readonly service: string;
  /** `packService(config)`: validated, with secrets. */
  readonly config: unknown;
  /** null: the worker starts the built-in provider itself, in simulated time. */
  readonly providerUrl: string | null;
  /** A command line that runs this service alone. */
  readonly runAlone: string;
  readonly selected: readonly string[];
  /** State left by an earlier worker; null for the first. */
  readonly left: LeftOver | null;
}

export function isSimulated({ providerUrl }: ServiceInput): boolean {
  return providerUrl === null;
}

/** The state of a service whose worker ended early. */
export interface LeftOver {
  /** Ids of the judged checks. */
  readonly judged: readonly string[];
  /** Number of its last piece of evidence; 0 for none. */
  readonly lastEvidence: number;
  /** Requests sent to the service. */
  readonly requestsSent: number;
  /** Unix time in ms until which it may have spent the quota. */
  readonly endedMs: number;
}

/**
 * Messages of a worker about progress, secrets and its health. Results travel through the journal, which survives
 * both processes.
 */
export type WorkerMessage =
  | ({ readonly conform: 1 } & (
      | { readonly type: 'hello'; readonly pid: number }
      | { readonly type: 'alive' }
      | ({ readonly type: 'unwritten' } & Unwritten)
      /** Printed by a suite. */
      | { readonly type: 'printed'; readonly text: string }
      /** A fault of the harness, such as suites that do not load. */
      | { readonly type: 'fault'; readonly error: string }
      /** An error of no check, such as an unhandled rejection, with unknown effects. */
      | { readonly type: 'stray'; readonly error: string }
      | { readonly type: 'done' }
    ))
  | ServiceMessage;

/** A line that the journal did not take, and why. */
export interface Unwritten {
  readonly line: string;
  readonly why: string;
}

export type ServiceMessage = {
  readonly conform: 1;
  readonly service: string;
} /** The cost in words, before anything is sent; null if unknown. */ & (
  | { readonly type: 'estimate'; readonly cost: string | null }
  /** Evidence. `request`: its method and path, now and then; null otherwise. */
  | { readonly type: 'evidence'; readonly request: string | null }
  | { readonly type: 'outcome'; readonly suite: string; readonly id: string; readonly outcome: Outcome }
  /** A deliberate wait; `untilMs` is Unix time in ms. */
  | { readonly type: 'waiting'; readonly reason: string; readonly untilMs: number }
  | { readonly type: 'outage'; readonly reason: string }
  /** A secret that arrived, for redaction only; never written. */
  | { readonly type: 'secret'; readonly name: string; readonly value: string }
  /** Asks for a restart of its provider; the reply is `renewed`. */
  | { readonly type: 'renew' }
  /** Asks for its quota; the reply is `turn`. */
  | { readonly type: 'turn' }
  | { readonly type: 'finished' }
);

/** Unlike `Omit`, it keeps the variants of the union. */
type WithoutEnvelope<T> = T extends unknown ? Omit<T, 'conform' | 'service'> : never;
export type ServiceNews = WithoutEnvelope<ServiceMessage>;

export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return isJsonObject(message) && message.conform === 1;
}

/** A secret of one service, as other workers know it. */
export function learnedElsewhere(message: ServiceMessage & { readonly type: 'secret' }): PackedSecret {
  const secretName = nameElsewhere(message.name, message.service);
  return { secretName, secretValue: message.value, secretPlace: secretName };
}

/** The address of a restarted provider, or why there is none. */
export type Renewed = { readonly url: string } | { readonly reason: string };

/** Messages to a worker: first its work. */
export type MainMessage = { readonly conform: 1 } & (
  | { readonly work: WorkerInput }
  /** The run is over. */
  | { readonly cancelled: true }
  /** All its messages were read. */
  | { readonly over: true }
  | ({ readonly service: string } & (Pick<Replies, 'renewed'> | Pick<Replies, 'turn'>))
  /** Learned by another worker. */
  | { readonly secret: PackedSecret }
);

interface Replies {
  readonly renewed: Renewed;
  readonly turn: QuotaTurn;
}

/** Calls back for each secret learned by another worker. */
export function hearSecrets(heard: (secret: PackedSecret) => void): void {
  process.on('message', (message: unknown) => {
    if (isJsonObject(message) && message.conform === 1 && isPackedSecret(message.secret))
      heard(message.secret);
  });
}

/** Sends a question of a service with `ask` and waits for the reply of the main process. */
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
