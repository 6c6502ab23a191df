import type { Exchange, ExchangeFailure, RecordedResponse } from '../exchange.ts';
import { Stopwatch } from '../pace/clock.ts';
import { ResponseReader } from '../reader/http1-reader.ts';
import type { HttpRequest } from '../request.ts';
import { absoluteUrl, addressOf, refusePlainHttp, targetBelow } from '../socket/address.ts';
import { dial, proxysOwn } from '../socket/dial.ts';
import { redactFailure } from '../socket/failure.ts';
import { chopped, readAnswer, readSeries, type Series, writePieces } from '../socket/message.ts';
import { type About, responseLimits, type TransportOptions } from '../socket/options.ts';
import { readerLimits, recordRequest, recordResponse } from '../socket/recording.ts';
import { Listener, type Listening } from '../stream/listening.ts';
import { type RequestForm, writeRequest } from './request.ts';

/** How a request on the raw socket departs from an ordinary one. */
export interface RawForm extends RequestForm {
  /** A success is listened to; all of it is read if left out. */
  readonly listen?: Listening | undefined;
  /** How long to wait, after the whole response, for octets that should not be there; in ms. 0 when left out. */
  readonly graceMs?: number;
  /**
   * Listens on behind the first response: for `expected` ones, each for as long as `patienceMs`, and then for `graceMs`, whether
   * the connection ends or one more comes.
   */
  readonly series?: { readonly expected: number; readonly patienceMs: number };
}

/**
 * Sends a request that an HTTP client would refuse to send, on a connection of its own, and reads the answer as
 * strictly as RFC 9112 is. Whatever the provider does resolves to an exchange.
 */
export async function sendRaw(
  options: TransportOptions,
  request: HttpRequest,
  form: RawForm,
  about: About,
): Promise<Exchange> {
  const address = addressOf(options.baseUrl);
  const limits = responseLimits(options);
  const { redaction } = options;
  const sent = writeRequest(request, targetBelow(address, request.target), address, options, form);
  let reader = new ResponseReader({ method: sent.method, limits: readerLimits(limits) });
  const stopwatch = new Stopwatch(options.clock);
  const listener = form.listen && new Listener(form.listen, options.clock, stopwatch);
  const refused = refusePlainHttp(address, about.credential, options, sent.octets);
  const { failure, series } = refused
    ? { failure: refused, series: null }
    : await exchangeOctets(sent.octets, form.graceMs ?? 0);
  return {
    kind: 'exchange',
    id: about.id,
    purpose: about.purpose,
    credential: about.credential,
    request: recordRequest(redaction, sent, absoluteUrl(address, sent.target), limits),
    response: recordResponse(redaction, reader, limits, listener?.heard?.left !== undefined),
    ...(listener?.heard && { stream: listener.heard }),
    ...(series && { further: furtherOf(series) }),
    failure: failure && redactFailure(redaction, failure),
    timing: stopwatch.timing,
    connection: { reused: false, replaced: null, ...(series && { afterwards: series.afterwards }) },
  };

  function furtherOf({ readers }: Series): RecordedResponse[] {
    return readers.slice(1).flatMap((each) => recordResponse(redaction, each, limits) ?? []);
  }

  async function exchangeOctets(octets: Uint8Array, graceMs: number): Promise<RawAnswer> {
    const { clock, timeouts } = options;
    const { signal } = about;
    const { socket, failure } = await dial(address, options, signal);
    if (!socket) return { failure, series: null };
    stopwatch.markConnected();
    const over = new AbortController();
    const pieces = chopped(octets, form.piecemeal ? 1 : octets.length);
    try {
      if (form.series) {
        const conditions = { clock, limits, signal, stopwatch, graceMs, method: sent.method, ...form.series };
        const heard = readSeries(socket, conditions);
        await Promise.race([heard, writePieces(socket, pieces, over.signal)]);
        const series = await heard;
        [reader] = series.readers;
        return { failure: series.failure ?? proxysOwn(reader.response, address, options), series };
      }
      const answer = readAnswer(socket, reader, {
        ...{ clock, timeouts, limits, signal, stopwatch, graceMs, listener },
      });
      await Promise.race([answer, writePieces(socket, pieces, over.signal)]);
      return { failure: (await answer) ?? proxysOwn(reader.response, address, options), series: null };
    } finally {
      over.abort();
      if (listener?.heard?.left === undefined) socket.destroy();
      else socket.destroySoon();
    }
  }
}

/** The result of the octets; `series` where the connection was listened to behind the first response. */
interface RawAnswer {
  readonly failure: ExchangeFailure | null;
  readonly series: Series | null;
}
