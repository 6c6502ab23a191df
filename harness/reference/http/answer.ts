import { STATUS_CODES } from '../../base/node-http.ts';
import type { FieldLine } from '../../wire/exchange.ts';

export interface ProblemKind {
  readonly status: number;
  /** Explains to a person; never repeats what the client sent. */
  readonly detail: string;
  /** RFC 9457 §4.2.1: absent means `about:blank`, whose title is the status phrase. */
  readonly type?: string;
  readonly title?: string;
}

export const PROBLEMS = {
  unauthenticated: { status: 401, detail: 'This request needs a credential.' },
  'wrong-credential': { status: 401, detail: 'The credential is not valid.' },
  'forbidden-origin': { status: 403, detail: 'Pages of this origin may not connect.' },
  'not-found': { status: 404, detail: 'Nothing is served at this path.' },
  'method-not-allowed': {
    status: 405,
    detail: 'This resource does not offer that method; see the Allow field.',
  },
  'unknown-method': { status: 501, detail: 'This method is not implemented.' },
  'unknown-coding': { status: 501, detail: 'This transfer coding is not known here.' },
  malformed: { status: 400, detail: 'The request is malformed.' },
  'invalid-content': { status: 400, detail: 'The content is not what this operation takes.' },
  'invalid-parameter': { status: 400, detail: 'A parameter of the query is not what this operation takes.' },
  'request-timeout': { status: 408, detail: 'The request did not arrive in time.' },
  'precondition-failed': { status: 412, detail: 'The resource is not the version that is named.' },
  'unsupported-media-type': { status: 415, detail: 'The content is of a media type that is not taken here.' },
  'key-reused': { status: 422, detail: 'The Idempotency-Key was used with other content.' },
  'content-too-large': { status: 413, detail: 'The content is larger than this service takes.' },
  'target-too-long': { status: 414, detail: 'The request target is longer than this service takes.' },
  'upgrade-required': { status: 426, detail: 'Connect here with the WebSocket protocol, version 13.' },
  'rate-limited': {
    status: 429,
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Request cannot be satisfied as assigned quota has been exceeded',
    detail: 'The quota of this credential is spent; see the Retry-After field.',
  },
  'fields-too-large': {
    status: 431,
    detail: 'The request header fields are larger than this service takes.',
  },
  broken: { status: 500, detail: 'The service failed.' },
  'version-not-supported': { status: 505, detail: 'This service speaks HTTP/1.1.' },
} as const satisfies Record<string, ProblemKind>;

export type ProblemName = keyof typeof PROBLEMS;

/** Why an answer is given. */
export type ResponseKind = 'served' | 'not-modified' | 'options' | 'key-lent' | ProblemName;

/** The two ways in which a request without a right credential is refused. */
export const CREDENTIAL_REFUSALS: readonly ResponseKind[] = ['unauthenticated', 'wrong-credential'];

export function isProblem(name: string): name is ProblemName {
  return Object.hasOwn(PROBLEMS, name);
}

export const PROBLEM_NAMES: readonly ProblemName[] = Object.keys(PROBLEMS).filter(isProblem);

/** The detail text of a refusal, for those who write it in another shape. */
export function problemDetail(responseKind: ProblemName): string {
  return PROBLEMS[responseKind].detail;
}

/** What goes beyond an ordinary HTTP message; only defects use it. The connection ends after it. */
type AbnormalDelivery =
  /** The octets of the whole message, made from a well-formed head and the whole content. */
  | { readonly kind: 'octets'; readonly render: (head: Buffer, body: Buffer) => Buffer }
  /** No answer at all: the connection is closed. */
  | { readonly kind: 'drop' };

/** Content that is sent these milliseconds after the content before it. */
export interface StreamPiece {
  readonly afterMs: number;
  readonly octets: Buffer;
}

/** A response before it is sent. `body` is the content a GET would get; a HEAD is sent without it. */
export interface HttpAnswer {
  /** Why this is the answer; what patches select by. */
  readonly responseKind: ResponseKind;
  readonly status: number;
  readonly fields: readonly FieldLine[];
  readonly body: Buffer;
  /** Null for an ordinary message. */
  readonly delivery: AbnormalDelivery | null;
  /** Octets sent after the message, if its connection is kept. */
  readonly followedBy?: (message: Buffer) => Buffer;
  /** Its content in place of `body`, in pieces; `end`: null if it stays open, `broken` if its connection ends within it. */
  readonly stream?: { readonly pieces: readonly StreamPiece[]; readonly end: 'whole' | 'broken' | null };
}

export function bare(
  responseKind: ResponseKind,
  status: number,
  fields: readonly FieldLine[] = [],
): HttpAnswer {
  return { responseKind, status, fields, body: Buffer.alloc(0), delivery: null };
}

/** A JSON answer to an authorised request. */
export function served(content: unknown, fields: readonly FieldLine[] = []): HttpAnswer {
  const answer = bare('served', 200, [['Content-Type', 'application/json'], ...fields]);
  return { ...answer, body: Buffer.from(JSON.stringify(content)) };
}

/** A problem details answer (RFC 9457), with further fields and extension members. */
export function problem(
  responseKind: ProblemName,
  fields: readonly FieldLine[] = [],
  members: Readonly<Record<string, unknown>> = {},
): HttpAnswer {
  const kind: ProblemKind = PROBLEMS[responseKind];
  const content = {
    type: kind.type ?? 'about:blank',
    title: kind.title ?? STATUS_CODES[kind.status],
    status: kind.status,
    detail: kind.detail,
    ...members,
  };
  const answer = bare(responseKind, kind.status, [['Content-Type', 'application/problem+json'], ...fields]);
  return { ...answer, body: Buffer.from(JSON.stringify(content)) };
}
