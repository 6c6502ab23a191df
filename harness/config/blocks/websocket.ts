/** The WebSocket endpoint of a service, as its config describes it. Durations are milliseconds. */
export interface WebSocketConfig {
  /** Path below the base URL, or an absolute ws(s) URL. */
  readonly url: string;
  /** `own`: that of the module `adapter`. */
  readonly dialect: 'raw' | 'pusher' | 'own';
  /** Absolute path of the module that describes a dialect of the user's own. */
  readonly adapter?: string;
  /** The endpoint sends back what it gets. */
  readonly echo: boolean;
  /** Messages with the answer that they get. */
  readonly exchange?: readonly MessagePair[];
  /** JSON Schemas of what the service sends, by the name of the event in the dialect. */
  readonly messages?: Readonly<Record<string, unknown>>;
  /** The origin whose pages may connect; null when there is no such policy. */
  readonly origin: string | null;
  /** Subprotocols to offer. */
  readonly subprotocols: readonly string[];
  /** Where the handshake carries the key; absent where it is as in other requests. */
  readonly credential?: HandshakeKeyPlace;
  /** The documented close code for a bad credential. */
  readonly refusalCode?: number;
  /** So long a connection on which nothing is said must be kept; absent where nobody says. */
  readonly keepsIdleMs?: number;
}

export interface MessagePair {
  readonly send: string;
  /** JSON Schema (2020-12) of the answer. */
  readonly expect: unknown;
}

export type HandshakeKeyPlace =
  | { readonly in: 'header' | 'query'; readonly name: string }
  /** As an element of Sec-WebSocket-Protocol, behind a prefix. */
  | {
      readonly in: 'subprotocol';
      readonly prefix: string;
      readonly encoding: 'base64url' | 'plain';
    }
  /** The handshake carries none. */
  | { readonly in: 'none' };
