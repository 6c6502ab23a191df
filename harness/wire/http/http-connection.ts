import type { Socket } from 'node:net';
// undici's index loads all that it has, and takes as long as a Node to start.
import errors from 'undici/lib/core/errors.js';
import Client from 'undici/lib/dispatcher/client.js';
import { HarnessError } from '../../base/exit.ts';
import { codeOf } from '../../base/thrown.ts';
import { isUnasked } from '../exchange/unasked.ts';
import type { ExchangeFailure } from '../exchange.ts';
import { type Clock, type Stopwatch, startDeadline } from '../pace/clock.ts';
import { ResponseReader } from '../reader/http1-reader.ts';
import type { Address } from '../socket/address.ts';
import { abortedFailure, errorLine, failureKind } from '../socket/failure.ts';
import { exchangeMs, type ResponseLimits, type Timeouts } from '../socket/options.ts';
import { readerFailure, readerLimits } from '../socket/recording.ts';

/** One request as undici takes it: `headers` are flat pairs, without Host, Connection and Content-Length. */
export interface Dispatch {
  readonly method: string;
  readonly path: string;
  readonly headers: string[];
  readonly host: string | null;
  readonly body: Uint8Array | null;
  readonly close: boolean;
}

interface Bounds {
  readonly timeouts: Timeouts;
  readonly limits: ResponseLimits;
  readonly signal: AbortSignal | undefined;
  /** Told of octets that come once the response is whole, until something else is asked. */
  readonly unasked: ((octets: Uint8Array) => void) | undefined;
}

export interface ConnectionEnding {
  readonly reader: ResponseReader;
  readonly failure: ExchangeFailure | null;
  /** The server ended or reset the connection, and not one octet of an answer had come. */
  readonly unanswered: boolean;
}

interface Current {
  readonly reader: ResponseReader;
  received(): void;
}

/** undici's word for a request that it will not send: ours to send otherwise (`raw.ts`). */
const MISUSE_CODES = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
]);
const TWO = '2'.charCodeAt(0);
/** Each connection is ended by it: one of its own, with a stack that nobody reads, costs more than the connection. */
const OVER = new errors.ClientDestroyedError();

/**
 * One connection and the undici client that writes requests to it and keeps it alive. What the server answers is
 * read along by our own reader, octet for octet as it came: it knows the HTTP version, the framing faults and
 * what undici refuses to show, and it is what becomes evidence.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #client: Client;
  readonly #clock: Clock;
  #current: Current | null = null;
  #unasked: Bounds['unasked'];

  constructor(socket: Socket, address: Address, limits: ResponseLimits, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    // Attached before undici's own listeners, and while paused, so that each octet and the end are seen here first.
    socket.on('data', (octets: Buffer) => this.#receive(octets));
    socket.on('end', () => this.#current?.reader.end());
    let given = false;
    this.#client = new Client(`${address.secure ? 'https' : 'http'}://${address.authority}`, {
      allowH2: false,
      pipelining: 1,
      // Ours are exact, undici's are not: they may be late by up to a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Beyond our own limit, which counts more strictly and therefore strikes first.
      maxHeaderSize: limits.fieldBytes + 1,
      connect: (_options, callback) => {
        const first = !given;
        given = true;
        // undici does not expect its answer before this call returns.
        queueMicrotask(() => {
          if (first) callback(null, socket);
          else callback(new Error('the connection is gone'), null);
        });
      },
    });
  }

  get usable(): boolean {
    return (
      !this.#socket.destroyed && this.#socket.readable && this.#socket.writable && !this.#client.destroyed
    );
  }

  /**
   * Sends one request and reads its response until it is whole or the attempt is given up.
   * @throws HarnessError when undici will not send such a request.
   */
  exchange(dispatch: Dispatch, bounds: Bounds, stopwatch: Stopwatch): Promise<ConnectionEnding> {
    const { limits, signal, timeouts, unasked } = bounds;
    const reader = new ResponseReader({
      method: dispatch.method,
      limits: readerLimits(limits),
      // A 100 that nobody asked for is lawful (RFC 9110 §15.2), but undici takes it for an error: it is shown a
      // 102, which it passes over, once the reader has noted the 100.
      onContinue: (octets, lastDigit) => {
        octets[lastDigit] = TWO;
      },
    });
    return new Promise((resolve, reject) => {
      const stop = () => {
        for (const cancel of deadlines) cancel();
        signal?.removeEventListener('abort', aborted);
        this.#current = null;
      };
      let settled = false;
      const settle = (failure: ExchangeFailure | null, unanswered = false) => {
        if (settled) return;
        settled = true;
        stop();
        if (failure) this.destroy();
        resolve({ reader, failure, unanswered });
      };
      const aborted = () => settle(abortedFailure(signal, 'aborted while the response was awaited'));
      const late = (failure: string) => settle({ kind: 'response-timeout', message: failure });
      const deadlines = [
        startDeadline(this.#clock, timeouts.responseMs, () => {
          if (!reader.headWhole) late(`no status line and fields within ${timeouts.responseMs} ms`);
        }),
        startDeadline(this.#clock, exchangeMs(timeouts) - stopwatch.elapsed, () =>
          late(`the response was not whole after ${exchangeMs(timeouts)} ms`),
        ),
      ];
      signal?.addEventListener('abort', aborted, { once: true });
      this.#unasked = unasked;
      this.#current = {
        reader,
        received: () => {
          if (reader.headWhole) stopwatch.markResponse();
          if (reader.failure) settle(readerFailure(reader, limits));
        },
      };
      this.#client.dispatch(
        {
          method: dispatch.method,
          path: dispatch.path,
          headers: dispatch.host === null ? dispatch.headers : ['host', dispatch.host, ...dispatch.headers],
          body: dispatch.body,
          ...(dispatch.close ? { reset: true } : {}),
        },
        {
          // undici demands these two; what they are told, the reader knows already.
          onRequestStart: () => undefined,
          onResponseStart: () => undefined,
          onResponseData: () => undefined,
          onResponseEnd: () => settle(endFailure(reader, limits, this.#socket.errored)),
          onResponseError: (_controller, error) => {
            if (MISUSE_CODES.has(codeOf(error) ?? '')) {
              stop();
              this.destroy();
              reject(
                new HarnessError(`an ordinary request cannot be sent like this: ${errorLine(error)}`, {
                  cause: error,
                }),
              );
              return;
            }
            const failure = endFailure(reader, limits, error);
            settle(failure, !reader.sawOctets);
          },
        },
      );
    });
  }

  destroy(): void {
    this.#client.destroy(OVER).catch(() => undefined);
    this.#socket.destroy();
  }

  #receive(octets: Buffer): void {
    const current = this.#current;
    // HTTP/1.1 knows which response belongs to a request by their order alone (RFC 9112 §9.2). What answers nothing must
    // not answer the next one: undici ends the connection for it.
    if (!current) {
      if (isUnasked(octets)) this.#unasked?.(octets);
      return;
    }
    current.reader.push(octets);
    current.received();
  }
}

/** What became of an exchange that undici calls ended (`error` null) or failed. */
function endFailure(
  reader: ResponseReader,
  limits: ResponseLimits,
  error: Error | null,
): ExchangeFailure | null {
  const failure = readerFailure(reader, limits);
  if (failure) return failure;
  // undici fails an unasked-for 101 only because it does not want to upgrade.
  if (reader.complete && (error === null || reader.response?.status === 101)) return null;
  // undici takes white space behind the number of Content-Length for further digits (RFC 9112 §5.1 allows it).
  const isMiscounted = error instanceof errors.ResponseContentLengthMismatchError;
  if (reader.complete && isMiscounted && reader.faults.length === 0) return null;
  const kind = reader.complete ? 'malformed' : failureKind(error, 'closed');
  const faults = reader.faults.length > 0 ? ` (${reader.faults.join(', ')})` : '';
  return { kind, message: `${whereItBroke(reader)}: ${errorLine(error ?? 'it ended')}${faults}` };
}

function whereItBroke(reader: ResponseReader): string {
  if (reader.complete) return 'the response does not hold together';
  if (reader.headWhole) return 'broken off within the body';
  return reader.sawOctets ? 'broken off within the header section' : 'no answer';
}
