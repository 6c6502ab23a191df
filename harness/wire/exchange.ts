import {
  type Codec,
  choice,
  flag,
  list,
  NotOfShape,
  nullable,
  number,
  optional,
  record,
  restoreOctets,
  row,
  STORED_OCTETS,
  storedAs,
  storeOctets,
  text,
  type ValueOf,
} from './record/codec.ts';

/**
 * One HTTP request and its response, as recorded: every secret is already replaced by its marker
 * (`redaction.ts`), octets are otherwise as they were on the wire. Each shape is declared once, as it is stored.
 */

/** `e1`, `e2` … unique within one service's run. */
export type EvidenceId = string & { readonly __evidence: unique symbol };

const isEvidenceId = (text: string): text is EvidenceId => text !== '';

export const EvidenceId: Codec<EvidenceId> = storedAs(text, {
  store: (id: EvidenceId) => id,
  restore(id) {
    if (isEvidenceId(id)) return id;
    throw new NotOfShape('is empty, expected an evidence id');
  },
});

/** A field line as sent or received: name with its case, value as latin1 octets, in order, duplicates kept. */
export type FieldLine = ValueOf<typeof FieldLine>;
const FieldLine = row<[name: string, value: string]>(text, text);
const FieldLines = list(FieldLine);

export interface RecordedBody {
  /** The content after redaction, at most as many octets as the transport's body limit. */
  readonly bytes: Uint8Array;
  /** Octets received on the wire (before redaction; more than `bytes` holds when truncated). */
  readonly received: number;
  /** True when the limit cut the body, or storing did; the rest was not read. */
  readonly truncated: boolean;
  /** Why the content was not kept: it is compressed, and holds a secret or cannot be searched for one. */
  readonly withheld?: Withheld;
}

/** The fault of the coding of content, or the reason why it is unknown. */
type Withheld = ValueOf<typeof Withheld>;
const Withheld = record({ fault: nullable(text), limit: nullable(text) });

const RecordedBody: Codec<RecordedBody> = storedAs(
  record({ ...STORED_OCTETS, received: number, truncated: flag, withheld: optional(Withheld) }),
  {
    store: ({ bytes, ...body }: RecordedBody, { bodyOctets }) => ({
      ...storeOctets(bytes, bodyOctets),
      ...body,
    }),
    restore: (stored) => ({
      bytes: restoreOctets(stored),
      received: stored.received,
      truncated: stored.truncated || (stored.omitted ?? 0) > 0,
      ...(stored.withheld && { withheld: stored.withheld }),
    }),
  },
);

export type RecordedRequest = ValueOf<typeof RecordedRequest>;
export const RecordedRequest = record({
  method: text,
  /** Absolute URL, redacted. */
  url: text,
  /** The request target as it stood in the request line, redacted. */
  target: text,
  fields: FieldLines,
  body: nullable(RecordedBody),
  /** Absent for HTTP/1.1. In HTTP/2 Host stands for `:authority`. */
  httpVersion: optional(choice('1.0', '2')),
  /** Sent octet by octet; absent where it went out at once. */
  piecemeal: optional(flag),
  /** Lawful spellings that differ from the usual one (RFC 9112 §2.2, §5); absent if none. */
  spelled: optional(list(choice('empty-line', 'bare-colon', 'wide-values', 'tabbed-values', 'upper-names'))),
  /** Further requests on the same connection are part of the body; absent where there are none. */
  hasBehind: optional(flag),
});

export type RecordedResponse = ValueOf<typeof RecordedResponse>;
export const RecordedResponse = record({
  status: number,
  reason: nullable(text),
  /** `1.1`, `1.0`, `2`; null where the transport does not tell. */
  httpVersion: nullable(text),
  fields: FieldLines,
  trailers: FieldLines,
  body: RecordedBody,
  /** 1xx responses that came before the final one. */
  informational: list(record({ status: number, fields: FieldLines })),
  /**
   * Only when read from the raw socket: what the message framing got wrong by RFC 9112 (`bytes after the
   * body`, `bare LF`, `bad chunk size` …), empty when nothing; null when the transport cannot see it.
   */
  framingFaults: nullable(list(text)),
});

/** A response of which only status and fields are recorded. */
export const bareResponse = (status: number, fields: readonly FieldLine[]): RecordedResponse => ({
  status,
  reason: null,
  httpVersion: '1.1',
  fields,
  trailers: [],
  body: { bytes: new Uint8Array(), received: 0, truncated: false },
  informational: [],
  framingFaults: null,
});

export type ExchangeFailure = ValueOf<typeof ExchangeFailure>;
export type ExchangeFailureKind = ExchangeFailure['kind'];
export const ExchangeFailure = record({
  kind: choice(
    /** Nothing listens there. */
    'refused',
    /** The name does not resolve. */
    'unresolved',
    'tls',
    /** The proxy on the way was not there, or let nothing through: its word, not the service's. */
    'proxy',
    'connect-timeout',
    'response-timeout',
    /** The connection was reset. */
    'reset',
    /** The connection was closed before the response was whole. */
    'closed',
    'body-too-large',
    'fields-too-large',
    /** Not HTTP. */
    'malformed',
    /** The harness refused to send it (budget ceiling, plain http to another host, aborted run). */
    'not-sent',
  ),
  /** One line for a person; redacted. */
  message: text,
});

export type Timing = ValueOf<typeof Timing>;
const Timing = record({
  /** Wall clock, ISO 8601 with ms, UTC. */
  startedAt: text,
  /** Milliseconds on the session's monotonic clock at which sending began. */
  startedMs: number,
  /** Milliseconds from start until the connection stood; null on a reused connection. */
  connectMs: nullable(number),
  /** Milliseconds from start until the status line and fields were in; null when they never were. */
  responseMs: nullable(number),
  /** Milliseconds from start until the whole message was in or the attempt was given up. */
  durationMs: number,
});

/**
 * Which credential a request carried: the configured one, the configured second one, a wrong one, none; `other`: a valid one
 * of another kind, which may have a quota of its own.
 */
export type CredentialUse = ValueOf<typeof CredentialUse>;
const CredentialUse = choice('right', 'second', 'wrong', 'none', 'other');

/** What every kind of evidence has. */
export const HEADING = {
  id: EvidenceId,
  /** What the request was for; shown in the request ledger. */
  purpose: text,
  /** Whether the request carried the service's own working credential (counts against its quota). */
  credential: CredentialUse,
  timing: Timing,
};

export type ConnectionUse = ValueOf<typeof ConnectionUse>;
const ConnectionUse = record({
  /** An earlier exchange had used the same connection. */
  reused: flag,
  /**
   * Set when the request had first gone out on a kept-alive connection that turned out to be closed by the
   * server: it was sent once more, on a fresh connection, because not one octet had been answered. One line.
   */
  replaced: nullable(text),
  /** It takes WebSocket connections on its streams (RFC 8441 §3); absent outside of HTTP/2. */
  takesWebSockets: optional(flag),
  /** What became of it within a while after the last response; absent if that was not looked at. */
  afterwards: optional(choice('ended', 'reset', 'open')),
});

/** A success that was listened to, since it may go on without an end. */
export type HeardStream = ValueOf<typeof HeardStream>;
const HeardStream = record({
  /** Milliseconds from start at which each item, and each comment between them, was whole. */
  arrivals: list(number),
  /** Why the client left before the end: enough items, time or octets; absent if the stream ended by itself. */
  left: optional(choice('items', 'time', 'octets')),
});

/** Both `response` and `failure` may be set: the head came, the body did not. */
export type Exchange = ValueOf<typeof Exchange>;
export const Exchange = record({
  kind: choice('exchange'),
  ...HEADING,
  request: RecordedRequest,
  response: nullable(RecordedResponse),
  /** Further responses on the same connection, in their order; absent if none were looked for. */
  further: optional(list(RecordedResponse)),
  failure: nullable(ExchangeFailure),
  /** Absent if it was read as a whole. */
  stream: optional(HeardStream),
  /** How the exchange used its connection; left out where the transport has nothing to tell. */
  connection: optional(ConnectionUse),
});
