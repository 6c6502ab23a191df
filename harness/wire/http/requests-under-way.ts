import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import { HarnessError } from '../../base/exit.ts';
import type { ExchangeFailure } from '../exchange.ts';
import { abortedFailure } from '../socket/failure.ts';
import type { HttpAbout, HttpOptions } from './transport.ts';

/** The requests of a transport that are waiting or on their way, and their end when it is closed. */
export class RequestsUnderWay {
  readonly #closing = new AbortController();
  readonly #all = new Set<Promise<unknown>>();
  readonly #inTurn: ReturnType<typeof pLimit>;

  constructor({ connections = 1 }: Pick<HttpOptions, 'connections'>) {
    this.#inTurn = pLimit(connections);
    // Every request under way derives its own signal from this one.
    setMaxListeners(0, this.closing);
  }

  /** Aborted when the transport is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Aborted with the request, or when the transport is closed. */
  signalOf({ signal }: Pick<HttpAbout, 'signal'>): AbortSignal {
    return AbortSignal.any(signal ? [signal, this.closing] : [this.closing]);
  }

  /** Reason that a request is not sent any more; null for none. */
  aborted({ signal }: Pick<HttpAbout, 'signal'>): ExchangeFailure | null {
    if (this.closing.aborted) return abortedFailure(this.closing, 'aborted before sending');
    return signal?.aborted ? abortedFailure(signal, 'aborted before sending') : null;
  }

  /** @throws HarnessError after `abort`. */
  async take<T>(exchange: () => Promise<T>): Promise<T> {
    if (this.closing.aborted) throw new HarnessError('the transport is closed');
    const made = this.#inTurn(exchange);
    this.#all.add(made);
    try {
      return await made;
    } finally {
      this.#all.delete(made);
    }
  }

  abort(): void {
    this.#closing.abort(new Error('the transport was closed'));
  }

  /** Those under way notice the abort and end by themselves. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#all);
  }
}
