import type { HttpRequest } from '../../credential/request.ts';
import type { Exchange, ExchangeFailure, FieldLine } from '../../evidence/exchange.ts';
import { Stopwatch } from '../pace/clock.ts';
import { ResponseReader } from '../reader/http1-reader.ts';
import { absoluteUrl, addressOf, refusePlainHttp, targetBelow } from '../socket/address.ts';
import { dial } from '../socket/dial.ts';
import { redactFailure } from '../socket/failure.ts';
import { type Piece, readAnswer, writePieces } from '../socket/message.ts';
import { type About, responseLimits, type TransportOptions } from '../socket/options.ts';
import { readerLimits, recordRequest, recordResponse } from '../socket/recording.ts';
import { type RequestForm, type WrittenRequest, writeRequest } from './request.ts';

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

/** A request as it can be told from its octets, however malformed: what cannot be told is empty. */
export interface DescribedRequest {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly FieldLine[];
  readonly body: Uint8Array | null;
}

/** Takes the octets of a request apart for the record, forgiving everything. */
export function describeOctets(octets: Uint8Array): DescribedRequest {
  const text = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('latin1');
  const headEnd = /\r?\n\r?\n/.exec(text);
  const head = headEnd ? text.slice(0, headEnd.index) : text;
  const [startLine = '', ...lines] = head.split(/\r?\n/);
  const [method = '', target = ''] = startLine.split(' ');
  const body = headEnd ? octets.subarray(headEnd.index + headEnd[0].length) : new Uint8Array();
  return {
    method,
    target,
    fields: lines.map((line) => {
      const colon = line.indexOf(':');
      return colon === -1 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
    body: body.length > 0 ? body : null,
  };
}
