import type { Exchange, ExchangeFailure } from '../../evidence/exchange.ts';
import { absoluteUrl, addressOf, targetBelow } from '../address.ts';
import { dial } from '../dial.ts';
import { redactFailure } from '../failure.ts';
import { Stopwatch } from '../pace/stopwatch.ts';
import { refusePlainHttp } from '../plain-http.ts';
import { readAnswer } from '../reader/answer.ts';
import { ResponseReader } from '../reader/http1-reader.ts';
import { type Piece, writePieces } from '../reader/pieces.ts';
import { readerLimits, recordRequest, recordResponse } from '../recording.ts';
import { type About, responseLimits, type TransportOptions } from '../transport.ts';
import { type HttpRequest, type RequestForm, type WrittenRequest, writeRequest } from './request.ts';
import { describeOctets } from './request-octets.ts';

export interface RawRequest {
  /** What goes onto the wire, in one write or in pieces. */
  readonly octets: Uint8Array | readonly Piece[];
  /** The method by which the response is read; the octets' own when left out. */
  readonly method?: string;
  /** How long to wait, after the whole response, for octets that should not be there. 0 when left out. */
  readonly graceMs?: number;
  /** Ends our side of the connection after the octets. */
  readonly halfClose?: boolean;
}

/** Octets of a request with the run's own fields, its target below the base URL's path, with `form`'s departures. */
export function composeRaw(
  options: TransportOptions,
  request: HttpRequest,
  form: RequestForm = {},
): WrittenRequest {
  const address = addressOf(options.baseUrl);
  return writeRequest(request, targetBelow(address, request.target), address, options, form);
}

/**
 * Sends octets that an HTTP client would refuse to send, on a connection of their own, and reads the answer as
 * strictly as RFC 9112 is. Whatever the provider does resolves to an exchange.
 */
export async function sendRaw(
  options: TransportOptions,
  request: RawRequest,
  about: About,
): Promise<Exchange> {
  const address = addressOf(options.baseUrl);
  const limits = responseLimits(options);
  const { redaction } = options;
  const pieces = request.octets instanceof Uint8Array ? [{ octets: request.octets }] : request.octets;
  const sent = describeOctets(Buffer.concat(pieces.map(({ octets }) => octets)));
  const reader = new ResponseReader({ method: request.method ?? sent.method, limits: readerLimits(limits) });
  const stopwatch = new Stopwatch(options.clock);
  const failure =
    refusePlainHttp(address, about.credential, options) ??
    (await exchangeOctets(options, request, pieces, reader, about, stopwatch));
  return {
    kind: 'exchange',
    id: about.id,
    purpose: about.purpose,
    credential: about.credential,
    request: recordRequest(redaction, sent, absoluteUrl(address, sent.target), limits),
    response: recordResponse(redaction, reader, limits),
    failure: failure && redactFailure(redaction, failure),
    timing: stopwatch.timing,
    connection: { reused: false, replaced: null },
  };
}

async function exchangeOctets(
  options: TransportOptions,
  request: RawRequest,
  pieces: readonly Piece[],
  reader: ResponseReader,
  about: About,
  stopwatch: Stopwatch,
): Promise<ExchangeFailure | null> {
  const { clock, timeouts } = options;
  const limits = responseLimits(options);
  const { socket, failure } = await dial(addressOf(options.baseUrl), options, about.signal);
  if (!socket) return failure;
  stopwatch.markConnected();
  const over = new AbortController();
  try {
    const answer = readAnswer(socket, reader, {
      clock,
      timeouts,
      limits,
      signal: about.signal,
      stopwatch,
      graceMs: request.graceMs ?? 0,
    });
    await Promise.race([answer, writePieces(clock, socket, pieces, over.signal, request.halfClose)]);
    return await answer;
  } finally {
    over.abort();
    socket.destroy();
  }
}
