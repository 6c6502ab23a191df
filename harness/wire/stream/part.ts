/** A part of a stream that has come whole. */
export interface StreamPart {
  /** `filler`: nothing for the client but a sign of life, such as a comment. */
  readonly kind: 'item' | 'filler';
  /** Of an item, as OpenAPI 3.2 §4.14.4 describes it; undefined if it has none. */
  readonly value: unknown;
  readonly faults: readonly StreamFault[];
  /** What a browser hands to a page; absent if it is none. */
  readonly event?: ServerSentEvent;
}

export interface StreamFault {
  /** `length`: it is not read on. `record`: it is no value. */
  readonly matter: 'encoding' | 'field' | 'record' | 'length';
  /** Completes "… in part 2 of the stream". */
  readonly message: string;
}

/** WHATWG HTML §9.2.6. */
export interface ServerSentEvent {
  readonly type: string;
  readonly data: string;
  readonly lastEventId: string;
}

/** Reads a stream from octets in whatever pieces they come. */
export interface StreamReader {
  /** The parts that these octets complete. */
  push(octets: Uint8Array): readonly StreamPart[];
  /** The part that the end of the stream completes. */
  end(): readonly StreamPart[];
}

/** Octets of one line, or of the data of one event; a stream that has more is read no further. */
export const MOST_OCTETS = 1024 * 1024;

export const TOO_LONG: StreamPart = {
  kind: 'filler',
  value: undefined,
  faults: [{ matter: 'length', message: `more than ${MOST_OCTETS} octets` }],
};

export const filler = (faults: readonly StreamFault[] = []): StreamPart => ({
  kind: 'filler',
  value: undefined,
  faults,
});

export const NO_UTF8: StreamFault = { matter: 'encoding', message: 'octets that are no UTF-8' };
