import type { Conversation, ConversationEvent } from '../../evidence/conversation.ts';
import type { ExchangeFailure, RecordedResponse } from '../../evidence/exchange.ts';
import type { HttpRequest, RequestForm } from '../http/request.ts';
import type { Wait } from './conversation-log.ts';
import type { FrameToSend } from './frames.ts';

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
  /** The handshake as it is to be sent (`handshake.ts`); its target is complete (`socketAddressOf`). */
  readonly request: HttpRequest;
  /** `Connection` is never added. */
  readonly form?: Pick<RequestForm, 'httpVersion' | 'exact'>;
  /** Sends the handshake octet by octet, so many ms apart. */
  readonly octetPauseMs?: number;
  /** What is done without being told: both when left out. */
  readonly automatic?: {
    /** Answers pings. */
    readonly pong?: boolean;
    /** Answers a Close with its own code, once. */
    readonly close?: boolean;
  };
  readonly limits?: Partial<ConversationLimits>;
  /** Masking keys; random when left out. */
  readonly mask?: () => Uint8Array;
}

/** How the octets of a frame are cut for the wire. */
export interface Chops {
  readonly octets: number;
  readonly pauseMs?: number;
}

/** One WebSocket connection in the hands of a probe. Nothing it does throws for what the provider does. */
export interface WebSocketConnection {
  /** The handshake was answered with 101 and TCP is not over. */
  readonly open: boolean;
  /** The answer to the handshake, as recorded. */
  readonly response: RecordedResponse | null;
  /** Why there is no (whole) conversation. */
  readonly failure: ExchangeFailure | null;
  /** Masked with a random key unless it says otherwise. false when TCP was over, or the server did not take it in time. */
  sendFrame(
    frame: Omit<FrameToSend, 'mask'> & Partial<Pick<FrameToSend, 'mask'>>,
    chops?: Chops,
  ): Promise<boolean>;
  sendText(text: string): Promise<boolean>;
  /** Octets that need not be frames; the note says what they are. A frame sent so in parts wants automatic pongs off. */
  sendOctets(octets: Uint8Array, note: string): Promise<boolean>;
  ping(payload?: Uint8Array): Promise<boolean>;
  close(code?: number, reason?: string): Promise<boolean>;
  /** Ends our side of TCP, and goes on reading. */
  halfClose(): void;
  /** See `ConversationLog.next`. */
  next(wait: Wait): Promise<ConversationEvent | null>;
  /** The end or reset of TCP by the server; null as `next`. */
  untilEnd(wait: Pick<Wait, 'timeoutMs' | 'note'>): Promise<ConversationEvent | null>;
  /** Ends TCP and yields what happened. */
  finish(): Conversation;
}
