import { isJsonObject } from '../../base/json-text.ts';

/** A value as a consumer sends or expects it: this one, or any that the pattern matches. */
export interface ExpectedText {
  readonly example: string;
  /** A regular expression that Rust and JavaScript read alike. */
  readonly pattern?: string;
}

export type ExpectedField = readonly [name: string, value: ExpectedText];

export interface RecordedCall {
  readonly description: string;
  readonly states: readonly string[];
  readonly request: {
    readonly method: string;
    /** Without a query. */
    readonly path: string;
    readonly query: readonly ExpectedField[];
    readonly fields: readonly ExpectedField[];
    readonly body: { readonly mediaType: string; readonly text: string } | null;
  };
  readonly response: { readonly status: number; readonly fields: readonly ExpectedField[] };
}

/** A message that the provider is expected to send; the types of its values count, not the values. */
export interface RecordedMessage {
  readonly description: string;
  readonly content: unknown;
}

/** A pact to be recorded. */
export interface PactScript {
  readonly consumer: string;
  readonly provider: string;
  readonly calls: readonly RecordedCall[];
  readonly messages: readonly RecordedMessage[];
}

/** What the recording process is told. */
export type RecorderOrder =
  | { readonly type: 'record'; readonly script: PactScript; readonly folder: string }
  /** The call was made. */
  | { readonly type: 'called' };

/** What it answers. */
export type RecorderReply =
  /** The mock server waits for this call. */
  | { readonly type: 'call'; readonly index: number; readonly url: string }
  | { readonly type: 'recorded' }
  | { readonly type: 'failed'; readonly reason: string };

export function isRecorderReply(message: unknown): message is RecorderReply {
  return isJsonObject(message) && ['call', 'recorded', 'failed'].includes(String(message.type));
}
