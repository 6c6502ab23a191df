import type { EvidenceId, Exchange } from '../exchange.ts';
import type { HttpRequest } from '../request.ts';
import type { About, TransportOptions } from '../socket/options.ts';
import type { Listening } from '../stream/listening.ts';

export interface HttpOptions extends TransportOptions {
  /** Connections that are asked at the same time; further requests wait. 1 when left out. */
  readonly connections?: number;
  /** Connections that are opened ahead, so that requests in a row need not wait for theirs. None when left out. */
  readonly ahead?: number;
}

export interface HttpAbout extends About {
  /**
   * It goes out on the connection of the request before, where that is kept. For a stimulus that shows just that: on a
   * connection that was asked before, a late second response passes for the answer.
   */
  readonly onKept?: boolean;
  /** Called with octets that follow the response on its connection before anything else is asked there. */
  readonly unasked?: (octets: Uint8Array, after: EvidenceId) => void;
  /** In HTTP/2 the same request goes out right before it on the same connection, and is reset at once. */
  readonly besideReset?: boolean;
  /** In HTTP/2 it goes out on a new connection that nothing else shares. */
  readonly onOwn?: boolean;
  /** In HTTP/2, a success is listened to; all of it is read if left out. */
  readonly listen?: Listening | undefined;
}

export interface HttpTransport {
  /**
   * Sends a request once and records what became of it: whatever the provider does, or does not do, resolves to
   * an exchange. Follows no redirect and decodes no content.
   * @throws HarnessError for a request that only the raw socket can send, and after `close`.
   */
  send(request: HttpRequest, about: HttpAbout): Promise<Exchange>;
  /** Ends all connections; exchanges under way are recorded as `not-sent`. */
  close(): Promise<void>;
}
