import { isUtf8 } from 'node:buffer';
import type { Conversation, ConversationEvent, RecordedFrame } from '../conversation.ts';
import { isOrdinary } from '../exchange/reply.ts';
import { type ResponseView, viewResponse } from '../exchange/response.ts';
import { keep } from '../exchange/response-message.ts';
import { deflateAnswerFault, type ExtensionReading, readExtensions } from '../fields/extension.ts';
import { fieldValue, listElements } from '../fields/grammar/field-grammar.ts';
import { visible } from '../octets/utf8.ts';
import { dialectOf, isSubscription, type PusherEvent, pusherEvents, readPusherEvent } from './dialect.ts';
import {
  type ClosePayload,
  dataAfterClose,
  type FrameFault,
  type FrameRule,
  faultsOfFrames,
  isControl,
  mayBeSent,
  OPCODE,
  readClosePayload,
  strayOctets,
} from './frame.ts';
import { agreedInflation } from './inflation.ts';
import { type Assembled, assemble, type Echo, type Message, pairEchoes, type TimedFrame } from './message.ts';

/** A Close frame that was sent. */
interface SentClose extends ClosePayload {
  readonly atMs: number;
  /** Octets of its payload. */
  readonly length: number;
}

/** Servers that stand in front of others and write Connection and Upgrade anew. */
const INTERMEDIARIES =
  /^(?:nginx|openresty|apache|haproxy|envoy|istio-envoy|cloudflare|cloudfront|akamai|awselb|kong|caddy|traefik|varnish|litespeed)\b/i;
/** Fields that only such servers write. */
const OF_INTERMEDIARIES = /^(?:via|cf-ray|x-amz-cf-id|x-varnish|x-served-by|x-envoy-.+|x-kong-.+)$/i;

/** A conversation as checks read it; each property is worked out when it is first asked for. */
export class ConversationView {
  readonly conversation: Conversation;

  constructor(conversation: Conversation) {
    this.conversation = conversation;
  }

  get evidence(): string {
    return this.conversation.id;
  }

  /** What it was for, for messages: `a WebSocket with an unmasked frame`. */
  get to(): string {
    return this.conversation.purpose;
  }

  // --- the opening handshake (RFC 6455 §4) ---

  /** The answer to the opening handshake; null when none came. */
  get handshake(): ResponseView | null {
    return keep(
      this,
      'handshake',
      this.conversation.handshake.response ? viewResponse(this.conversation) : null,
    );
  }

  /** Of the answer to the opening handshake; null when none came. */
  get status(): number | null {
    return this.handshake?.status ?? null;
  }

  /** The handshake was answered 101 (§4.1). */
  get opened(): boolean {
    return this.status === 101;
  }

  /** Where the answer sends the client instead (RFC 9110 §15.4); null for nowhere. */
  get redirect(): string | null {
    const { status, handshake } = this;
    return status !== null && status >= 300 && status < 400 ? (handshake?.field('location') ?? null) : null;
  }

  /** `Sec-WebSocket-Accept` as it came; null when it did not. */
  get accept(): string | null {
    return this.handshake?.field('sec-websocket-accept') ?? null;
  }

  /** `Sec-WebSocket-Accept` is the one that the key calls for (§4.2.2). */
  get acceptIsRight(): boolean {
    const { expectedAccept } = this.conversation.handshake;
    return expectedAccept !== null && this.accept === expectedAccept;
  }

  /** Our handshake was one that every server takes for WebSocket (§4.1). */
  get isOrdinary(): boolean {
    const { request, expectedAccept } = this.conversation.handshake;
    const names = (field: string, token: string) =>
      this.offered(field).some((each) => each.toLowerCase() === token);
    return (
      expectedAccept !== null &&
      isOrdinary(request) &&
      request.httpVersion === undefined &&
      request.method === 'GET' &&
      names('upgrade', 'websocket') &&
      names('connection', 'upgrade') &&
      names('sec-websocket-version', '13')
    );
  }

  /** Elements of a list field of our own handshake. */
  offered(name: string): readonly string[] {
    return listElements(fieldValue(this.conversation.handshake.request.fields, name) ?? '');
  }

  /** The selected subprotocol; null for none. */
  get subprotocol(): string | null {
    return this.handshake?.field('sec-websocket-protocol') ?? null;
  }

  /** The selected extensions (§9.1). */
  get extensions(): ExtensionReading {
    return keep(this, 'extensions', readExtensions(this.handshake?.field('sec-websocket-extensions') ?? ''));
  }

  /** What of the answer to an offer of permessage-deflate does not fit that offer (RFC 7692 §7.1); null for nothing. */
  get deflateAnswerFault(): string | null {
    return deflateAnswerFault(this.extensions, this.offered('sec-websocket-extensions'));
  }

  /** Names of the extensions that were selected without being offered (§9.1). */
  get unofferedExtensions(): readonly string[] {
    // By its name alone: an offer with a malformed parameter is an offer, too.
    const offers = this.offered('sec-websocket-extensions').flatMap((offer) => offer.split(','));
    const offered = offers.map((offer) => offer.replace(/;.*/s, '').trim());
    return namesIn(this.extensions).filter((name) => !offered.includes(name));
  }

  /** permessage-deflate was selected (RFC 7692). */
  get isCompressing(): boolean {
    return /^\s*permessage-deflate\b/i.test(this.handshake?.field('sec-websocket-extensions') ?? '');
  }

  /** What the answer tells of a server that stands in front: it writes Connection and Upgrade anew. null for nothing. */
  get intermediary(): string | null {
    const mark = this.handshake?.fields.find(([name]) => OF_INTERMEDIARIES.test(name));
    if (mark !== undefined) return `${mark[0]}: ${visible(mark[1], 80)}`;
    const server = this.handshake?.field('server');
    return server !== undefined && INTERMEDIARIES.test(server) ? `Server: ${server}` : null;
  }

  // --- frames and messages (§5) ---

  get serverFrames(): readonly TimedFrame[] {
    return keep(this, 'serverFrames', this.#framesFrom('server'));
  }

  get clientFrames(): readonly TimedFrame[] {
    return keep(this, 'clientFrames', this.#framesFrom('client'));
  }

  /** Whether all that we sent, messages and reasons, is UTF-8: octets that are none were the service's own. */
  get isSaidInUtf8(): boolean {
    const said = this.clientFrames.map(({ frame }) => frame);
    const data = said.filter(({ opcode }) => !isControl(opcode)).map(({ payload }) => payload);
    const closes = said.filter(({ opcode }) => opcode === OPCODE.close);
    return (
      isUtf8(Buffer.concat(data)) && closes.every(({ payload }) => readClosePayload(payload).reason !== null)
    );
  }

  #framesFrom(from: 'client' | 'server'): readonly TimedFrame[] {
    return this.conversation.events.flatMap((event) =>
      event.type === 'frame' && event.from === from ? [{ atMs: event.atMs, frame: event.frame }] : [],
    );
  }

  /** What the server's frames amount to. */
  get fromServer(): Assembled {
    const inflation = agreedInflation(this.extensions.extensions, 'server');
    return keep(this, 'fromServer', assemble(this.serverFrames, inflation));
  }

  get fromClient(): Assembled {
    const inflation = agreedInflation(this.extensions.extensions, 'client');
    return keep(this, 'fromClient', assemble(this.clientFrames, inflation));
  }

  /** Whole messages from the server, in order, but for its heartbeats. */
  get messages(): readonly Message[] {
    return this.fromServer.messages.filter(({ isHeartbeat }) => !isHeartbeat);
  }

  /** Whole messages of ours, in order, but for answers to its heartbeats. */
  get sent(): readonly Message[] {
    return this.fromClient.messages.filter(({ isHeartbeat }) => !isHeartbeat);
  }

  /** Heartbeats of the dialect that the server sent, each with whether we answered it. */
  get heartbeats(): readonly (Message & { readonly isAnswered: boolean })[] {
    const isHeartbeat = (message: Message) => message.isHeartbeat;
    const answers = this.fromClient.messages.filter(isHeartbeat);
    const asked = this.fromServer.messages.filter(isHeartbeat);
    return asked.map((message, index) => ({ ...message, isAnswered: index < answers.length }));
  }

  /** The first message of the server, where it spoke before we did. */
  get greeting(): Message | null {
    const [first] = this.messages;
    const [ours] = this.sent;
    return first !== undefined && (ours === undefined || first.atMs < ours.atMs) ? first : null;
  }

  /** The dialect that the greeting is of; null for none that is known. */
  get dialect(): string | null {
    return dialectOf(this.greeting?.text ?? '');
  }

  /** Each message of ours with its echo. Other messages of the server may come in between. */
  get echoes(): readonly Echo[] {
    return keep(this, 'echoes', pairEchoes(this.sent, this.messages));
  }

  /** The server's messages, read as events of the Pusher protocol. */
  get pusherEvents(): readonly PusherEvent[] {
    return keep(this, 'pusherEvents', pusherEvents(this.messages));
  }

  /** The greeting, read so; null when there is none, or it is no event. */
  get greetingEvent(): PusherEvent | null {
    return readPusherEvent(this.greeting?.text ?? '');
  }

  /** A client of ours was let into that channel. */
  hasSubscribed(wanted: string): boolean {
    return this.pusherEvents.some((each) => isSubscription(each, wanted));
  }

  /** Codes with which the client was refused, by pusher:error and by the Close. */
  get pusherCodes(): readonly number[] {
    const errors = this.pusherEvents.filter(({ event }) => event === 'pusher:error');
    return [...errors.map(({ data }) => data?.code), this.closeCode].filter(
      (code) => typeof code === 'number',
    );
  }

  /** Payloads of the server's Pong frames, in order. */
  get pongs(): readonly Uint8Array[] {
    return this.serverFrames.flatMap(({ frame }) => (frame.opcode === OPCODE.pong ? [frame.payload] : []));
  }

  /** When the service pinged, in ms since the connection was asked for. */
  get pingTimes(): readonly number[] {
    return this.serverFrames.flatMap(({ atMs, frame }) =>
      frame.opcode === OPCODE.ping ? [Math.round(atMs)] : [],
    );
  }

  /** Our Pings that no Pong with the same payload followed (§5.5.3). */
  get unansweredPings(): readonly TimedFrame[] {
    return this.clientFrames.filter(
      ({ atMs, frame }) =>
        frame.opcode === OPCODE.ping &&
        !this.serverFrames.some(
          (answer) =>
            answer.atMs >= atMs &&
            answer.frame.opcode === OPCODE.pong &&
            Buffer.compare(answer.frame.payload, frame.payload) === 0,
        ),
    );
  }

  // --- the end (§7) ---

  /** The first Close frame of the server; null when it sent none. */
  get serverClose(): SentClose | null {
    return closeOf(this.serverFrames);
  }

  get clientClose(): SentClose | null {
    return closeOf(this.clientFrames);
  }

  /** Of the server's Close frame; null when it sent none, or one without a code. */
  get closeCode(): number | null {
    return this.serverClose?.code ?? null;
  }

  /** The same where it may be on the wire at all (§7.4): one that may not is a finding of its own. */
  get lawfulCloseCode(): number | null {
    const { closeCode } = this;
    return closeCode !== null && mayBeSent(closeCode) ? closeCode : null;
  }

  /** How and when the server ended the TCP connection; null when it did not. */
  get ended(): { readonly atMs: number; readonly how: 'end' | 'reset' } | null {
    for (const event of this.conversation.events) {
      if (event.from === 'server' && (event.type === 'end' || event.type === 'reset')) {
        return { atMs: event.atMs, how: event.type };
      }
    }
    return null;
  }

  /** The server ended the conversation: with a Close frame of its own accord or in answer, or by ending TCP. */
  get isOver(): boolean {
    return this.serverClose !== null || this.ended !== null;
  }

  /** The Close or the end of TCP with which the server went before we had closed; null when it did not. */
  get unaskedEnd(): { readonly atMs: number; readonly code: number | null } | null {
    const over = this.serverClose ?? this.ended;
    if (over === null || (this.clientClose !== null && over.atMs >= this.clientClose.atMs)) return null;
    return { atMs: over.atMs, code: this.closeCode };
  }

  /** A frame of ours with this text was sent before the server ended the conversation. */
  saidBeforeEnd(text: string): boolean {
    const isEnd = ({ from, type }: ConversationEvent, frame: RecordedFrame | null) =>
      from === 'server' && (type === 'end' || type === 'reset' || frame?.opcode === OPCODE.close);
    for (const event of this.conversation.events) {
      const frame = event.type === 'frame' ? event.frame : null;
      if (isEnd(event, frame)) return false;
      if (event.from === 'client' && frame && Buffer.from(frame.payload).includes(text)) return true;
    }
    return false;
  }

  /** The handshake was taken, and the server did not end the conversation. */
  get isServed(): boolean {
    return this.opened && !this.isOver;
  }

  /** How the client was refused: the status, or how the connection was closed after 101. */
  get refusal(): number | string {
    if (this.status === null) return 'no answer';
    if (!this.opened) return this.status;
    return this.isOver ? `101, then close code ${this.closeCode ?? 'none'}` : 'not refused';
  }

  /** What there was in place of the end, for messages. */
  get afterwards(): string {
    const waited = this.conversation.events.findLast((event) => event.type === 'waited');
    const pinged = this.clientFrames.findLast(({ frame }) => frame.opcode === OPCODE.ping);
    const isAnswered = pinged !== undefined && !this.unansweredPings.includes(pinged);
    if (isAnswered && pinged.atMs >= (waited?.atMs ?? 0)) return 'a connection that goes on to answer a Ping';
    if (this.conversation.failure !== null) return this.conversation.failure.message;
    return waited ? `an open connection after ${Math.round(waited.forMs)} ms` : 'an open connection';
  }

  // --- what the server broke ---

  /** Where the server's octets break RFC 6455 §5 to §8. */
  get faults(): readonly FrameFault[] {
    const frames = this.serverFrames.map(({ frame }) => frame);
    return keep(this, 'faults', [
      ...faultsOfFrames(frames, this.isCompressing),
      ...this.fromServer.faults,
      ...dataAfterClose(frames),
      ...strayOctets(this.conversation.events),
    ]);
  }

  /** The first of them that breaks one of these rules; null for none. */
  faultOf(...rules: readonly FrameRule[]): string | null {
    return this.faults.find(({ rule }) => rules.includes(rule))?.message ?? null;
  }
}

function namesIn({ extensions }: ExtensionReading): readonly string[] {
  return extensions.map(({ name }) => name);
}

export function viewConversation(conversation: Conversation): ConversationView {
  return new ConversationView(conversation);
}

function closeOf(frames: readonly TimedFrame[]): SentClose | null {
  const found = frames.find(({ frame }) => frame.opcode === OPCODE.close);
  return found
    ? { atMs: found.atMs, length: found.frame.length, ...readClosePayload(found.frame.payload) }
    : null;
}
