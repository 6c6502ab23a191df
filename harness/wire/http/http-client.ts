import type { ConnectionUse, Exchange, ExchangeFailure } from '../exchange.ts';
import { openHttp2 } from '../http2/http2-client.ts';
import { Stopwatch } from '../pace/clock.ts';
import { type HttpRequest, SAFE_METHODS } from '../request.ts';
import { addressOf, refusePlainHttp } from '../socket/address.ts';
import { type Dialed, dial } from '../socket/dial.ts';
import { abortedFailure } from '../socket/failure.ts';
import { responseLimits, type TransportOptions } from '../socket/options.ts';
import { type ConnectionEnding, HttpConnection } from './http-connection.ts';
import { recordExchange } from './record-exchange.ts';
import { type OrdinaryRequest, writeOrdinary } from './request.ts';
import { RequestsUnderWay } from './requests-under-way.ts';
import type { HttpAbout, HttpOptions, HttpTransport } from './transport.ts';

interface Attempt {
  readonly ending: ConnectionEnding | { readonly reader: null; readonly failure: ExchangeFailure };
  readonly use: ConnectionUse;
  /** The connection had stood for a while when the request went out: the server may have ended it meanwhile. */
  readonly stood: boolean;
  readonly stopwatch: Stopwatch;
}

/** The ordinary HTTP client of a session, in the version of HTTP that the service is asked in by then. */
export function openHttp(options: HttpOptions): HttpTransport {
  const http1 = openHttp1(options);
  const http2 = openHttp2(options);
  return {
    send: (request, about) => (options.versions?.isHttp2 ? http2 : http1).send(request, about),
    close: async () => void (await Promise.all([http1.close(), http2.close()])),
  };
}

/**
 * The client for HTTP/1.1. A request has a connection of its own, so that a late response never answers
 * another one; the last connection is listened to until the next request was answered.
 */
function openHttp1(options: HttpOptions): HttpTransport {
  const address = addressOf(options.baseUrl);
  const limits = responseLimits(options);
  const { clock, timeouts } = options;
  let kept: HttpConnection | null = null;
  const underWay = new RequestsUnderWay(options);

  const ahead: Promise<Dialed>[] = [];

  /** A connection that was never asked, and on which nothing was said. */
  async function connect(signal: AbortSignal): Promise<Dialed & { readonly stood: boolean }> {
    if (!options.ahead) return { ...(await dial(address, options, signal)), stood: false };
    while (ahead.length <= options.ahead) ahead.push(dial(address, options, underWay.closing));
    const socket = (await ahead.shift())?.socket;
    await turn();
    if (socket && !socket.destroyed && socket.readableLength === 0)
      return { socket, failure: null, stood: true };
    socket?.destroy();
    return { ...(await dial(address, options, signal)), stood: false };
  }

  function dropAhead(): void {
    for (const each of ahead.splice(0)) void each.then(({ socket }) => socket?.destroy());
  }

  /** The kept connection, if it is good as far as can be known. */
  async function takeKept(): Promise<HttpConnection | null> {
    const connection = kept;
    kept = null;
    await turn();
    if (connection?.usable) return connection;
    connection?.destroy();
    return null;
  }

  function release(connection: HttpConnection, keep: boolean): void {
    kept?.destroy();
    kept = keep && !underWay.closing.aborted && connection.usable ? connection : null;
    if (kept === null) connection.destroy();
  }

  async function attempt(sent: OrdinaryRequest, about: HttpAbout, reusable: boolean): Promise<Attempt> {
    const reused = reusable ? await takeKept() : null;
    const use = { reused: reused !== null, replaced: null };
    const stopwatch = new Stopwatch(clock);
    const signal = underWay.signalOf(about);
    let connection = reused;
    let stood = reused !== null;
    if (!connection) {
      const dialed = await connect(signal);
      const { socket, failure } = dialed;
      if (!socket) return { ...notMade(failure, clock), stood, stopwatch };
      stood = dialed.stood;
      connection = new HttpConnection(socket);
      stopwatch.markConnected();
    }
    const unasked = (octets: Uint8Array) => about.unasked?.(octets, about.id);
    if (signal.aborted) {
      connection.destroy();
      return { ...notMade(abortedFailure(signal, 'aborted while connecting'), clock), use, stood, stopwatch };
    }
    const ending = await connection.exchange(sent, { clock, timeouts, limits, signal, stopwatch, unasked });
    release(connection, ending.failure === null);
    return { ending, use, stood, stopwatch };
  }

  async function exchange(request: HttpRequest, about: HttpAbout): Promise<Exchange> {
    const sent = writeOrdinary(request, address, options);
    const refusal =
      refusePlainHttp(address, about.credential, options, sent.octets) ?? underWay.aborted(about);
    const safe = SAFE_METHODS.has(request.method);
    const made = refusal
      ? notMade(refusal, clock)
      : await attempts(sent, about, safe && about.onKept === true);
    const { reader, failure } = made.ending;
    const { use, stopwatch } = made;
    const whole = { ...sent, body: request.body ?? null };
    return recordExchange(whole, { read: reader, failure, use, stopwatch }, about, address, options);
  }

  /**
   * A request that is evidence is sent once. The one exception: the server had closed a connection that had stood for a
   * while just as the request went out on it, with or without a 408. That says nothing about the provider (RFC 9112
   * §9.3.1 has clients retry), unless another connection is not taken either: then it was the provider that went away.
   */
  async function attempts(sent: OrdinaryRequest, about: HttpAbout, reusable: boolean): Promise<Attempt> {
    const first = await attempt(sent, about, reusable);
    const { ending, stood } = first;
    if (!stood || ending.reader === null || !ending.unanswered) return first;
    dropAhead();
    const second = await attempt(sent, about, false);
    if (second.ending.reader === null) return first;
    return {
      ...second,
      use: {
        reused: false,
        replaced: `the connection was gone: ${ending.failure?.message ?? 'it had been idle for too long'}`,
      },
    };
  }

  return {
    send: (request, about) => underWay.take(() => exchange(request, about)),
    async close() {
      underWay.abort();
      kept?.destroy();
      kept = null;
      dropAhead();
      await underWay.ended();
    },
  };
}

/** One turn of the event loop, so that what has already arrived is seen. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function notMade(failure: ExchangeFailure, clock: TransportOptions['clock']): Attempt {
  return {
    ending: { reader: null, failure },
    use: { reused: false, replaced: null },
    stood: false,
    stopwatch: new Stopwatch(clock),
  };
}
