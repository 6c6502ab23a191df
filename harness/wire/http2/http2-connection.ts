import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { http2 } from '../../base/node-http.ts';
import { codeOf } from '../../base/thrown.ts';
import type { ExchangeFailure } from '../exchange.ts';
import { linesIn } from '../fields/grammar/field-grammar.ts';
import { visible } from '../octets/utf8.ts';
import { startDeadline } from '../pace/clock.ts';
import { OctetCollector, type ReadResponse } from '../reader/lines.ts';
import { abortedFailure, errorLine, failureKind } from '../socket/failure.ts';
import type { Conditions } from '../socket/message.ts';
import { exchangeMs } from '../socket/options.ts';
import { readerLimits } from '../socket/recording.ts';
import { CANCEL, ENHANCE_YOUR_CALM, errorName, FrameWatch, REFUSED_STREAM, watched } from './frames.ts';
import type { Http2Request } from './http2-request.ts';

export type StreamBounds = Omit<Conditions, 'graceMs' | 'refused'>;

interface WaitBounds extends Pick<StreamBounds, 'clock' | 'signal'> {
  readonly withinMs: number;
}

/** Resolves once `begin` says so, the time is over or the signal is aborted. */
function waiting({ clock, withinMs, signal }: WaitBounds, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = startDeadline(clock, withinMs, done);
    signal?.addEventListener('abort', done, { once: true });
    if (signal?.aborted) done();
    else begin(done);
  });
}

export interface StreamEnding {
  /** null before its head is whole. */
  readonly response: ReadResponse | null;
  readonly failure: ExchangeFailure | null;
  /** The server has not processed the request, as it says (RFC 9113 §8.7), or as the end of the connection before an octet does. */
  readonly unprocessed: 'surely' | 'likely' | null;
}

/** Field lines of one header section; the octets of all of them are limited as well. */
const MOST_LINES = 2_000;

/** Errors by which the library gives up a connection whose octets it cannot read. */
const OF_THE_LIBRARY: ReadonlySet<string> = new Set(['ERR_HTTP2_ERROR', 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES']);

/** One connection of HTTP/2, on which requests stand side by side. */
export class Http2Connection {
  readonly #watch = new FrameWatch();
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  /** Of the session or its socket. */
  #error: Error | null = null;
  #isRetired = false;
  #underWay = 0;
  #asked = 0;

  constructor(socket: Socket, authority: string, fieldBytes: number) {
    this.#socket = socket;
    const duplex = watched(socket, this.#watch);
    this.#session = http2().connect(`http://${authority}`, {
      createConnection: () => duplex,
      maxHeaderListPairs: MOST_LINES,
      settings: { enablePush: false, maxHeaderListSize: fieldBytes },
      // Duplicates that a probe sends on purpose; Node before 24 does not send them.
      ...{ strictSingleValueFields: false },
    });
    this.#session.on('error', (error) => {
      this.#error ??= error;
    });
    socket.on('error', (error) => {
      this.#error = error;
    });
  }

  /** Another request may go out on it. */
  get usable(): boolean {
    return (
      !this.#isRetired && this.#watch.goaway === null && !this.#session.closed && !this.#session.destroyed
    );
  }

  /** It was asked before. */
  get isUsed(): boolean {
    return this.#asked > 0;
  }

  /** It says that it takes WebSocket connections on its streams (RFC 8441 §3). */
  get takesWebSockets(): boolean {
    return this.#session.remoteSettings?.enableConnectProtocol === true;
  }

  /** The server takes no further stream on it (RFC 9113 §6.8). */
  get saidGoaway(): boolean {
    return this.#watch.goaway !== null;
  }

  /** Its first frame came. */
  get isHttp2(): boolean {
    return this.#watch.isHttp2;
  }

  /** Resolves once the settings of the server came, the connection ended or the time is over. */
  greets(bounds: WaitBounds): Promise<void> {
    return waiting(bounds, (done) => {
      this.#session.once('remoteSettings', done).once('close', done);
      if (this.#session.destroyed) done();
    });
  }

  /**
   * Sends one request and reads its response until it is whole or the attempt is given up; never rejects.
   * `besideReset`: the same request goes out before it, and is reset at once.
   */
  async exchange(request: Http2Request, bounds: StreamBounds, besideReset = false): Promise<StreamEnding> {
    this.#asked += 1;
    this.#underWay += 1;
    try {
      if (besideReset) await this.#reset(request, bounds);
      return await this.#read(request, this.#open(request), bounds);
    } catch (error) {
      // The library opens no stream on a connection that is ending.
      const isOver = codeOf(error) !== 'ERR_HTTP2_HEADER_SINGLE_VALUE';
      const failure: ExchangeFailure = { kind: isOver ? 'closed' : 'not-sent', message: errorLine(error) };
      return { response: null, failure, unprocessed: isOver ? 'surely' : null };
    } finally {
      this.#underWay -= 1;
      if (this.#isRetired && this.#underWay === 0) this.destroy();
    }
  }

  /** No further request goes out; the connection ends once those under way are over. */
  retire(): void {
    this.#isRetired = true;
    if (this.#underWay === 0) this.destroy();
  }

  destroy(): void {
    this.#isRetired = true;
    this.#session.destroy();
    this.#socket.destroy();
  }

  #open(request: Http2Request): ClientHttp2Stream {
    const stream = this.#session.request(request.headers, { endStream: request.body === null });
    if (request.body !== null) stream.end(request.body);
    return stream;
  }

  /** Resolves once the reset is on its way, or the time of a response is over. */
  #reset(request: Http2Request, { timeouts, ...bounds }: StreamBounds): Promise<void> {
    const stream = this.#open(request);
    stream.on('error', () => undefined).resume();
    const cancel = () => stream.close(CANCEL);
    if (stream.pending) stream.once('ready', cancel);
    else cancel();
    return waiting({ ...bounds, withinMs: timeouts.responseMs }, (done) => stream.once('close', done));
  }

  #read(
    { method }: Http2Request,
    stream: ClientHttp2Stream,
    { clock, timeouts, limits, signal, stopwatch, listener }: StreamBounds,
  ): Promise<StreamEnding> {
    const { bodyBytes } = readerLimits(limits);
    const body = new OctetCollector();
    const informational: ReadResponse['informational'][number][] = [];
    let head: Pick<ReadResponse, 'status' | 'fields'> | null = null;
    let trailers: ReadResponse['trailers'] = [];
    let fieldOctets = 0;
    const tooLarge = (): ExchangeFailure => ({
      kind: 'fields-too-large',
      message: `fields go on after ${limits.fieldBytes} octets`,
    });
    const tooLong: ExchangeFailure = {
      kind: 'body-too-large',
      message: `the body goes on after ${limits.bodyBytes} octets`,
    };
    let isSettled = false;
    return new Promise((resolve) => {
      const settle = (failure: ExchangeFailure | null) => {
        if (isSettled) return;
        isSettled = true;
        for (const cancel of deadlines) cancel();
        signal?.removeEventListener('abort', aborted);
        const isLeft = failure === null && !isEnded();
        listener?.end(!isLeft);
        const unprocessed = failure === null ? null : this.#unprocessed(stream, head !== null);
        if (failure === null) this.#watch.calm();
        if (stream.id !== undefined) this.#watch.forget(stream.id);
        if (!stream.destroyed) {
          stream.resume();
          stream.close(failure === null && !isLeft ? 0 : CANCEL);
        }
        if (failure?.kind === 'response-timeout') this.retire();
        const read = { reason: null, httpVersion: '2', trailers, body: body.octets, informational };
        resolve({ response: head && { ...read, ...head }, failure, unprocessed });
      };
      const late = (message: string) => settle({ kind: 'response-timeout', message });
      const deadlines = [
        startDeadline(clock, timeouts.responseMs, () => {
          if (head === null) late(`no status and fields within ${timeouts.responseMs} ms`);
        }),
        startDeadline(clock, exchangeMs(timeouts) - stopwatch.elapsed, () => {
          if (!listener?.isListening) late(`the response was not whole after ${exchangeMs(timeouts)} ms`);
        }),
      ];
      const aborted = () => settle(abortedFailure(signal, 'aborted while the response was awaited'));
      const hear = () => {
        if (head !== null && listener?.hear({ ...head, body: body.octets }, () => settle(null))) settle(null);
      };
      const fieldsOf = (raw: readonly string[]) => {
        const lines = linesIn(raw);
        for (const [name, value] of lines) fieldOctets += name.length + value.length + 4;
        return lines.filter(([name]) => !name.startsWith(':'));
      };
      const section =
        (take: (fields: ReadResponse['fields'], status: number) => void) =>
        (headers: { readonly ':status'?: number }, _flags: number, raw: readonly string[]) => {
          take(fieldsOf(raw), headers[':status'] ?? 0);
          if (fieldOctets > limits.fieldBytes) settle(tooLarge());
        };
      stream.on(
        'headers',
        section((fields, status) => informational.push({ status, fields })),
      );
      stream.on(
        'response',
        section((fields, status) => {
          head = { status, fields };
          stopwatch.markResponse();
          hear();
        }),
      );
      stream.on(
        'trailers',
        section((fields) => {
          trailers = fields;
        }),
      );
      stream.on('data', (octets: Buffer) => {
        body.append(octets.subarray(0, bodyBytes - body.length));
        hear();
        // The event of its head comes a little later.
        if (body.length >= bodyBytes) setImmediate(settle, tooLong);
      });
      stream.on('error', () => undefined);
      const isEnded = () => head !== null && stream.id !== undefined && this.#watch.ended.has(stream.id);
      const over = () => {
        // What the server does to a stream behind its whole message takes nothing from it.
        const isWhole = isEnded() && (stream.rstCode === 0 || this.#resetOf(stream) !== null);
        if (!isWhole) return settle(this.#failure(stream, head !== null, tooLarge));
        stopwatch.markWhole();
        settle(body.length > limits.bodyBytes ? tooLong : null);
      };
      stream.on('end', () => {
        if (isEnded()) setImmediate(over);
      });
      // The reason of the connection's end comes a little later.
      stream.on('close', () => setImmediate(over));
      signal?.addEventListener('abort', aborted, { once: true });
      if (signal?.aborted) aborted();
      else if (method !== 'CONNECT') stream.resume();
    });
  }

  /** The code by which the server reset a stream; null if it did not. */
  #resetOf({ id }: ClientHttp2Stream): number | null {
    return id === undefined ? null : (this.#watch.resets.get(id) ?? null);
  }

  #unprocessed(stream: ClientHttp2Stream, hasHead: boolean): StreamEnding['unprocessed'] {
    if (hasHead) return null;
    const { goaway } = this.#watch;
    if (this.#resetOf(stream) === REFUSED_STREAM || stream.id === undefined) return 'surely';
    if (goaway !== null && stream.id > goaway.lastStream) return 'surely';
    return this.#session.destroyed && this.#resetOf(stream) === null && this.#error === null
      ? 'likely'
      : null;
  }

  #failure(stream: ClientHttp2Stream, hasHead: boolean, tooLarge: () => ExchangeFailure): ExchangeFailure {
    const { foreign, goaway, isFlood } = this.#watch;
    const where = hasHead ? 'within the body' : 'without an answer';
    if (foreign !== null) {
      const [line = ''] = foreign.split(/\r?\n/);
      return { kind: 'malformed', message: `not HTTP/2: "${visible(line, 80)}"` };
    }
    if (isFlood) return { kind: 'malformed', message: 'not HTTP/2: frames without content come without end' };
    const reset = this.#resetOf(stream);
    if (reset !== null)
      return { kind: 'reset', message: `the stream was reset ${where}: ${errorName(reset)} (RFC 9113 §7)` };
    if (stream.rstCode === ENHANCE_YOUR_CALM) return tooLarge();
    const ended = goaway === null ? '' : ` after GOAWAY: ${errorName(goaway.code)}`;
    if (goaway !== null && (stream.id ?? 0) > goaway.lastStream)
      return { kind: 'closed', message: `the connection was closed ${where}${ended}` };
    if (this.#session.destroyed) {
      const error = this.#error ?? stream.errored;
      if (OF_THE_LIBRARY.has(codeOf(error) ?? ''))
        return { kind: 'malformed', message: `not HTTP/2: ${errorLine(error)}` };
      if (goaway === null && this.#error !== null)
        return { kind: failureKind(error, 'reset'), message: `${where}: ${errorLine(error)}` };
      return { kind: 'closed', message: `the connection was closed ${where}${ended}` };
    }
    const fault = hasHead
      ? 'its content or its trailers are malformed (RFC 9113 §8.1.1)'
      : 'its header section is malformed (RFC 9113 §8.2, §8.3)';
    return { kind: 'malformed', message: `not HTTP/2: ${fault}` };
  }
}
