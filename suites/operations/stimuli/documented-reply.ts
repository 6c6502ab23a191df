import { parseJson } from '../../../harness/base/json-text.ts';
import { listed } from '../../../harness/base/text.ts';
import {
  type AnswerContent,
  answerFor,
  type InputForm,
  isJsonType,
} from '../../../harness/config/operation/call/call.ts';
import type { DocumentedAnswer, Operation } from '../../../harness/config/service.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import { fieldValue, fieldValues } from '../../../harness/wire/fields/grammar/field-grammar.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';

/** An answer of a documented operation, whichever stimulus brought it. */
export class DocumentedReply extends Reply {
  readonly operation: Operation;
  /** The request was the documented one. */
  readonly isCall: boolean;

  constructor(operation: Operation, { exchange }: Reply, isCall: boolean) {
    super(exchange);
    this.operation = operation;
    this.isCall = isCall;
  }

  /** Names the operation, which the purpose of a stimulus of another suite does not. */
  override get to(): string {
    const { method, template } = this.operation;
    const { purpose } = this.exchange;
    return purpose.startsWith(template) ? super.to : `${method} ${template} ${purpose}`;
  }

  get documentedAt(): string {
    return this.operation.place;
  }

  /** Only a fragment, which is never sent, tells it from another operation: the answer may be that of the other one. */
  get isIndistinct(): boolean {
    return this.operation.template.includes('#');
  }

  /** What its document says of this status; null if it says nothing. */
  get documented(): DocumentedAnswer | null {
    return this.status === null ? null : answerFor(this.operation.answers, this.status);
  }

  get contents(): readonly AnswerContent[] {
    return this.documented?.contents ?? [];
  }

  /** JSON Schema of its body; null if none is documented for its media type, or that is not JSON. */
  get schema(): unknown {
    return isJsonType(this.response.mediaType?.essence ?? '') ? (this.#nearest?.schema ?? null) : null;
  }

  /** JSON Schema of each item of its body, a stream; null if none is documented for its media type. */
  get itemSchema(): unknown {
    return this.#nearest?.itemSchema ?? null;
  }

  /** The description of its media type. */
  get #nearest(): AnswerContent | undefined {
    const got = this.response.mediaType?.essence;
    if (got === undefined) return undefined;
    const fitting = this.contents.filter(({ mediaType }) => covers(mediaType, got));
    return fitting.sort((a, b) => wildness(a.mediaType) - wildness(b.mediaType))[0];
  }

  /** Its media type if that is none of the documented ones, in words; null if it is one. */
  get foreignMediaType(): string | null {
    const wanted = this.contents.map(({ mediaType }) => mediaType);
    const got = this.response.mediaType?.essence;
    if (got !== undefined && wanted.some((type) => covers(type, got))) return null;
    return `${visible(this.response.field('content-type') ?? 'none', 80)} instead of ${wanted.join(', ')}`;
  }

  /** Whether it has content of a documented media type: whatever is documented, some answers have none (RFC 9110 §6.4.1). */
  get isTyped(): boolean {
    const isBodiless = this.exchange.request.method === 'HEAD' || BODILESS.has(this.status ?? 0);
    return !isBodiless && this.contents.length > 0 && this.#isAskedAsDocumented;
  }

  /** The client takes a media type that is documented: else the service may choose another one. */
  get #isAskedAsDocumented(): boolean {
    const accept = fieldValue(this.exchange.request.fields, 'accept');
    if (accept === undefined) return true;
    const ranges = accept.split(',').filter((range) => !/;\s*q=0(?:\.0*)?\s*(?:;|$)/i.test(range));
    const taken = ranges.map((range) => (range.split(';', 1)[0] ?? '').trim().toLowerCase());
    return this.contents.some(({ mediaType }) =>
      taken.some((range) => range === '*/*' || covers(mediaType, range) || covers(range, mediaType)),
    );
  }

  /** With those that are documented. */
  get #statusText(): string {
    const codes = this.operation.answers.map(({ code }) => code).toSorted();
    const more = codes.length - NAMED;
    const named = more > 1 ? [...codes.slice(0, NAMED), `${more} others`] : codes;
    return `status ${this.status} instead of ${listed(named, 'or')}`;
  }

  /** How an undocumented status is to be taken; null for a documented one, and for one that HTTP itself has. */
  get undocumented(): { readonly by: 'the service' | 'any front'; readonly text: string } | null {
    const { status } = this;
    const text = this.#statusText;
    if (status === null || this.documented !== null || this.isAnsweredByProtocol) return null;
    // The check that sends an odd request judges its failure.
    if (status >= 500 && !OF_GATEWAYS.has(status) && !this.isCall) return null;
    const isOfCredential = OF_LOGINS.has(status) && this.exchange.credential !== 'right';
    if (isOfFront(status) || isOfCredential)
      return { by: 'any front', text: `${text} (any proxy may send it)` };
    const isBadInput = OF_INPUT.has(status) && !this.operation.answers.some(namesRefusal);
    return isBadInput
      ? { by: 'any front', text: `${text} (no refusal of input is documented)` }
      : { by: 'the service', text };
  }

  /** HTTP has it for a property of the message that no document of operations describes. */
  get isAnsweredByProtocol(): boolean {
    const has = (name: string) => fieldValues(this.exchange.request.fields, name).length > 0;
    const status = this.status ?? 0;
    if (status === 206 || status === 416) return has('range');
    return (
      status < 200 || OF_MESSAGES.has(status) || ((status === 304 || status === 412) && CONDITIONS.some(has))
    );
  }
}

/** Statuses of a document that a message names. */
const NAMED = 8;

/** A part of the content, or none of it. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 206, 304]);

const CONDITIONS = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range'];

/** RFC 9110 §15.5: about Accept, the time it took, the length, the media type and coding, Expect, the host and Upgrade. */
const OF_MESSAGES: ReadonlySet<number> = new Set([406, 408, 411, 414, 415, 417, 421, 426, 431]);

/** RFC 9110 §15.6.3 to §15.6.5. */
const OF_GATEWAYS: ReadonlySet<number> = new Set([502, 503, 504]);

/** Without the right key: a refusal of its form, or a redirect to a login page. */
const OF_LOGINS: ReadonlySet<number> = new Set([302, 303, 400]);

/** What a proxy, a gateway or a limiter may send by itself, with redirects to the address that it serves. */
const OF_FRONTS: ReadonlySet<number> = new Set([301, 307, 308, 401, 403, 404, 405, 407, 413, 429]);

function isOfFront(status: number): boolean {
  return OF_FRONTS.has(status) || status >= 500;
}

/** Statuses of a refusal because of the input, for each client and state of the service. */
const OF_INPUT: ReadonlySet<number> = new Set([400, 409, 422]);

/** A document that describes no refusal of input leaves all of them out: one of a key, of a rate or of an id is none. */
function namesRefusal({ code }: DocumentedAnswer): boolean {
  return OF_INPUT.has(Number(code)) || code.toUpperCase() === '4XX' || code === 'default';
}

/** A path that every front passes on as it is: no whole URL, encoded slash, control character or matrix parameter. */
const PLAIN_PATH = /^\/(?:[\w\-.~!$&'()*+,=:@/]|%(?!2f|5c|25|0|1|7f)[0-9a-f]{2})*$/i;
const TEXT = /^[\t\x20-\x7e]*$/;

/** Whether a request reaches its operation: nothing about it lets a server or a proxy refuse it by itself. */
export function reachesOperation(reply: Reply): boolean {
  const { target, fields } = reply.exchange.request;
  const [path = '', query = ''] = target.split('?', 2);
  const segments = path.split('/').map((segment) => segment.toLowerCase().replaceAll('%2e', '.'));
  return (
    reply.status !== null &&
    reply.isOrdinary &&
    PLAIN_PATH.test(path) &&
    !segments.some((segment) => segment === '.' || segment === '..') &&
    !/[[\]]/.test(query) &&
    fields.every(([, value]) => TEXT.test(value))
  );
}

/** `application/*+json` covers `application/hal+json`. */
function covers(documented: string, got: string): boolean {
  const parts = got.split('/');
  return documented.split('/').every((wanted, index) => fits(wanted, parts[index] ?? ''));
}

function fits(wanted: string, got: string): boolean {
  const star = wanted.indexOf('*');
  if (star === -1) return wanted === got;
  const [before, after] = [wanted.slice(0, star), wanted.slice(star + 1)];
  return got.length >= before.length + after.length && got.startsWith(before) && got.endsWith(after);
}

function wildness(mediaType: string): number {
  return mediaType.split('*').length;
}

/** The values that the text of a header may stand for. */
export function headerValues(text: string, form: InputForm): readonly unknown[] {
  if (form === 'json') return [parseJson(text)];
  const items = text.split(',').map((item) => item.trim());
  const pairs = items.map((item) => item.split('=', 2));
  const inTurn = items.flatMap((name, at) => (at % 2 === 0 ? [[name, items[at + 1]]] : []));
  const list = text === '' ? [] : items;
  return [
    ...plainValues(text),
    ...[0, 1].map((at) => list.map((item) => plainValues(item).at(at) ?? item)),
    ...[pairs, inTurn].map((entries) =>
      Object.fromEntries(entries.map(([name = '', value = '']) => [name, plainValues(value).at(-1)])),
    ),
  ];
}

/** A text, and the number, boolean or null that it writes. */
function plainValues(text: string): readonly unknown[] {
  const value = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(text)
    ? parseJson(text.toLowerCase())
    : undefined;
  return value === undefined ? [text] : [text, value];
}
