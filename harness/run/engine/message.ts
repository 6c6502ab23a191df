import type { Outcome } from '../../contract/outcome.ts';
import { isJsonObject } from '../../json-text.ts';

/**
 * What a service's worker tells the main process while it runs. Only for progress and for noticing a worker
 * that hangs: results travel through the journal, which survives both processes.
 */
export type WorkerMessage = { readonly conform: 1; readonly service: string } & (
  | { readonly type: 'hello'; readonly pid: number }
  | { readonly type: 'alive' }
  | { readonly type: 'outcome'; readonly suite: string; readonly id: string; readonly outcome: Outcome }
  /** The worker waits on purpose; `untilMs` is Unix time in ms. */
  | { readonly type: 'waiting'; readonly reason: string; readonly untilMs: number }
  /** The service cannot be exercised any more. */
  | { readonly type: 'trouble'; readonly reason: string }
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
