import type {
  CredentialUse,
  EvidenceId,
  ExchangeFailure,
  RecordedRequest,
  RecordedResponse,
  Timing,
} from './exchange.ts';

/** RFC 6455 §5.2 frame as it was on the wire. */
export interface RecordedFrame {
  readonly fin: boolean;
  /** RSV1..RSV3 as a number 0..7 (RSV1 = 4). */
  readonly rsv: number;
  readonly opcode: number;
  readonly masked: boolean;
  /** Payload length in octets as announced. */
  readonly length: number;
  /** Octets used for the length: 0 (7 bit), 2 or 8. */
  readonly lengthOctets: 0 | 2 | 8;
  /** Unmasked payload, redacted, at most the transport's frame record limit. */
  readonly payload: Uint8Array;
  readonly truncated: boolean;
  /**
   * SHA-256, in hexadecimal, of the whole unmasked payload as it was on the wire; only where `payload` is
   * truncated, so that two long payloads can still be compared.
   */
  readonly digest?: string;
}

export type ConversationEvent = {
  /** Milliseconds since the conversation started. */
  readonly atMs: number;
} & (
  | { readonly from: 'client' | 'server'; readonly type: 'frame'; readonly frame: RecordedFrame }
  /** Octets that are no frame (sent on purpose, or received garbage). */
  | {
      readonly from: 'client' | 'server';
      readonly type: 'octets';
      readonly octets: Uint8Array;
      readonly note: string;
      /** How many more there were, where the rest was not kept. */
      readonly omitted?: number;
    }
  /** TCP ended: FIN from the server, RST, or closed by the harness. */
  | { readonly from: 'client' | 'server'; readonly type: 'end' | 'reset' }
  /** A bounded wait ran out. */
  | { readonly from: 'client'; readonly type: 'waited'; readonly forMs: number; readonly note: string }
);

/** One WebSocket connection, from the opening handshake to the end of TCP. */
export interface Conversation {
  readonly kind: 'conversation';
  readonly id: EvidenceId;
  readonly purpose: string;
  readonly credential: CredentialUse;
  readonly handshake: {
    readonly request: RecordedRequest;
    readonly response: RecordedResponse | null;
    /** `Sec-WebSocket-Accept` that the key of the request calls for; null when no valid key was sent. */
    readonly expectedAccept: string | null;
  };
  readonly events: readonly ConversationEvent[];
  readonly failure: ExchangeFailure | null;
  readonly timing: Timing;
}
