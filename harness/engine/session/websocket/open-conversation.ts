import { Blocked } from '../../../base/verdict.ts';
import { encodeFrame, type FrameToSend, isControl, OPCODE } from '../../../wire/conversation/frame.ts';
import {
  agreedInflation,
  agreedWindowBits,
  Deflation,
  type Inflation,
} from '../../../wire/conversation/inflation.ts';
import {
  assemble,
  carriesTheSame,
  type Message,
  type TimedFrame,
} from '../../../wire/conversation/message.ts';
import type { ConversationEvent, RecordedFrame } from '../../../wire/conversation.ts';
import { type Extension, readExtensions } from '../../../wire/fields/extension.ts';
import { fieldValue } from '../../../wire/fields/grammar/field-grammar.ts';
import type { WebSocketConnection } from '../../../wire/websocket/connection.ts';
import { closePayload } from '../../../wire/websocket/frames.ts';
import type { CloseTimeout } from '../turn/session-context.ts';

/** How a frame departs from a whole, masked one without reserved bits. */
export type Unusual = Partial<Pick<FrameToSend, 'fin' | 'rsv' | 'mask' | 'lengthOctets'>>;

interface Patience {
  /** Longest wait, in ms, for a frame that should come at once. */
  readonly patienceMs: number;
  /** The same after the decisive event. */
  readonly lingerMs: number;
  /** Waits that have failed before. */
  readonly closing: CloseTimeout;
}

/** Number of messages among which one is looked for. */
const MOST_MESSAGES = 100;

/** Longest wait, in ms, for a message on a slow line. */
export const LONGEST_MS = 30_000;
const TOO_SLOW = `a message was still coming after ${LONGEST_MS / 1_000} s, so this would prove nothing`;

/** An open connection of a probe: it sends, and waits a bounded time for the result. */
export class OpenConversation {
  readonly #connection: WebSocketConnection;
  readonly #patienceMs: number;
  readonly #lingerMs: number;
  readonly #closing: CloseTimeout;
  readonly #agreed: readonly Extension[];
  readonly #inflation: Inflation | null;
  readonly #deflation: Deflation;

  constructor(connection: WebSocketConnection, { patienceMs, lingerMs, closing }: Patience) {
    this.#connection = connection;
    this.#patienceMs = patienceMs;
    this.#lingerMs = lingerMs;
    this.#closing = closing;
    const fields = connection.response?.fields ?? [];
    this.#agreed = readExtensions(fieldValue(fields, 'sec-websocket-extensions') ?? '').extensions;
    this.#inflation = agreedInflation(this.#agreed, 'server');
    this.#deflation = new Deflation(this.#clientKeepsContext, this.#clientWindowBits);
  }

  get #clientKeepsContext(): boolean {
    return !this.#agreed.some(({ parameters }) => parameters.has('client_no_context_takeover'));
  }

  get #clientWindowBits(): number {
    return agreedWindowBits(this.#agreed[0]?.parameters ?? new Map(), 'client');
  }

  /** Number of octets by which our compressed messages may refer back. */
  get clientWindow(): number {
    return 2 ** this.#clientWindowBits;
  }

  /** TCP is not over. */
  get isOpen(): boolean {
    return this.#connection.open;
  }

  /** permessage-deflate was agreed on. */
  get isCompressing(): boolean {
    return this.#inflation !== null;
  }

  /** The payload of our next message, compressed as agreed (RFC 7692 §7.2.1). */
  deflated(payload: string | Uint8Array): Uint8Array {
    return this.#deflation.next(octets(payload));
  }

  /** Sends a compressed message in fragments, and waits until it comes back. @returns whether it did. */
  async deflatedEcho(kind: 'text' | 'binary', payload: string | Uint8Array, fragments = 1): Promise<boolean> {
    await this.deflatedMessage(kind, this.deflated(payload), fragments);
    return this.returned(octets(payload));
  }

  /** A message of these compressed octets; `between` is done after its first fragment. */
  async deflatedMessage(
    kind: 'text' | 'binary',
    compressed: Uint8Array,
    fragments = 1,
    between: () => Promise<unknown> = async () => {},
  ): Promise<void> {
    const length = Math.ceil(compressed.length / fragments);
    for (let index = 0; index < fragments; index++) {
      const part = compressed.subarray(index * length, (index + 1) * length);
      const opcode = index === 0 ? OPCODE[kind] : OPCODE.continuation;
      // RFC 7692 §6: RSV1 stands on the first fragment alone.
      await this.frame(opcode, part, { fin: index === fragments - 1, rsv: index === 0 ? 4 : 0 });
      if (index === 0) await between();
    }
  }

  async frame(opcode: number, payload: string | Uint8Array = '', unusual: Unusual = {}): Promise<void> {
    await this.#connection.sendFrame({ opcode, payload: octets(payload), ...unusual });
  }

  text(payload: string | Uint8Array, unusual: Unusual = {}): Promise<void> {
    return this.frame(OPCODE.text, payload, unusual);
  }

  /** Several frames in one segment. */
  async together(
    note: string,
    ...frames: readonly (readonly [opcode: number, payload: string])[]
  ): Promise<void> {
    const mask = Uint8Array.of(1, 2, 3, 4);
    const encoded = frames.map(([opcode, payload]) =>
      encodeFrame({ opcode, payload: octets(payload), mask }),
    );
    await this.#connection.sendOctets(Buffer.concat(encoded), note);
  }

  /** Sends a Ping and waits for its Pong. @returns whether it came. */
  ping(payload: string | Uint8Array, octetsAtOnce?: number): Promise<boolean> {
    return this.#ping(payload, this.#patienceMs, octetsAtOnce);
  }

  /** Several Pings in one write, then the wait for the Pong of the last. @returns whether it came. */
  async pingsAtOnce(payloads: readonly string[]): Promise<boolean> {
    const pings = payloads.map((payload) => ({ opcode: OPCODE.ping, payload: octets(payload) }));
    await this.#connection.sendFrames(pings);
    return this.#pong(octets(payloads.at(-1) ?? ''), this.#patienceMs);
  }

  async #ping(payload: string | Uint8Array, timeoutMs: number, octetsAtOnce?: number): Promise<boolean> {
    const sent = octets(payload);
    await this.#connection.sendFrame({ opcode: OPCODE.ping, payload: sent }, octetsAtOnce);
    return this.#pong(sent, timeoutMs);
  }

  async #pong(sent: Uint8Array, timeoutMs: number): Promise<boolean> {
    const match = (event: ConversationEvent) => isPong(event, sent);
    return (await this.#connection.next({ timeoutMs, match, note: 'for the Pong' })) !== null;
  }

  /** Sends a message and waits until it comes back. @returns whether it did. */
  async echo(kind: 'text' | 'binary', ...fragments: readonly (string | Uint8Array)[]): Promise<boolean> {
    await this.fragments(kind, ...fragments);
    return this.returned(Buffer.concat(fragments.map(octets)));
  }

  /**
   * As `echo`, for a slow line: waits as long as octets come back. The Pong to a Ping after the message shows that the service
   * has read it. @throws Blocked if octets still come after half a minute.
   */
  async longEcho(kind: 'text' | 'binary', payload: Uint8Array): Promise<boolean> {
    await this.frame(OPCODE[kind], payload);
    if (await this.returned(payload, LONGEST_MS)) return true;
    if (!this.#connection.open) return false;
    if (this.#connection.quietMs < this.#patienceMs) throw new Blocked(TOO_SLOW);
    const asked = octets('still reading?');
    const match = (event: ConversationEvent) => isOver(event) || isPong(event, asked);
    await this.frame(OPCODE.ping, asked);
    await this.#connection.next({ timeoutMs: LONGEST_MS, match, note: 'for the Pong' });
    return this.returned(payload, LONGEST_MS);
  }

  async fragments(kind: 'text' | 'binary', ...fragments: readonly (string | Uint8Array)[]): Promise<void> {
    for (const [index, fragment] of fragments.entries()) {
      const opcode = index === 0 ? OPCODE[kind] : OPCODE.continuation;
      await this.frame(opcode, fragment, { fin: index === fragments.length - 1 });
    }
  }

  /** Waits for a message with this payload, whatever comes before it. `movingMs`: see `Wait`. */
  async returned(payload: Uint8Array, movingMs = 0): Promise<boolean> {
    const wanted = messageOf(payload);
    const isWanted = (each: Message) => carriesTheSame(each, wanted);
    return (await this.message('for the message to come back', isWanted, { movingMs })) !== null;
  }

  /** Many texts, each a message of its own, in one write. */
  async atOnce(note: string, texts: readonly string[]): Promise<void> {
    await this.together(note, ...texts.map((text) => [OPCODE.text, text] as const));
  }

  /** Sends a part of a frame. @returns whether the server then ends the conversation. */
  async endsUpon(part: Uint8Array, note: string): Promise<boolean> {
    await this.#connection.sendOctets(part, note);
    const wait = { timeoutMs: this.#lingerMs, match: isOver, note: `for the end upon ${note}` };
    const over = await this.#connection.next(wait);
    if (over !== null) await this.#untilTcpEnds(over);
    return over !== null || !this.#connection.open;
  }

  /** Sends nothing for this time, or until then. @returns whether the connection is still open. */
  async silence(forMs: number, until?: Promise<unknown>): Promise<boolean> {
    const wait = { timeoutMs: forMs, match: isOver, note: 'in silence' };
    const over = await this.#connection.next({ ...wait, ...(until && { until }) });
    return over === null && this.#connection.open;
  }

  /** Waits for a message that satisfies, among the next hundred. @returns it; null if none came. */
  async message(
    note: string,
    satisfies: (message: Message) => boolean,
    { most = MOST_MESSAGES, movingMs = 0 } = {},
  ): Promise<Message | null> {
    for (let count = 0; count < most; count++) {
      const message = await this.#nextMessage(note, movingMs);
      if (message === null || (!message.isHeartbeat && satisfies(message))) return message;
    }
    return null;
  }

  /** Waits for a data frame of at least this length, or for the end. */
  async bulk(octetsAtLeast: number): Promise<void> {
    const isBulk = (event: ConversationEvent) =>
      event.type === 'frame' && isData(event) && event.frame.length >= octetsAtLeast;
    await this.#next('for an answer', (event) => isOver(event) || isBulk(event));
  }

  async #nextMessage(note: string, movingMs: number): Promise<Message | null> {
    const frames: TimedFrame[] = [];
    for (;;) {
      const event = await this.#next(note, isData, movingMs);
      if (event?.type !== 'frame') return null;
      frames.push({ atMs: event.atMs, frame: event.frame });
      const [message] = event.frame.fin ? assemble(frames, this.#inflation).messages : [];
      if (message) return message;
    }
  }

  /**
   * Sends a Close, and waits for that of the server, then briefly for the server to end TCP (RFC 6455 §7.1.1). Once a Close was not
   * answered, the waits are short.
   */
  close(code?: number, reason?: string): Promise<void> {
    const timeoutMs = this.#closing.timedOut ? this.#lingerMs : this.#patienceMs;
    return this.#close(closePayload(code, reason), timeoutMs, this.#lingerMs);
  }

  /** As `close`, with the full wait for the answer and for the end of TCP. */
  closeWhole(code?: number, reason?: string): Promise<void> {
    return this.#close(closePayload(code, reason), this.#patienceMs, this.#patienceMs);
  }

  async #close(payload: Uint8Array, timeoutMs: number, untilMs: number): Promise<void> {
    await this.frame(OPCODE.close, payload);
    const over = await this.#connection.next({ timeoutMs, match: isOver, note: 'for the Close' });
    if (over === null && this.#connection.open) this.#closing.timedOut = true;
    else await this.#connection.untilEnd({ timeoutMs: untilMs, note: 'for the end of TCP' });
  }

  /** Waits for a Close, and then for this time for the end of TCP. */
  async outlast(forMs: number): Promise<void> {
    await this.#untilTcpEnds(await this.#next('for the Close', isOver), forMs);
  }

  /** Ends our side of TCP without a Close, and waits for the server to end its own. */
  async leave(): Promise<void> {
    await this.#connection.endOurSide();
    await this.#connection.untilEnd({ timeoutMs: this.#patienceMs, note: 'for the end of TCP' });
  }

  /**
   * Waits for the server to end the conversation, then sends a Ping to see whether it still works. Nothing is sent before: octets
   * to a closed socket cause a reset, which can overtake a Close.
   */
  async end(): Promise<void> {
    const over = await this.#next('for the end', isOver);
    if (over?.type === 'frame') await this.#untilTcpEnds(over);
    else if (this.#connection.open) await this.#ping('still there?', this.#lingerMs);
  }

  /**
   * The same if the server must end it. If it did not once, the Ping comes after half of the time: a server that answers it goes
   * on (RFC 6455 §7.1.7).
   */
  async mustEnd(): Promise<void> {
    const firstMs = this.#closing.timedOut ? this.#patienceMs / 2 : this.#patienceMs;
    const over = await this.#connection.next({ timeoutMs: firstMs, match: isOver, note: 'for the end' });
    if (over === null && this.#connection.open) {
      this.#closing.timedOut = true;
      const asked = octets('still there?');
      const match = (event: ConversationEvent) => isOver(event) || isPong(event, asked);
      await this.frame(OPCODE.ping, asked);
      const timeoutMs = this.#patienceMs - firstMs + this.#lingerMs;
      const later = await this.#connection.next({ timeoutMs, match, note: 'for the Pong' });
      await this.#untilTcpEnds(later);
    } else await this.#untilTcpEnds(over);
  }

  /** Briefly, if this is a Close. */
  async #untilTcpEnds(over: ConversationEvent | null, timeoutMs = this.#lingerMs): Promise<void> {
    if (over !== null && isFrame(over, OPCODE.close))
      await this.#connection.untilEnd({ timeoutMs, note: 'for the end of TCP' });
  }

  #next(
    note: string,
    match: (event: ConversationEvent) => boolean,
    movingMs = 0,
  ): Promise<ConversationEvent | null> {
    return this.#connection.next({ timeoutMs: this.#patienceMs, movingMs, match, note });
  }
}

function octets(payload: string | Uint8Array): Uint8Array {
  return typeof payload === 'string' ? Buffer.from(payload) : payload;
}

type FrameEvent = ConversationEvent & { readonly type: 'frame'; readonly frame: RecordedFrame };

function isFrame(event: ConversationEvent, opcode: number): event is FrameEvent {
  return event.type === 'frame' && event.frame.opcode === opcode;
}

function isPong(event: ConversationEvent, sent: Uint8Array): boolean {
  return isFrame(event, OPCODE.pong) && Buffer.compare(event.frame.payload, sent) === 0;
}

function isData(event: ConversationEvent): boolean {
  return event.type === 'frame' && !isControl(event.frame.opcode);
}

function isOver(event: ConversationEvent): boolean {
  return event.type === 'end' || event.type === 'reset' || isFrame(event, OPCODE.close);
}

/** A payload as a message of ours. */
function messageOf(payload: Uint8Array): Message {
  const whole = { text: null, truncated: false, digest: null, frames: 1, isHeartbeat: false };
  return { atMs: 0, kind: 'binary', length: payload.length, payload, ...whole };
}
