import { AsyncLocalStorage } from 'node:async_hooks';
import pLimit from 'p-limit';

/**
 * How many WebSocket connections are open at the same time: one, for a service may keep no more of one client, until
 * it is known to keep several.
 */
export class Places {
  readonly #limit = pLimit(1);
  readonly #taken = new AsyncLocalStorage<true>();

  /** So many are kept, as was found out. */
  widen(count: number): void {
    this.#limit.concurrency = Math.max(1, count);
  }

  /** What is opened in the course of a conversation belongs to it, and takes no place of its own. */
  take<T>(conversing: () => Promise<T>): Promise<T> {
    if (this.#taken.getStore()) return conversing();
    return this.#limit(() => this.#taken.run(true, conversing));
  }
}
