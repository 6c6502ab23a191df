/**
 * One HTTP request and what came back, as recorded: every secret is already replaced by its marker
 * (`redaction.ts`), octets are otherwise as they were on the wire.
 */

/** `e1`, `e2` … unique within one service's run. */
export type EvidenceId = string & { readonly __evidence: unique symbol };

/** A field line as sent or received: name with its case, value as latin1 octets, in order, duplicates kept. */
export type FieldLine = readonly [name: string, value: string];

export interface RecordedBody {
  /** The content after redaction, at most as many octets as the transport's body limit. */
  readonly bytes: Uint8Array;
  /** Octets received on the wire (before redaction; more than `bytes` holds when truncated). */
  readonly received: number;
  /** True when the limit cut the body; the rest was not read. */
  readonly truncated: boolean;
}

export interface RecordedRequest {
  readonly method: string;
  /** Absolute URL, redacted. */
  readonly url: string;
  /** The request target as it stood in the request line, redacted. */
  readonly target: string;
  readonly fields: readonly FieldLine[];
  readonly body: RecordedBody | null;
}

export interface RecordedResponse {
  readonly status: number;
  readonly reason: string | null;
  /** `1.1`, `1.0`, `2`; null where the transport does not tell. */
  readonly httpVersion: string | null;
  readonly fields: readonly FieldLine[];
  readonly trailers: readonly FieldLine[];
  readonly body: RecordedBody;
  /** 1xx responses that came before the final one. */
  readonly informational: readonly { readonly status: number; readonly fields: readonly FieldLine[] }[];
  /**
   * Only when read from the raw socket: what the message framing got wrong by RFC 9112 (`bytes after the
   * body`, `bare LF`, `bad chunk size` …), empty when nothing; null when the transport cannot see it.
   */
  readonly framingFaults: readonly string[] | null;
}

export type ExchangeFailureKind =
  /** Nothing listens there. */
  | 'refused'
  /** The name does not resolve. */
  | 'unresolved'
  | 'tls'
  | 'connect-timeout'
  | 'response-timeout'
  /** The connection was reset. */
  | 'reset'
  /** The connection was closed before the response was whole. */
  | 'closed'
  | 'body-too-large'
  | 'fields-too-large'
  /** Not HTTP. */
  | 'malformed'
  /** The harness refused to send it (budget ceiling, plain http to another host, aborted run). */
  | 'not-sent';

export interface ExchangeFailure {
  readonly kind: ExchangeFailureKind;
  /** One line for a person; redacted. */
  readonly message: string;
}

export interface Timing {
  /** Wall clock, ISO 8601 with ms, UTC. */
  readonly startedAt: string;
  /** Milliseconds on the session's monotonic clock at which sending began. */
  readonly startedMs: number;
  /** Milliseconds from start until the connection stood; null on a reused connection. */
  readonly connectMs: number | null;
  /** Milliseconds from start until the status line and fields were in; null when they never were. */
  readonly responseMs: number | null;
  /** Milliseconds from start until the whole message was in or the attempt was given up. */
  readonly durationMs: number;
}

/** Both `response` and `failure` may be set: the head came, the body did not. */
export interface Exchange {
  readonly kind: 'exchange';
  readonly id: EvidenceId;
  /** What the request was for; shown in the request ledger. */
  readonly purpose: string;
  /** Whether the request carried the service's own working credential (counts against its quota). */
  readonly credential: CredentialUse;
  readonly request: RecordedRequest;
  readonly response: RecordedResponse | null;
  readonly failure: ExchangeFailure | null;
  readonly timing: Timing;
  /** How the exchange used its connection; left out where the transport has nothing to tell. */
  readonly connection?: ConnectionUse;
}

export interface ConnectionUse {
  /** An earlier exchange had used the same connection. */
  readonly reused: boolean;
  /**
   * Set when the request had first gone out on a kept-alive connection that turned out to be closed by the
   * server: it was sent once more, on a fresh connection, because not one octet had been answered. One line.
   */
  readonly replaced: string | null;
}

/** Which credential a request carried: the configured one, the configured second one, a wrong one, none. */
export type CredentialUse = 'right' | 'second' | 'wrong' | 'none';
