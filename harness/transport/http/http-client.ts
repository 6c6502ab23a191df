import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import { HarnessError } from '../../base/exit.ts';
import { type HttpRequest, SAFE_METHODS } from '../../credential/request.ts';
import { decodeContent } from '../../evidence/exchange/content-coding.ts';
import type { ConnectionUse, Exchange, ExchangeFailure, FieldLine } from '../../evidence/exchange.ts';
import { fieldValues } from '../../evidence/fields/grammar/field-lines.ts';
import type { Redaction } from '../../evidence/redaction/redaction.ts';
import { Stopwatch } from '../pace/clock.ts';
import type { ReadResponse } from '../reader/reading.ts';
import { type Address, absoluteUrl, addressOf, refusePlainHttp, targetBelow } from '../socket/address.ts';
import { dial } from '../socket/dial.ts';
import { abortedFailure, redactFailure } from '../socket/failure.ts';
import { type About, responseLimits, type TransportOptions } from '../socket/options.ts';
import { recordRequest, recordResponse } from '../socket/recording.ts';
import { type ConnectionEnding, type Dispatch, HttpConnection } from './http-connection.ts';
import { constantFields } from './request.ts';

export interface HttpOptions extends TransportOptions {
  /** Connections at the same time; further requests wait. 1, serial on one kept-alive connection, when left out. */
  readonly connections?: number;
}

export interface HttpAbout extends About {
  /** Opens a connection for this exchange alone. */
  readonly freshConnection?: boolean;
}

export interface HttpTransport {
  /**
   * Sends a request once and records what became of it: whatever the provider does, or does not do, resolves to
   * an exchange. Follows no redirect and decodes no content.
   * @throws HarnessError for a request that only the raw socket can send, and after `close`.
   */
  send(request: HttpRequest, about: HttpAbout): Promise<Exchange>;
  /** Ends all connections; exchanges under way are recorded as `not-sent`. */
  close(): Promise<void>;
}

interface Attempt {
  readonly ending: ConnectionEnding | { readonly reader: null; readonly failure: ExchangeFailure };
  readonly use: ConnectionUse;
  readonly stopwatch: Stopwatch;
}

/** RFC 9110 §9.3: methods for which a Content-Length is sent even without content, as undici does. */
const CONTENT_METHODS = new Set(['PUT', 'POST', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']);

/** The ordinary HTTP client of a session. */
export function openHttp(options: HttpOptions): HttpTransport {
  const address = addressOf(options.baseUrl);
  const limits = responseLimits(options);
  const { clock, redaction, timeouts } = options;
  const inTurn = pLimit(options.connections ?? 1);
  const idle: HttpConnection[] = [];
  const closing = new AbortController();
  // Every request under way derives its own signal from this one.
  setMaxListeners(0, closing.signal);
  const underWay = new Set<Promise<unknown>>();

  /** A connection known to be good as far as can be known; null when there is none. */
  async function takeIdle(): Promise<HttpConnection | null> {
    for (let connection = idle.pop(); connection; connection = idle.pop()) {
      // One turn of the event loop, so that an end that has already arrived is seen.
      await new Promise((resolve) => setImmediate(resolve));
      if (connection.usable) return connection;
      connection.destroy();
    }
    return null;
  }

  function release(connection: HttpConnection, keep: boolean): void {
    if (!keep || closing.signal.aborted || !connection.usable) connection.destroy();
    else idle.push(connection);
  }

  async function attempt(dispatch: Dispatch, about: HttpAbout, reusable: boolean): Promise<Attempt> {
    const kept = reusable ? await takeIdle() : null;
    const use = { reused: kept !== null, replaced: null };
    const stopwatch = new Stopwatch(clock);
    const signal = AbortSignal.any(about.signal ? [about.signal, closing.signal] : [closing.signal]);
    let connection = kept;
    if (!connection) {
      const { socket, failure } = await dial(address, options, signal);
      if (!socket) return { ending: { reader: null, failure }, use, stopwatch };
      connection = new HttpConnection(socket, address, limits, clock);
      stopwatch.markConnected();
    }
    const ending = await connection.exchange(dispatch, { timeouts, limits, signal }, stopwatch);
    release(connection, ending.failure === null && !about.freshConnection);
    return { ending, use, stopwatch };
  }

  async function exchange(request: HttpRequest, about: HttpAbout): Promise<Exchange> {
    const { dispatch, fields } = prepare(request, address, options);
    const refusal = refusePlainHttp(address, about.credential, options) ?? aborted(about);
    const safe = SAFE_METHODS.has(request.method);
    const made = refusal
      ? notMade(refusal, clock)
      : await attempts(dispatch, about, safe && !about.freshConnection);
    const { reader, failure } = made.ending;
    const isKnown = reader?.response ? learned(redaction, reader.response, about) : true;
    const recorded = { method: request.method, target: dispatch.path, fields, body: request.body ?? null };
    return {
      kind: 'exchange',
      id: about.id,
      purpose: about.purpose,
      credential: about.credential,
      request: recordRequest(redaction, recorded, absoluteUrl(address, dispatch.path), limits),
      response: reader
        ? recordResponse(redaction, reader, isKnown ? limits : { ...limits, bodyBytes: 0 })
        : null,
      failure: failure && redactFailure(redaction, failure),
      timing: made.stopwatch.timing,
      connection: made.use,
    };
  }

  /**
   * A request that is evidence is sent once. The one exception: the server had closed the kept-alive connection
   * just as the request went out on it. That says nothing about the provider (RFC 9112 §9.3.1 has clients retry).
   */
  async function attempts(dispatch: Dispatch, about: HttpAbout, reusable: boolean): Promise<Attempt> {
    const first = await attempt(dispatch, about, reusable);
    const { ending, use } = first;
    const stale = use.reused && ending.reader !== null && ending.unanswered && ending.failure !== null;
    if (!stale) return first;
    const second = await attempt(dispatch, about, false);
    return {
      ...second,
      use: {
        reused: false,
        replaced: `the kept-alive connection was gone: ${ending.failure?.message ?? ''}`,
      },
    };
  }

  function aborted(about: HttpAbout): ExchangeFailure | null {
    if (closing.signal.aborted) return abortedFailure(closing.signal, 'aborted before sending');
    return about.signal?.aborted ? abortedFailure(about.signal, 'aborted before sending') : null;
  }

  return {
    async send(request, about) {
      if (closing.signal.aborted) throw new HarnessError('the transport is closed');
      const made = inTurn(() => exchange(request, about));
      underWay.add(made);
      try {
        return await made;
      } finally {
        underWay.delete(made);
      }
    },
    async close() {
      closing.abort(new Error('the transport was closed'));
      for (const connection of idle.splice(0)) connection.destroy();
      // Those under way notice the abort and end by themselves.
      await Promise.allSettled(underWay);
    },
  };
}

/** What undici gets, and the field lines that it makes of it on the wire. */
function prepare(
  request: HttpRequest,
  address: Address,
  options: HttpOptions,
): { readonly dispatch: Dispatch; readonly fields: readonly FieldLine[] } {
  const connection = fieldValues(request.fields, 'connection');
  if (connection.some((value) => !/^(?:close|keep-alive)$/i.test(value))) {
    throw new HarnessError('only the raw socket sends a Connection field other than close or keep-alive');
  }
  const close = connection.some((value) => value.toLowerCase() === 'close');
  const [host, ...otherHosts] = fieldValues(request.fields, 'host');
  if (otherHosts.length > 0) throw new HarnessError('only the raw socket sends more than one Host field');
  const own = request.fields.filter(([name]) => !/^(?:host|connection|content-length)$/i.test(name));
  const headers = [...constantFields(request, options), ...own];
  const body = request.body && request.body.length > 0 ? request.body : null;
  const length = body?.length ?? (CONTENT_METHODS.has(request.method) ? 0 : null);
  return {
    dispatch: {
      method: request.method,
      path: targetBelow(address, request.target),
      headers: headers.flat(),
      host: host ?? null,
      body,
      close,
    },
    fields: [
      ['host', host ?? address.authority],
      ['connection', close || request.method === 'HEAD' ? 'close' : 'keep-alive'],
      ...headers,
      ...(length === null ? [] : [['content-length', String(length)] as const]),
    ],
  };
}

function notMade(failure: ExchangeFailure, clock: TransportOptions['clock']): Attempt {
  return {
    ending: { reader: null, failure },
    use: { reused: false, replaced: null },
    stopwatch: new Stopwatch(clock),
  };
}

/** Tells the redaction the secrets in a response; whether its content may be recorded. */
function learned(
  redaction: Redaction,
  { body, fields }: ReadResponse,
  { secretsIn }: Pick<HttpAbout, 'secretsIn'>,
): boolean {
  if (!secretsIn) return true;
  const { octets, fault, limit } = decodeContent(body, fieldValues(fields, 'content-encoding'), true);
  const secrets = fault === null && limit === null ? secretsIn(Buffer.from(octets).toString('utf8')) : null;
  for (const secret of secrets ?? []) redaction.add(secret.name, secret.reveal());
  return secrets !== null;
}
