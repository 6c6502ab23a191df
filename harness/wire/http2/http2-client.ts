import type { ConnectionUse, Exchange, ExchangeFailure } from '../exchange.ts';
import { type Attempted, recordExchange } from '../http/record-exchange.ts';
import { RequestsUnderWay } from '../http/requests-under-way.ts';
import type { HttpAbout, HttpOptions, HttpTransport } from '../http/transport.ts';
import { Stopwatch } from '../pace/clock.ts';
import { type HttpRequest, SAFE_METHODS } from '../request.ts';
import { addressOf, refusePlainHttp } from '../socket/address.ts';
import { dial } from '../socket/dial.ts';
import { responseLimits, type TransportOptions } from '../socket/options.ts';
import { Listener } from '../stream/listening.ts';
import { Http2Connection, type StreamEnding } from './http2-connection.ts';
import { type Http2Request, writeHttp2 } from './http2-request.ts';

/** Times that a request is sent at most, if it is not processed. The last time it is alone: others may use a connection up. */
const MOST_TRIES = 4;
const FRESH: ConnectionUse = { reused: false, replaced: null };

interface StreamAttempt extends Attempted {
  readonly unprocessed: StreamEnding['unprocessed'];
  readonly connection: Http2Connection | null;
}

/**
 * The client for HTTP/2: by ALPN over TLS, by prior knowledge without (RFC 9113 §3.3). All requests share a connection, as
 * clients do: a stream belongs to one request, so that a late response never answers another.
 */
export function openHttp2(options: HttpOptions): HttpTransport {
  const address = addressOf(options.baseUrl);
  const limits = responseLimits(options);
  const { clock, timeouts } = options;
  const underWay = new RequestsUnderWay(options);
  let shared: Promise<Dialed> | null = null;

  /** The connection of the requests before, or a new one. `failed`: the one on which the request was not processed. */
  async function connect(failed: Http2Connection | null): Promise<Dialed> {
    const before = shared;
    const known = await before;
    if (known?.connection?.usable && known.connection !== failed) return known;
    // Another request has opened one meanwhile.
    if (shared !== before && shared !== null) return shared;
    known?.connection?.retire();
    shared = dialHttp2(options, underWay.closing);
    return shared;
  }

  async function attempt(
    sent: Http2Request,
    about: HttpAbout,
    { failed, isAlone }: { readonly failed: Http2Connection | null; readonly isAlone: boolean },
  ): Promise<StreamAttempt> {
    const stopwatch = new Stopwatch(clock);
    const signal = underWay.signalOf(about);
    const dialed = isAlone ? dialHttp2(options, signal) : connect(failed);
    const { connection, failure } = await dialed;
    if (connection === null)
      return { read: null, failure, use: FRESH, stopwatch, unprocessed: null, connection };
    const reused = connection.isUsed;
    if (!reused) stopwatch.markConnected();
    const listener = about.listen && new Listener(about.listen, clock, stopwatch);
    const bounds = { clock, timeouts, limits, signal, stopwatch, listener };
    const ending = await connection.exchange(sent, bounds, about.besideReset);
    if (isAlone) connection.destroy();
    const read = { response: ending.response, faults: null };
    return {
      read,
      failure: ending.failure,
      heard: listener?.heard ?? null,
      use: { reused, replaced: null, takesWebSockets: connection.takesWebSockets },
      stopwatch,
      unprocessed: ending.unprocessed,
      connection,
    };
  }

  /**
   * A request that is evidence is sent once, unless the server has said that it did not process it (RFC 9113 §8.7), or has
   * ended a connection that had been idle (RFC 9110 §9.2.2): then again, on another connection.
   */
  async function attempts(sent: Http2Request, about: HttpAbout): Promise<Attempted> {
    let last = await attempt(sent, about, { failed: null, isAlone: about.onOwn ?? false });
    for (let tries = 1; tries < MOST_TRIES; tries++) {
      const isIdle =
        tries === 1 && last.unprocessed === 'likely' && last.use.reused && SAFE_METHODS.has(sent.method);
      if (last.unprocessed !== 'surely' && !isIdle) break;
      // A stream may be refused for the moment, and then for the connection.
      const failed = isIdle || tries > 1 ? last.connection : null;
      // GOAWAY may come of the request that was reset: it is lawful, and this one goes out without that.
      const again = last.connection?.saidGoaway ? { ...about, besideReset: false } : about;
      const next = await attempt(sent, again, {
        failed,
        isAlone: about.onOwn || tries === MOST_TRIES - 1,
      });
      if (next.read === null) break;
      const replaced = `the request was not processed: ${last.failure?.message ?? 'it ended'}`;
      last = { ...next, use: { ...next.use, replaced } };
    }
    return last;
  }

  async function exchange(request: HttpRequest, about: HttpAbout): Promise<Exchange> {
    const sent = writeHttp2(request, address, options);
    const refusal =
      refusePlainHttp(address, about.credential, options, octetsOf(sent)) ?? underWay.aborted(about);
    const made = refusal
      ? { read: null, failure: refusal, use: FRESH, stopwatch: new Stopwatch(clock) }
      : await attempts(sent, about);
    return recordExchange({ ...sent, body: request.body ?? null }, made, about, address, options);
  }

  return {
    send: (request, about) => underWay.take(() => exchange(request, about)),
    async close() {
      underWay.abort();
      await underWay.ended();
      (await shared)?.connection?.destroy();
    },
  };
}

/** Whether a service speaks HTTP/2 that did not take HTTP/1.1: nothing is asked, and its first frame is waited for. */
export async function detectHttp2(options: TransportOptions, signal: AbortSignal): Promise<boolean> {
  const { connection } = await dialHttp2(options, signal);
  if (connection === null) return false;
  connection.destroy();
  return connection.isHttp2;
}

type Dialed =
  | { readonly connection: Http2Connection; readonly failure: null }
  | { readonly connection: null; readonly failure: ExchangeFailure };

async function dialHttp2(options: TransportOptions, signal: AbortSignal): Promise<Dialed> {
  const address = addressOf(options.baseUrl);
  const { socket, failure } = await dial(address, options, signal, 'h2');
  if (!socket) return { connection: null, failure };
  const { fieldBytes } = responseLimits(options);
  const connection = new Http2Connection(socket, address.authority, fieldBytes);
  // Its settings say how many streams it takes; without them the first request shows why.
  await connection.greets({ clock: options.clock, withinMs: options.timeouts.connectMs, signal });
  return { connection, failure: null };
}

/** All that a request says, to be searched for secrets. */
function octetsOf({ method, target, fields, body }: Http2Request): Uint8Array {
  const lines = [`${method} ${target}`, ...fields.map((line) => line.join(': ')), ''];
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body ?? Buffer.alloc(0)]);
}
