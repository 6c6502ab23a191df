import type { ClientRequest } from 'node:http';
import { WebSocket } from 'ws';
import type { Conversation, ConversationEvent } from '../../evidence/conversation.ts';
import type { ExchangeFailure, FieldLine, RecordedResponse } from '../../evidence/exchange.ts';
import { absoluteUrl, socketAddressOf } from '../address.ts';
import { dial } from '../dial.ts';
import { abortedFailure, errorLine, failureKind, redactFailure } from '../failure.ts';
import { type HttpRequest, identifyingFields } from '../http/request.ts';
import { inTime, startDeadline } from '../pace/clock.ts';
import { Stopwatch } from '../pace/stopwatch.ts';
import { refusePlainHttp } from '../plain-http.ts';
import { bodyOf, recordNodeResponse } from '../reader/node-response.ts';
import { recordRequest } from '../recording.ts';
import { type About, responseLimits, type TransportOptions } from '../transport.ts';
import { ConversationLog, type Wait } from './conversation-log.ts';
import { closePayload, OPCODE, type WireFrame } from './frames.ts';
import { expectedAccept } from './handshake.ts';

export interface WsOpening {
  /** An absolute ws(s) URL, or a path below the base URL. */
  readonly endpoint: string;
  /** Target and further fields of the handshake, the credential among them; each name once, as `ws` has it. */
  readonly request: Pick<HttpRequest, 'target' | 'fields'>;
  readonly subprotocols?: readonly string[];
  readonly origin?: string | null;
  /** Offers permessage-deflate; true when left out. */
  readonly perMessageDeflate?: boolean;
  /** Largest message taken, in octets; 16 MiB when left out. */
  readonly maxPayload?: number;
}

/** A well-behaved client, with the `ws` library's understanding of the protocol. */
export interface WsClient {
  readonly open: boolean;
  /** The subprotocol that was agreed on; '' for none. */
  readonly protocol: string;
  /** The extensions that were agreed on, as the response has them; '' for none. */
  readonly extensions: string;
  readonly failure: ExchangeFailure | null;
  send(message: string | Uint8Array): Promise<boolean>;
  ping(payload?: Uint8Array): Promise<boolean>;
  close(code?: number, reason?: string): void;
  next(wait: Wait): Promise<ConversationEvent | null>;
  untilEnd(wait: Pick<Wait, 'timeoutMs' | 'note'>): Promise<ConversationEvent | null>;
  finish(): Conversation;
}

const MAX_PAYLOAD = 16 * 1024 * 1024;
/** Kept of each payload, in octets. */
const FRAME_BYTES = 64 * 1024;
/** Received in one conversation, in octets. */
const MAX_OCTETS = 64 * 1024 * 1024;
/** Of both sides in one conversation. */
const MAX_EVENTS = 20_000;

/**
 * Opens a connection as an ordinary application does: through `ws`, which answers pings, undoes compression and
 * judges what it gets. Recorded are messages, each as one frame, and what `ws` objects to, as the failure. For
 * everything else there is `openConnection`.
 */
export async function connectWs(
  options: TransportOptions,
  opening: WsOpening,
  about: About,
): Promise<WsClient> {
  const { clock, redaction, timeouts } = options;
  const limits = responseLimits(options);
  const { address } = socketAddressOf(options.baseUrl, opening.endpoint);
  const { target } = opening.request;
  const stopwatch = new Stopwatch(clock);
  const log = new ConversationLog({ clock, stopwatch, redaction, frameBytes: FRAME_BYTES });
  const request: HttpRequest = { method: 'GET', target, fields: opening.request.fields };
  const fields = [...identifyingFields(request, options), ...request.fields];
  let sentFields: readonly FieldLine[] = fields;
  let response: RecordedResponse | null = null;
  let failure: ExchangeFailure | null = refusePlainHttp(address, about.credential, options);
  let socket: WebSocket | null = null;

  async function connect(): Promise<void> {
    const dialed = await dial(address, options, about.signal);
    failure = dialed.failure;
    const tcp = dialed.socket;
    if (!tcp) return;
    stopwatch.markConnected();
    const client = new WebSocket(absoluteUrl(address, target, 'ws'), [...(opening.subprotocols ?? [])], {
      headers: Object.fromEntries(fields),
      perMessageDeflate: opening.perMessageDeflate ?? true,
      maxPayload: opening.maxPayload ?? MAX_PAYLOAD,
      followRedirects: false,
      createConnection: () => tcp,
      ...(opening.origin ? { origin: opening.origin } : {}),
      finishRequest: (outgoing: ClientRequest) => {
        sentFields = outgoing.getRawHeaderNames().map((name) => [name, String(outgoing.getHeader(name))]);
        // Paused since it was dialled; by then it has its readers.
        outgoing.once('socket', () => tcp.resume());
        outgoing.end();
      },
    });
    socket = client;
    const aborted = () => giveUp(abortedFailure(about.signal, 'aborted during the conversation'));
    about.signal?.addEventListener('abort', aborted, { once: true });
    client.once('close', () => about.signal?.removeEventListener('abort', aborted));
    recordEvents(client);
    await opened(client);
  }

  function recordEvents(client: WebSocket): void {
    let received = 0;
    const frame = (opcode: number, payload: Uint8Array) => {
      received += payload.length;
      log.recordFrame('server', messageFrame(opcode, payload, false));
      if (received > MAX_OCTETS || log.count > MAX_EVENTS) {
        giveUp({
          kind: 'body-too-large',
          message: `more than ${MAX_EVENTS} messages or ${MAX_OCTETS} octets`,
        });
      }
    };
    client.on('message', (message: Buffer, isBinary) =>
      frame(isBinary ? OPCODE.binary : OPCODE.text, message),
    );
    client.on('ping', (payload) => frame(OPCODE.ping, payload));
    client.on('pong', (payload) => frame(OPCODE.pong, payload));
    client.on('close', (code, reason) => {
      // 1006: TCP ended without a Close; 1005: with a Close without a code (RFC 6455 §7.1.5).
      if (code !== 1006)
        frame(OPCODE.close, code === 1005 ? closePayload() : closePayload(code, reason.toString()));
      if (response?.status === 101) log.record({ from: 'server', type: 'end' });
    });
    client.on('error', (error) => {
      // A refusal is an answer; that ws then ends the connection early is its own affair.
      if (response && response.status !== 101) return;
      failure ??= { kind: failureKind(error, 'malformed'), message: errorLine(error) };
    });
  }

  /** Ends the conversation for a reason of ours. */
  function giveUp(reason: ExchangeFailure): void {
    failure ??= reason;
    socket?.terminate();
  }

  /** Resolves when the handshake is over, well or not. */
  function opened(client: WebSocket): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        cancelDeadline();
        resolve();
      };
      const cancelDeadline = startDeadline(clock, timeouts.responseMs, () =>
        giveUp({
          kind: 'response-timeout',
          message: `no answer to the handshake within ${timeouts.responseMs} ms`,
        }),
      );
      client.on('upgrade', (answer) => {
        stopwatch.markResponse();
        response = recordNodeResponse(redaction, answer, new Uint8Array(), limits);
      });
      client.on('unexpected-response', (_request, answer) => {
        stopwatch.markResponse();
        void bodyOf(answer, limits.bodyBytes, clock, timeouts.responseMs).then((body) => {
          response = recordNodeResponse(redaction, answer, body, limits);
          client.terminate();
        });
      });
      client.once('open', settle);
      client.once('close', settle);
    });
  }

  const isOpen = () => socket?.readyState === WebSocket.OPEN;

  /** Notes what goes out, and yields whether it did. */
  function sending(
    opcode: number,
    payload: Uint8Array,
    send: (done: (error?: Error | null) => void) => void,
  ): Promise<boolean> {
    if (!isOpen()) return Promise.resolve(false);
    log.recordFrame('client', messageFrame(opcode, payload, true));
    const sent = new Promise<boolean>((resolve) => send((error) => resolve(!error)));
    return inTime(clock, timeouts.responseMs, sent).then((done) => done && sent);
  }

  if (!failure) await connect();

  return {
    get open() {
      return isOpen();
    },
    get protocol() {
      return socket?.protocol ?? '';
    },
    get extensions() {
      return socket?.extensions ?? '';
    },
    get failure() {
      return failure && redactFailure(redaction, failure);
    },
    send: (message) =>
      sending(typeof message === 'string' ? OPCODE.text : OPCODE.binary, Buffer.from(message), (done) =>
        socket?.send(message, done),
      ),
    ping: (payload = new Uint8Array()) =>
      sending(OPCODE.ping, payload, (done) => socket?.ping(payload, true, (error) => done(error))),
    close(code, reason) {
      if (!isOpen()) return;
      log.recordFrame('client', messageFrame(OPCODE.close, closePayload(code, reason), true));
      socket?.close(code, reason);
    },
    next: (wait) => (socket && response?.status === 101 ? log.next(wait) : Promise.resolve(null)),
    untilEnd: (wait) =>
      socket && response?.status === 101
        ? log.next({ note: 'the end of TCP', ...wait, match: ({ type }) => type === 'end' })
        : Promise.resolve(null),
    finish() {
      if (response?.status === 101 && !log.ended) log.record({ from: 'client', type: 'end' });
      socket?.terminate();
      return {
        kind: 'conversation',
        id: about.id,
        purpose: about.purpose,
        credential: about.credential,
        handshake: {
          request: recordRequest(
            redaction,
            { method: 'GET', target, fields: sentFields, body: null },
            absoluteUrl(address, target, 'ws'),
            limits,
          ),
          response,
          expectedAccept: expectedAccept(sentFields),
        },
        events: log.events,
        failure: failure && redactFailure(redaction, failure),
        timing: stopwatch.timing,
      };
    },
  };
}

/** A message as one frame: how it was cut and compressed on the wire is not known here. */
function messageFrame(opcode: number, payload: Uint8Array, masked: boolean): WireFrame {
  const length = payload.length;
  return {
    fin: true,
    rsv: 0,
    opcode,
    masked,
    length,
    lengthOctets: length < 126 ? 0 : length <= 0xffff ? 2 : 8,
    payload,
    received: length,
    whole: true,
    digest: null,
  };
}
