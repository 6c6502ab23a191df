import type { FieldLine } from '../exchange.ts';
import type { ResponseHead } from './lines.ts';

/** How much of a response is read before the reader gives up. Octets, but for the counts. */
export interface ReaderLimits {
  /** Content kept; what goes beyond ends the reading. */
  readonly bodyBytes: number;
  /** Status lines, field lines, chunk-size lines and trailers together. */
  readonly fieldBytes: number;
  /** Lines in one field section. */
  readonly fieldLines?: number;
}

/** The response as far as it came. */
export interface ReadResponse extends ResponseHead {
  readonly fields: readonly FieldLine[];
  readonly trailers: readonly FieldLine[];
  /** At most `bodyBytes` octets of content, chunked coding undone, content coding left as it was. */
  readonly body: Uint8Array;
  readonly informational: readonly { readonly status: number; readonly fields: readonly FieldLine[] }[];
}

/** Why there is no whole response; `closed` is the end of TCP before the message's own. */
export type ReaderFailure = 'malformed' | 'fields-too-large' | 'body-too-large' | 'closed';

export interface ReaderOptions {
  /** Method of the request: the response to HEAD has no body. */
  readonly method: string;
  readonly limits: ReaderLimits;
  /** Takes what follows the whole message, where that is no fault: it is the next response. */
  readonly surplus?: (octets: Uint8Array) => void;
}
