import type { Socket } from 'node:net';
import { FRAMING_FAULT, REFUSED_BY_CLIENTS } from '../exchange/framing-faults.ts';
import type { ExchangeFailure } from '../exchange.ts';
import { fieldValues, listElements } from '../fields/grammar/field-grammar.ts';
import { ResponseReader } from '../reader/http1-reader.ts';
import { type Conditions, readAnswer } from '../socket/message.ts';
import { readerLimits } from '../socket/recording.ts';
import type { OrdinaryRequest } from './request.ts';

interface ExchangeBounds extends Omit<Conditions, 'graceMs' | 'refused'> {
  /** Called with octets that come once the response is whole, until something else is asked. */
  readonly unasked: (octets: Uint8Array) => void;
}

export interface ConnectionEnding {
  readonly reader: ResponseReader;
  readonly failure: ExchangeFailure | null;
  /** The server ended or reset the connection before an octet of an answer had come, or said that it was idle for too long. */
  readonly unanswered: boolean;
}

/** One connection that is kept alive (RFC 9112 §9.3), with a single request under way at most. */
export class HttpConnection {
  readonly #socket: Socket;
  #isPersistent = true;
  #stopListening = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get usable(): boolean {
    return this.#isPersistent && !this.#socket.destroyed && this.#socket.readable && this.#socket.writable;
  }

  /** Sends one request and reads its response until it is whole or the attempt is given up; never rejects. */
  async exchange(
    request: OrdinaryRequest,
    { unasked, ...bounds }: ExchangeBounds,
  ): Promise<ConnectionEnding> {
    const reader = new ResponseReader({ method: request.method, limits: readerLimits(bounds.limits) });
    this.#stopListening();
    const answer = readAnswer(this.#socket, reader, { ...bounds, graceMs: 0, refused: REFUSED_BY_CLIENTS });
    this.#socket.write(request.octets);
    const failure = await answer;
    if (failure !== null) {
      this.destroy();
      return { reader, ...brokenOff(reader, failure, this.#socket.errored) };
    }
    this.#isPersistent = request.keepsAlive && keepsAlive(reader);
    if (this.#isPersistent) this.#listen(unasked);
    else this.destroy();
    return { reader, failure: null, unanswered: reader.response?.status === 408 };
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /**
   * HTTP/1.1 knows which response belongs to a request by their order alone (RFC 9112 §9.2). What answers nothing must not
   * answer the next one: the connection ends.
   */
  #listen(unasked: ExchangeBounds['unasked']): void {
    const received = (octets: Buffer) => {
      if (/^[\r\n]*$/.test(octets.toString('latin1'))) return;
      if (isUnasked(octets)) unasked(octets);
      this.destroy();
    };
    this.#socket.on('data', received).unref().resume();
    this.#stopListening = () => this.#socket.off('data', received).ref().pause();
  }
}

/** Whether the server goes on listening after this response (RFC 9112 §9.3), and the octets after it are surely others. */
function keepsAlive({ response, faults, isFollowed }: ResponseReader): boolean {
  if (response === null || response.status === 101 || isFollowed) return false;
  if (faults.some((fault) => UNCLEAR_ENDS.has(fault))) return false;
  const { status, httpVersion, fields } = response;
  const has = (name: string, value: string) =>
    listElements(fieldValues(fields, name).join(',')).some((each) => each.toLowerCase() === value);
  if (status === 304 && fieldValues(fields, 'content-length').some((length) => Number(length) > 0))
    return false;
  return httpVersion === '1.1' ? !has('connection', 'close') : has('connection', 'keep-alive');
}

/** Octets that may be of another response, or of this one. */
const UNCLEAR_ENDS: ReadonlySet<string> = new Set([
  FRAMING_FAULT.lengthOnBodyless,
  FRAMING_FAULT.codingOnBodyless,
]);

/** What to record of an exchange that failed; `error` is that of the socket, null for none. */
function brokenOff(
  reader: ResponseReader,
  failure: ExchangeFailure,
  error: Error | null,
): Pick<ConnectionEnding, 'failure' | 'unanswered'> {
  const isOurs = failure.kind === 'response-timeout' || failure.kind === 'not-sent';
  const unanswered = !reader.sawOctets && !isOurs;
  if (error === null || isOurs || reader.settled) return { failure, unanswered };
  const where = reader.headWhole ? 'within the body' : 'within the header section';
  const broken = reader.sawOctets ? `broken off ${where}` : 'no answer';
  const faults = reader.faults.length > 0 ? ` (${reader.faults.join(', ')})` : '';
  return { failure: { kind: failure.kind, message: `${broken}: ${failure.message}${faults}` }, unanswered };
}

/**
 * Whether octets that follow a whole response, while nothing is asked, are something that a server must not send there
 * (RFC 9112 §9.2): anything but empty lines and the news that the connection was idle for too long.
 */
export function isUnasked(octets: Uint8Array): boolean {
  const reader = new ResponseReader({ method: 'GET', limits: FEW });
  const text = Buffer.from(octets)
    .toString('latin1')
    .replace(/^[\r\n]+/, '');
  reader.push(Buffer.from(text, 'latin1'));
  return !reader.mayBeIdleTimeout;
}

/** Octets of a 408, and of its fields, that are read. */
const FEW = { bodyBytes: 64 * 1024, fieldBytes: 16 * 1024 };
