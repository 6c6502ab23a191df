import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  COMPRESSED,
  encodeFrame,
  type FrameToSend,
  isControl,
  LONGEST_CONTROL,
  OPCODE,
} from '../conversation/frame.ts';
import { agreedInflation, Inflation } from '../conversation/inflation.ts';
import type { Conversation, ConversationEvent } from '../conversation.ts';
import type { ExchangeFailure, FieldLine, RecordedResponse } from '../exchange.ts';
import { readExtensions } from '../fields/extension.ts';
import { fieldValue } from '../fields/grammar/field-grammar.ts';
import { expectedAccept, type RequestForm, writeRequest } from '../http/request.ts';
import { inTime, Stopwatch, startDeadline } from '../pace/clock.ts';
import { ResponseReader } from '../reader/http1-reader.ts';
import type { HttpRequest } from '../request.ts';
import { absoluteUrl, refusePlainHttp, socketAddressOf } from '../socket/address.ts';
import { dial, proxysOwn } from '../socket/dial.ts';
import { abortedFailure, redactFailure } from '../socket/failure.ts';
import { chopped, readAnswer, writePieces } from '../socket/message.ts';
import { type About, responseLimits, type TransportOptions } from '../socket/options.ts';
import { REDACTION_MARGIN, readerLimits, recordRequest, recordResponse } from '../socket/recording.ts';
import { ConversationLog, type Wait } from './conversation-log.ts';
import { closeAnswer, FrameDecoder, type HeartbeatAnswer, Heartbeats, type WireFrame } from './frames.ts';

/** How much one conversation may grow. Octets, ms. */
export interface ConversationLimits {
  /** Received after the handshake. 32 MiB when left out. */
  readonly octets: number;
  /** Events of both sides. 20 000 when left out. */
  readonly events: number;
  /** Kept of each payload. 64 KiB when left out. */
  readonly frameBytes: number;
  /** From the start to the end. 180 s when left out. */
  readonly durationMs: number;
}

export interface Opening {
  /** Where: an absolute ws(s) URL, or a path below the base URL. Its path does not matter here: `request` has its own. */
  readonly endpoint: string;
  /** The handshake as it is to be sent (`opening-handshake.ts`); its target is complete (`socketAddressOf`). */
  readonly request: HttpRequest;
  /** `Connection` is never added. */
  readonly form?: Pick<RequestForm, 'httpVersion' | 'withoutHost'>;
  /** Sends the handshake octet by octet. */
  readonly octetByOctet?: boolean;
  /** Answers of its own accord. Pings and a Close are answered when left out. */
  readonly automatic?: {
    /** Answers pings. */
    readonly pong?: boolean;
    /** Answers a Close with its own code, once. */
    readonly close?: boolean;
    /** Answers heartbeats above the frames, where pings are answered; none when left out. */
    readonly heartbeat?: HeartbeatAnswer;
  };
  readonly limits?: Partial<ConversationLimits>;
  /** Masking keys; random when left out. */
  readonly mask?: () => Uint8Array;
}

/** A frame to be masked with a random key unless it says otherwise. */
type FrameOfOurs = Omit<FrameToSend, 'mask'> & Partial<Pick<FrameToSend, 'mask'>>;

interface Writing {
  readonly octetsAtOnce?: number | undefined;
  /** They answer heartbeats of the service. */
  readonly areHeartbeats?: boolean;
}

/** One WebSocket connection in the hands of a probe. Nothing it does throws for what the provider does. */
export interface WebSocketConnection {
  /** The handshake was answered with 101 and TCP is not over. */
  readonly open: boolean;
  /** The answer to the handshake, as recorded. */
  readonly response: RecordedResponse | null;
  /** Why there is no (whole) conversation. */
  readonly failure: ExchangeFailure | null;
  /** `octetsAtOnce`: of each write; all in one when left out. false when TCP was over, or the server did not take it in time. */
  sendFrame(frame: FrameOfOurs, octetsAtOnce?: number): Promise<boolean>;
  /** All of them in one write. */
  sendFrames(frames: readonly FrameOfOurs[]): Promise<boolean>;
  /** Octets that need not be frames; the note says what they are. A frame sent so in parts wants automatic pongs off. */
  sendOctets(octets: Uint8Array, note: string): Promise<boolean>;
  /** Ends our side of TCP (FIN) and goes on listening. false when TCP was over. */
  endOurSide(): Promise<boolean>;
  /** How long no octet has come, in ms. */
  readonly quietMs: number;
  /** See `ConversationLog.next`. */
  next(wait: Wait): Promise<ConversationEvent | null>;
  /** The end or reset of TCP by the server; null as `next`. */
  untilEnd(wait: Pick<Wait, 'timeoutMs' | 'note'>): Promise<ConversationEvent | null>;
  /** Ends TCP and yields what happened. */
  finish(): Conversation;
}

const DEFAULT_LIMITS: ConversationLimits = {
  octets: 32 * 1024 * 1024,
  events: 20_000,
  frameBytes: 64 * 1024,
  durationMs: 180_000,
};

const NOTHING: Uint8Array = new Uint8Array();

/** Opens a WebSocket connection octet by octet under our control, and records it. Judges nothing. */
export async function openConnection(
  options: TransportOptions,
  opening: Opening,
  about: About,
): Promise<WebSocketConnection> {
  const { clock, redaction, timeouts } = options;
  const { address } = socketAddressOf(options.baseUrl, opening.endpoint);
  const answerLimits = responseLimits(options);
  const limits = { ...DEFAULT_LIMITS, ...opening.limits };
  const automatic = { pong: true, close: true, ...opening.automatic };
  const newMask = opening.mask ?? (() => randomBytes(4));
  const stopwatch = new Stopwatch(clock);
  const log = new ConversationLog({ clock, stopwatch, redaction, frameBytes: limits.frameBytes });
  const reader = new ResponseReader({ method: opening.request.method, limits: readerLimits(answerLimits) });
  const decoder = new FrameDecoder(limits.frameBytes + REDACTION_MARGIN);
  const sent = writeRequest(opening.request, opening.request.target, address, options, {
    ...opening.form,
    connection: null,
  });
  const over = new AbortController();
  let socket: Socket | null = null;
  let failure: ExchangeFailure | null = null;
  let received = 0;
  let closeSent = false;
  let listening = false;
  let heartbeats: Heartbeats | null = null;
  /** Payloads of a message of ours whose last frame is not sent yet. */
  let unfinished = NOTHING;
  let isDeflated = false;
  const ours = new Inflation(true);
  /** Answers to heartbeats that wait for the end of a message of ours (RFC 6455 §5.4); null where none is open. */
  let held: FrameOfOurs[] | null = null;
  let writing: Promise<unknown> = Promise.resolve();

  /** Ends the conversation for a reason of ours. */
  function giveUp(reason: ExchangeFailure): void {
    failure ??= reason;
    endTcp();
  }

  function endTcp(): void {
    over.abort();
    if (listening && !log.ended) log.record({ from: 'client', type: 'end' });
    socket?.destroy();
  }

  async function shakeHands(): Promise<void> {
    failure = refusePlainHttp(address, about.credential, options, sent.octets);
    if (failure) return;
    const dialed = await dial(address, options, about.signal);
    failure = dialed.failure;
    if (!dialed.socket) return;
    socket = dialed.socket;
    stopwatch.markConnected();
    const pieces = chopped(sent.octets, opening.octetByOctet ? 1 : sent.octets.length);
    const answer = readAnswer(socket, reader, {
      clock,
      timeouts,
      limits: answerLimits,
      signal: about.signal,
      stopwatch,
      graceMs: 0,
    });
    await Promise.race([answer, writePieces(socket, pieces, over.signal)]);
    failure = (await answer) ?? proxysOwn(reader.response, address, options);
    if (failure || reader.response?.status !== 101) socket.destroy();
    else listen(socket);
  }

  function listen(open: Socket): void {
    listening = true;
    heartbeats = heartbeatsOf(reader.response?.fields ?? [], automatic);
    const cancelDeadline = startDeadline(clock, limits.durationMs - stopwatch.elapsed, () =>
      giveUp({
        kind: 'response-timeout',
        message: `the conversation lasted longer than ${limits.durationMs} ms`,
      }),
    );
    const aborted = () => giveUp(abortedFailure(about.signal, 'aborted during the conversation'));
    about.signal?.addEventListener('abort', aborted, { once: true });
    over.signal.addEventListener('abort', () => {
      cancelDeadline();
      about.signal?.removeEventListener('abort', aborted);
    });
    open.on('data', receive);
    open.on('end', () => ended('end'));
    open.on('error', () => ended('reset'));
    open.on('close', () => ended('reset'));
    if (reader.leftover.length > 0) receive(reader.leftover);
    if (open.destroyed) ended('reset');
    else open.resume();
  }

  function receive(octets: Uint8Array): void {
    if (over.signal.aborted) return;
    received += octets.length;
    log.moved();
    for (const frame of decoder.push(octets)) {
      const answer = heartbeats?.answerTo(frame) ?? null;
      log.recordFrame('server', frame, answer !== null);
      react(frame);
      if (answer !== null) answerHeartbeat({ opcode: OPCODE.text, payload: Buffer.from(answer) });
      if (log.count > limits.events) {
        giveUp({ kind: 'body-too-large', message: `more than ${limits.events} frames` });
        return;
      }
    }
    if (received > limits.octets) {
      giveUp({ kind: 'body-too-large', message: `more than ${limits.octets} octets were received` });
    }
  }

  function react({ opcode, payload }: WireFrame): void {
    // RFC 6455 §5.5: nothing that may be sent answers a longer one.
    const isAnswerable = payload.length <= LONGEST_CONTROL;
    if (opcode === OPCODE.ping && automatic.pong && isAnswerable)
      void sendFrame({ opcode: OPCODE.pong, payload });
    if (opcode === OPCODE.close && automatic.close && !closeSent) {
      void sendFrame({ opcode: OPCODE.close, payload: closeAnswer(payload) });
    }
  }

  function answerHeartbeat(answer: FrameOfOurs): void {
    if (closeSent) return;
    if (held === null) void writeFrames([answer], { areHeartbeats: true });
    else held.push(answer);
  }

  function ended(how: 'end' | 'reset'): void {
    if (log.ended) return;
    const rest = decoder.end();
    if (rest.frame) log.recordFrame('server', rest.frame);
    if (rest.octets.length > 0) log.recordOctets('server', rest.octets, 'less than a frame');
    log.record({ from: 'server', type: how });
    over.abort();
  }

  const isOpen = () => listening && failure === null && !log.ended;

  /** One write after the other: an automatic pong must not fall into a frame that is sent in pieces. */
  function inTurn(act: (writable: Socket) => boolean | Promise<boolean>): Promise<boolean> {
    const mine = writing.then(() => (isOpen() && socket?.writable ? act(socket) : false));
    writing = mine;
    return mine;
  }

  function write(octets: Uint8Array, record: () => void, octetsAtOnce = octets.length): Promise<boolean> {
    return inTurn((writable) => {
      record();
      const written = writePieces(writable, chopped(octets, octetsAtOnce), over.signal);
      // A server that does not read does not hold us up for longer than one that does not answer.
      return inTime(clock, timeouts.responseMs, written);
    });
  }

  function sendFrame(frame: FrameOfOurs, octetsAtOnce?: number): Promise<boolean> {
    return sendFrames([frame], octetsAtOnce);
  }

  function sendFrames(frames: readonly FrameOfOurs[], octetsAtOnce?: number): Promise<boolean> {
    const writing = writeFrames(frames, { octetsAtOnce });
    const data = frames.findLast(({ opcode }) => !isControl(opcode));
    if (data === undefined) return writing;
    const due = held ?? [];
    held = data.fin === false ? due : null;
    if (held === null && due.length > 0 && !closeSent) void writeFrames(due, { areHeartbeats: true });
    return writing;
  }

  /** A secret does not travel readable in a message either, compressed or not, whatever the handshake carried. */
  function refusalOf(frames: readonly FrameOfOurs[]): ExchangeFailure | null {
    const data = frames.filter(({ opcode }) => !isControl(opcode));
    if (data.length === 0) return null;
    if (unfinished.length === 0) isDeflated = data[0]?.rsv === COMPRESSED;
    const payload = Buffer.concat([unfinished, ...data.flatMap(({ payload }) => payload ?? [])]);
    unfinished = data.at(-1)?.fin === false ? payload : NOTHING;
    const inflate = () => (unfinished.length === 0 ? ours.next(payload).octets : ours.begun(payload));
    const inflated = isDeflated ? inflate() : null;
    const readable = Buffer.concat([payload, inflated ?? NOTHING]);
    return refusePlainHttp(address, 'none', { ...options, headers: [] }, readable);
  }

  function writeFrames(frames: readonly FrameOfOurs[], how: Writing): Promise<boolean> {
    const { octetsAtOnce, areHeartbeats = false } = how;
    const refusal = refusalOf(frames);
    if (refusal !== null) {
      giveUp(refusal);
      return Promise.resolve(false);
    }
    const encoded = frames.map((frame) =>
      encodeFrame({ ...frame, mask: frame.mask === undefined ? newMask() : frame.mask }),
    );
    if (frames.some(({ opcode }) => opcode === OPCODE.close)) closeSent = true;
    const record = () => {
      for (const octets of encoded) {
        log.recordFrame('client', asOnTheWire(octets, limits.frameBytes + REDACTION_MARGIN), areHeartbeats);
      }
    };
    return write(Buffer.concat(encoded), record, octetsAtOnce);
  }

  await shakeHands();

  return {
    get open() {
      return isOpen();
    },
    get response() {
      return recordResponse(redaction, reader, answerLimits);
    },
    get quietMs() {
      return log.quietMs;
    },
    get failure() {
      return failure && redactFailure(redaction, failure);
    },
    sendFrame,
    sendFrames,
    sendOctets: (octets, note) => write(octets, () => log.recordOctets('client', octets, note)),
    endOurSide: () =>
      inTurn((writable) => {
        log.record({ from: 'client', type: 'fin' });
        writable.end();
        return true;
      }),
    next: (wait) => (listening ? log.next(wait) : Promise.resolve(null)),
    untilEnd: (wait) =>
      listening ? log.next({ note: 'the end of TCP', ...wait, match: isEnd }) : Promise.resolve(null),
    finish() {
      endTcp();
      return {
        kind: 'conversation',
        id: about.id,
        purpose: about.purpose,
        credential: about.credential,
        handshake: {
          request: recordRequest(
            redaction,
            { ...sent, piecemeal: opening.octetByOctet ?? false },
            absoluteUrl(address, sent.target, 'ws'),
            answerLimits,
          ),
          response: recordResponse(redaction, reader, answerLimits),
          expectedAccept: expectedAccept(sent.fields),
        },
        events: log.events,
        failure: failure && redactFailure(redaction, failure),
        timing: stopwatch.timing,
      };
    },
  };
}

function heartbeatsOf(
  fields: readonly FieldLine[],
  { pong = true, heartbeat }: NonNullable<Opening['automatic']>,
): Heartbeats | null {
  if (!pong || heartbeat === undefined) return null;
  const agreed = readExtensions(fieldValue(fields, 'sec-websocket-extensions') ?? '').extensions;
  return new Heartbeats(heartbeat, agreedInflation(agreed, 'server'));
}

function isEnd({ type }: ConversationEvent): boolean {
  return type === 'end' || type === 'reset';
}

/** Our own frame as the other side would read it. */
function asOnTheWire(octets: Uint8Array, keep: number): WireFrame {
  const decoder = new FrameDecoder(keep);
  const frame = decoder.push(octets)[0] ?? decoder.end().frame;
  if (!frame) throw new TypeError('an encoded frame has at least its head');
  return frame;
}
