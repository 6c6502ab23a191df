import { STATUS_CODES } from '../../base/node-http.ts';
import type { Conversation } from '../conversation.ts';
import type { Exchange, RecordedRequest, RecordedResponse } from '../exchange.ts';
import {
  fieldValue,
  fieldValues,
  isJsonType,
  listElements,
  type MediaType,
  type MediaTypeReading,
  readMediaType,
} from '../fields/grammar/field-grammar.ts';
import { contentLanguageFault, repeatedField } from '../fields/single-fields.ts';
import { problemFaults, reportedError } from '../json/problem.ts';
import { type Shape, shapeOf } from '../json/shape.ts';
import { type JsonRemarkKind, type JsonText, readJsonText } from '../json/text.ts';
import { looksCompressed } from '../octets/compressed.ts';
import { decodeUtf8, latin1Octets, latin1Text, visible } from '../octets/utf8.ts';
import { traces, withMarkersAs } from '../redaction/marker.ts';
import { type DecodedContent, decodeContent } from './content/content-coding.ts';

/** For a getter: its value stands in its place from now on, so that it is worked out once for each `owner`. */
export function keep<Owner extends object, Value>(owner: Owner, name: keyof Owner, value: Value): Value {
  Object.defineProperty(owner, name, { value });
  return value;
}

/** RFC 9110 §6.5.1: fields that frame, route, authenticate, or tell how to take the content. */
const NO_TRAILERS =
  /^(?:content-(?:length|encoding|type|range)|transfer-encoding|trailer|connection|host|cache-control|expires|date|location|retry-after|vary|age|set-cookie|authorization|(?:www|proxy)-authenticate|te|upgrade|access-control-.+)$/i;

/** A response as a message (RFC 9110 §6): its status line, its fields as such, and its content with codings undone. */
export class ResponseMessage {
  readonly evidence: Exchange | Conversation;
  readonly request: RecordedRequest;
  protected readonly response: RecordedResponse;

  constructor(evidence: Exchange | Conversation, request: RecordedRequest, response: RecordedResponse) {
    this.evidence = evidence;
    this.request = request;
    this.response = response;
  }

  // --- the status line ---

  get status(): number {
    return this.response.status;
  }

  /** 2 for 2xx. */
  get statusClass(): number {
    return Math.floor(this.status / 100);
  }

  /** The status code is in the IANA registry. Node has that, and two more: 418 is reserved, 509 was never in it. */
  get isRegistered(): boolean {
    return this.status in STATUS_CODES && this.status !== 418 && this.status !== 509;
  }

  /** Wall clock. */
  get receivedAt(): Date {
    const { startedAt, responseMs, durationMs } = this.evidence.timing;
    return new Date(Date.parse(startedAt) + (responseMs ?? durationMs));
  }

  // --- the fields ---

  get fields(): RecordedResponse['fields'] {
    return this.response.fields;
  }

  /** A field whose value is no list and that stands on several lines, with its values; null when there is none. */
  get repeatedField(): string | null {
    return repeatedField(this.fields);
  }

  /** The combined field value (RFC 9110 §5.3): lines joined with `, `; undefined when there is none. */
  field(name: string): string | undefined {
    return fieldValue(this.fields, name);
  }

  /** What a field says, as it is read; null when it is absent. */
  protected fieldAs<Read>(name: string, read: (value: string) => Read): Read | null {
    const value = this.field(name);
    return value === undefined ? null : read(value);
  }

  /** The value of each line of that name, in order. */
  fieldLines(name: string): readonly string[] {
    return fieldValues(this.fields, name);
  }

  /** The elements of a list field, in order; empty when it is absent or empty. */
  elements(name: string): readonly string[] {
    return listElements(this.field(name) ?? '');
  }

  has(name: string): boolean {
    return this.fieldLines(name).length > 0;
  }

  /** RFC 9112 §9.3: the connection ends behind it, as it says. */
  get announcesClose(): boolean {
    const tokens = this.elements('connection').map((token) => token.toLowerCase());
    return (
      tokens.includes('close') || (this.response.httpVersion === '1.0' && !tokens.includes('keep-alive'))
    );
  }

  /** Fields came behind the content. */
  get hasTrailers(): boolean {
    return this.response.trailers.length > 0;
  }

  /** The first of those that belongs before the content; null for none. */
  get misplacedTrailer(): string | null {
    return this.response.trailers.find(([name]) => NO_TRAILERS.test(name))?.[0] ?? null;
  }

  /** Content-Length (RFC 9110 §8.6); null when absent or malformed. */
  get contentLength(): number | null {
    return this.fieldAs('content-length', (value) => (/^\d+$/.test(value) ? Number(value) : null));
  }

  // --- the content ---

  get body(): RecordedResponse['body'] {
    return this.response.body;
  }

  /** Octets received, content codings not undone. */
  get bodyLength(): number {
    return this.body.received;
  }

  /** Some of the body is missing: it was cut at the transport's limit, or the connection ended within it. */
  get isPartial(): boolean {
    return this.body.truncated || this.evidence.failure !== null;
  }

  /** Why the octets of the body are not known as they came, one line; null when they are. */
  get unknownOctets(): string | null {
    const { bytes, received, truncated, withheld } = this.body;
    if (truncated) return `its body goes on after ${bytes.length} octets`;
    if (this.evidence.failure !== null) return this.evidence.failure.message;
    const isKept = withheld === undefined && bytes.length === received && traces(bytes).length === 0;
    return isKept ? null : 'its body holds a secret, which is not kept';
  }

  /** Enough of it was heard: a stream need not end. */
  get #isStream(): boolean {
    const { evidence } = this;
    return evidence.kind === 'exchange' && evidence.stream?.left !== undefined && !this.isJson;
  }

  /**
   * A refusal of a request that was still being sent, and its end a reset: the server left octets of ours unread
   * (RFC 9112 §9.6), and nothing says that it had more to say.
   */
  get #isRefusedEarly(): boolean {
    const { evidence, request, status } = this;
    const isMeasured = this.has('content-length') || this.has('transfer-encoding');
    return request.piecemeal === true && status >= 400 && evidence.failure?.kind === 'reset' && !isMeasured;
  }

  /** The content, content codings undone (RFC 9110 §8.4). */
  get decoded(): DecodedContent {
    const { bytes, withheld } = this.body;
    return keep(
      this,
      'decoded',
      withheld
        ? { octets: bytes, ...withheld }
        : decodeContent(bytes, this.fieldLines('content-encoding'), this.isPartial),
    );
  }

  /**
   * Why the content is not known to its end, codings undone, one line; null when it is. Text that is not found in it may
   * then be there all the same.
   */
  get unread(): string | null {
    if (this.body.truncated && !this.#isStream)
      return `its body goes on after ${this.body.bytes.length} octets`;
    if (this.evidence.failure !== null && !this.#isRefusedEarly) return this.evidence.failure.message;
    const { fault, limit } = this.decoded;
    return limit ?? fault;
  }

  /** Octets of the content, content codings undone (RFC 9110 §8.4); empty when they cannot be. */
  get content(): Uint8Array {
    return this.decoded.octets;
  }

  /** Why the content is not in the coding that Content-Encoding names; null if it is, or that is unknown. */
  get codingFault(): string | null {
    return this.decoded.fault;
  }

  /** Why it is unknown whether it is in that coding; null when there is none, or it was undone. */
  get codingLimit(): string | null {
    return this.decoded.limit;
  }

  /** Content-Encoding (RFC 9110 §8.4) in lower case, in the order in which they were applied. */
  get contentCodings(): readonly string[] {
    return this.elements('content-encoding').map((coding) => visible(coding.toLowerCase(), 40));
  }

  /** The content, codings undone, begins as compressed octets do: they were compressed once more than it says. */
  get isCompressedWithin(): boolean {
    return looksCompressed(this.content);
  }

  /** The content as text; null when it is not UTF-8. */
  get text(): string | null {
    return keep(this, 'text', decodeUtf8(this.content));
  }

  get contentType(): MediaTypeReading | null {
    return keep(this, 'contentType', this.fieldAs('content-type', readMediaType));
  }

  /** Content-Type (RFC 9110 §8.3); null when absent or malformed. */
  get mediaType(): MediaType | null {
    return this.contentType?.mediaType ?? null;
  }

  /** The fault of Content-Type; null when it is well-formed or absent. */
  get mediaTypeFault(): string | null {
    return this.contentType?.fault ?? null;
  }

  /** The fault of Content-Language; null when it is well-formed or absent. */
  get languageFault(): string | null {
    return this.fieldAs('content-language', contentLanguageFault);
  }

  /** Content-Type is `application/json` or a type with the suffix `+json`. */
  get isJson(): boolean {
    return this.mediaType !== null && isJsonType(this.mediaType);
  }

  /** The content read as one JSON text, whatever Content-Type says. */
  get json(): JsonText {
    return keep(this, 'json', readRecordedJson(this.content));
  }

  /** Why there is no JSON value to look into although the content may be right; null when nothing stands against it. */
  get unreadJson(): string | null {
    return this.unread ?? this.json.limit;
  }

  /** Content-Type is `application/problem+json` (RFC 9457). */
  get isProblem(): boolean {
    return this.mediaType?.essence === 'application/problem+json';
  }

  /** What the content breaks of RFC 9457, one line each. Only of interest where `isProblem`. */
  get problemFaults(): readonly string[] {
    const { value, faults } = this.json;
    return value === undefined ? faults.map(({ message }) => message) : problemFaults(value, this.status);
  }

  /** Of the JSON value that the content is; null where it is none. */
  get shape(): Shape | null {
    return shapeOf(this.json.value);
  }

  /** Content of the same shape, or where it is no JSON the same content. */
  hasContentLike(other: ResponseMessage): boolean {
    const [here, there] = [this, other].map(({ shape, content }) =>
      shape === null ? latin1Text(content) : JSON.stringify(shape),
    );
    return here === there;
  }

  /** The first thing of that kind that is to be said of the content as a JSON text; null for nothing. */
  jsonRemark(wanted: JsonRemarkKind): string | null {
    const { faults, cautions } = this.json;
    return [...faults, ...cautions].find(({ kind }) => kind === wanted)?.message ?? null;
  }

  /** The member by which the content tells of an error, whatever the status says; null when none does. */
  get reportedError(): string | null {
    return reportedError(this.json.value);
  }
}

function readRecordedJson(content: Uint8Array): JsonText {
  const json = readJsonText(content);
  if (json.faults.length === 0) return json;
  // A number that is a secret leaves a marker that is no JSON, where the service has sent some.
  const restored = withMarkersAs('1', latin1Text(content));
  if (restored === null) return json;
  const again = readJsonText(latin1Octets(restored));
  return again.faults.length === 0 ? again : json;
}
