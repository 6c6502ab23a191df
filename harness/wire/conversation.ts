import { createHash } from 'node:crypto';
import { ExchangeFailure, HEADING, RecordedRequest, RecordedResponse } from './exchange.ts';
import {
  type Codec,
  choice,
  flag,
  list,
  nullable,
  number,
  optional,
  record,
  restoreOctets,
  STORED_OCTETS,
  storedAs,
  storeOctets,
  text,
  type ValueOf,
  variant,
} from './record/codec.ts';
import { traces } from './redaction/marker.ts';

const FRAME = {
  fin: flag,
  /** RSV1..RSV3 as a number 0..7 (RSV1 = 4). */
  rsv: number,
  opcode: number,
  masked: flag,
  /** Payload length in octets as announced. */
  length: number,
  /** Octets used for the length: 0 (7 bit), 2 or 8. */
  lengthOctets: choice(0, 2, 8),
  truncated: flag,
  /**
   * SHA-256, in hexadecimal, of the whole unmasked payload as it was on the wire; only where `payload` is
   * truncated, so that two long payloads can still be compared.
   */
  digest: optional(text),
  /** It ends a heartbeat of the dialect that the service sent, or answers one. */
  heartbeat: optional(flag),
};
const Frame = record(FRAME);

function digestOf(payload: Uint8Array): string {
  return createHash('sha256').update(payload).digest('hex');
}

/** RFC 6455 §5.2 frame as it was on the wire. */
export type RecordedFrame = ValueOf<typeof Frame> & {
  /** Unmasked payload, redacted, at most the transport's frame record limit. */
  readonly payload: Uint8Array;
};

const RecordedFrame: Codec<RecordedFrame> = storedAs(record({ ...FRAME, ...STORED_OCTETS }), {
  store({ payload, ...frame }: RecordedFrame, { frameOctets }) {
    const stored = storeOctets(payload, frameOctets);
    // A payload with a marker is no longer as it was on the wire.
    const isWhole = !frame.truncated && traces(payload).length === 0;
    const digest = stored.omitted !== undefined && isWhole ? digestOf(payload) : null;
    return { ...frame, ...stored, ...(digest !== null && { digest }) };
  },
  restore({ text, base64, omitted = 0, truncated, ...frame }) {
    const payload = restoreOctets({ text, base64 });
    return { ...frame, payload, truncated: truncated || omitted > 0 };
  },
});

const EVENT = {
  /** Milliseconds since the conversation started. */
  atMs: number,
  from: choice('client', 'server'),
};
const OCTETS_EVENT = { ...EVENT, type: choice('octets'), note: text, omitted: optional(number) };
const OctetsEvent = record(OCTETS_EVENT);
const EndEvent = record({ ...EVENT, type: choice('end', 'reset') });

/** `omitted`: how many more octets there were, where the rest was not kept. */
type OctetsEvent = ValueOf<typeof OctetsEvent> & { readonly octets: Uint8Array };

export type ConversationEvent = ValueOf<typeof ConversationEvent>;
const ConversationEvent = variant('type', {
  frame: record({ ...EVENT, type: choice('frame'), frame: RecordedFrame }),
  /** Octets that are no frame (sent on purpose, or received garbage). */
  octets: storedAs(record({ ...OCTETS_EVENT, ...STORED_OCTETS }), {
    store({ octets, omitted = 0, ...event }: OctetsEvent, { frameOctets }) {
      const stored = storeOctets(octets, frameOctets);
      const missing = omitted + (stored.omitted ?? 0);
      return { ...event, ...stored, ...(missing > 0 && { omitted: missing }) };
    },
    restore: ({ text, base64, omitted = 0, ...event }): OctetsEvent => ({
      ...event,
      octets: restoreOctets({ text, base64 }),
      ...(omitted > 0 && { omitted }),
    }),
  }),
  /** TCP ended: FIN from the server, RST, or closed by the harness. */
  end: EndEvent,
  reset: EndEvent,
  /** We ended our side of TCP (FIN), and the other one goes on. */
  fin: record({ ...EVENT, from: choice('client'), type: choice('fin') }),
  /** A bounded wait ran out. */
  waited: record({ ...EVENT, from: choice('client'), type: choice('waited'), forMs: number, note: text }),
});

/** One WebSocket connection, from the opening handshake to the end of TCP. */
export type Conversation = ValueOf<typeof Conversation>;
export const Conversation = record({
  kind: choice('conversation'),
  ...HEADING,
  handshake: record({
    request: RecordedRequest,
    response: nullable(RecordedResponse),
    /** `Sec-WebSocket-Accept` that the key of the request calls for; null when no valid key was sent. */
    expectedAccept: nullable(text),
  }),
  events: list(ConversationEvent),
  failure: nullable(ExchangeFailure),
});
