import type { FaultSide } from '../../../harness/base/finding.ts';
import { hasMembers, isJsonObject } from '../../../harness/base/json-text.ts';
import { derivedOnce } from '../../../harness/config/derived.ts';
import { type AnswerContent, isJsonType } from '../../../harness/config/operation/call/call.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import type { ResponseReading } from '../../../harness/engine/check/suite.ts';
import { derived, lookingBack } from '../../../harness/engine/session/probe.ts';
import { EndlessSchema, SchemaBook, type SchemaJudge } from '../../../harness/wire/json/schema.ts';
import { pointerMembers } from '../../../harness/wire/json/shape.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';
import type { StreamPart } from '../../../harness/wire/stream/part.ts';
import { streamParts } from '../../../harness/wire/stream/stream.ts';
import { sameRequests } from '../../caching/stimuli/repeated.ts';
import { sample } from '../../stimuli/sample.ts';
import { DocumentedReply, headerValues } from './documented-reply.ts';
import type { ReasonAgainst } from './plan.ts';

const NO_JSON: ReasonAgainst = {
  reason: 'it is no JSON, which its documented media type does not ask for',
  why: 'open',
};

// Generators write a range for whatever the framework makes of it.
function asksForAnything(contents: readonly AnswerContent[]): boolean {
  return (
    contents.some(({ mediaType }) => ANYTHING.has(mediaType)) &&
    !contents.some(({ mediaType }) => isJsonType(mediaType))
  );
}

const ANYTHING: ReadonlySet<string> = new Set(['*/*', 'application/*']);
/** Headers that one finding names. */
const MAX_FAULTS = 3;
/** Fields whose lines are not one value (RFC 6265 §3). */
const SEVERAL_LINES: ReadonlySet<string> = new Set(['set-cookie']);

/** Octets of content that are held against a schema; patterns may take long over more. */
const MAX_JUDGED = 512 * 1024;

/** The answer came, and cannot be read as a schema needs it. */
interface Unread {
  readonly reason: string;
  readonly why: 'unread';
}

/** The documented schemas of a service's responses. */
class ResponseSchemas {
  readonly book: SchemaBook;
  readonly #compiled = new Map<unknown, SchemaJudge>();

  constructor({ definitions }: ServiceConfig) {
    this.book = new SchemaBook(definitions);
  }

  /** Why a reply cannot be held against its schema; null when `fault` can tell. */
  whyNotJudged(reply: DocumentedReply): ReasonAgainst | Unread | null {
    const { schema, itemSchema, contents, response, exchange } = reply;
    if (exchange.stream?.left !== undefined && itemSchema === null)
      return { reason: 'no schema is documented for the items of its stream', why: 'open' };
    if (schema === null && itemSchema === null)
      return { reason: 'no schema is documented for its response', why: 'open' };
    if (asksForAnything(contents) && !isJsonType(response.mediaType?.essence ?? '')) return NO_JSON;
    const unread = this.#unread(reply);
    if (unread !== null) return { reason: unread, why: 'unread' };
    if (exchange.stream?.left === 'time' && itemsOf(reply).length === 0)
      return { reason: 'no item of its stream came while it was listened to', why: 'open' };
    const endless = whyEndless(() => this.fault(reply));
    return endless === null ? null : { reason: endless, why: 'unread' };
  }

  /** What keeps a judgment of a body with a schema from being one. */
  get reading(): ResponseReading<DocumentedReply> {
    return {
      partly: false,
      unread: (_, reply) => this.#unread(reply) ?? whyEndless(() => this.fault(reply)),
    };
  }

  #unread(reply: DocumentedReply): string | null {
    const { itemSchema, schema, response, exchange } = reply;
    // The items so far are judged.
    if (exchange.stream?.left !== undefined) {
      const isTooLong = exchange.stream.left === 'octets' && itemsOf(reply).length === 0;
      return response.unread ?? (isTooLong ? 'its first item is longer than is listened to' : null);
    }
    const octets = response.content.length;
    const isTooLarge = octets > MAX_JUDGED;
    return (
      (schema === null && itemSchema !== null ? response.unread : response.unreadJson) ??
      (isTooLarge ? `its content of ${octets} octets is too large to be held against a schema` : null)
    );
  }

  /** The first thing in the body that its schema refuses, in one line; null when it fits. */
  fault(reply: DocumentedReply): string | null {
    const { schema, itemSchema, response } = reply;
    if (itemSchema !== null && (schema === null || reply.exchange.stream?.left !== undefined))
      return this.#itemFault(reply);
    const { value, faults } = response.json;
    if (value === undefined) return faults[0]?.message ?? 'no JSON';
    const fault = this.#judge(schema ?? true)(value);
    return fault === null ? null : `one in which ${fault.message}`;
  }

  /** The side of a fault: the document's if its schema does not exclude others in a `oneOf`, or demands what it forbids. */
  faultSide({ schema, response, isIndistinct }: DocumentedReply): FaultSide {
    if (isIndistinct) return 'document';
    if (schema === null) return 'service';
    const judge = this.#judge(schema);
    const { value } = response.json;
    const fault = judge(value);
    if (fault?.isAmbiguous) return 'document';
    const other = fault?.member === undefined ? null : judge(withOther(value, fault.path, fault.member));
    const isContradiction = other?.member === fault?.member && other?.path === fault?.path && other !== null;
    return isContradiction ? 'document' : 'service';
  }

  /** The first item of a stream that its schema refuses. */
  #itemFault(reply: DocumentedReply): string | null {
    for (const [at, item] of itemsOf(reply).entries()) {
      // One that cannot be read is a fault of the stream.
      const fault = item.value === undefined ? undefined : this.#judge(reply.itemSchema)(item.value)?.message;
      if (fault !== undefined) return `item ${at + 1}, in which ${fault}`;
    }
    return null;
  }

  /** The documented headers that are missing, or not of their schema, in words; null for none. */
  headerFault({ documented, response }: DocumentedReply): string | null {
    const faults = (documented?.headers ?? []).flatMap(({ name, required, schema, form }) => {
      const text = response.field(name);
      if (text === undefined) return required ? [`no ${name}`] : [];
      if (schema === null || SEVERAL_LINES.has(name.toLowerCase())) return [];
      const fault = this.#headerFault(headerValues(text, form), schema);
      return fault === null ? [] : [`${name}: ${visible(text, 60)}, which ${fault}`];
    });
    return faults.length === 0 ? null : faults.slice(0, MAX_FAULTS).join(', and ');
  }

  /** What keeps a judgment of the headers from being one. */
  get headerReading(): ResponseReading<DocumentedReply> {
    return {
      partly: false,
      unread: (_, reply) => whyEndless(() => this.headerFault(reply)),
    };
  }

  /** A text may stand for values of several types: one of them has to fit. */
  #headerFault(values: readonly unknown[], schema: unknown): string | null {
    const faults = values.map((value) => this.#judge(schema)(value));
    if (faults.includes(null)) return null;
    const [told] = faults.filter((fault) => fault?.keyword !== 'type');
    return (told ?? faults[0])?.message.replace(/^the whole /, '') ?? null;
  }

  #judge(schema: unknown): SchemaJudge {
    const known = this.#compiled.get(schema);
    if (known !== undefined) return known;
    const judge = this.book.compile(schema);
    this.#compiled.set(schema, judge);
    return judge;
  }
}

/** Why a judgment comes to no end, which a value may bring about; null if it does. */
function whyEndless(judge: () => unknown): string | null {
  try {
    judge();
    return null;
  } catch (error) {
    if (error instanceof EndlessSchema) return error.message;
    throw error;
  }
}

/** The items of a stream that have come whole. */
function itemsOf({ response, exchange }: DocumentedReply): readonly StreamPart[] {
  const isWhole = exchange.stream?.left === undefined;
  const parts = streamParts(response.mediaType?.essence ?? '', response.content, isWhole);
  return parts.filter(({ kind }) => kind === 'item');
}

/** The value without a member of the object at a pointer, or with it if it is not there. */
function withOther(value: unknown, pointer: string, member: string): unknown {
  const copy: unknown = structuredClone(value);
  const object = pointerMembers(pointer).reduce<unknown>(
    (node, token) => (hasMembers(node) ? node[token] : undefined),
    copy,
  );
  if (!isJsonObject(object)) return copy;
  const isThere = Object.hasOwn(object, member);
  Object.defineProperty(object, member, {
    value: null,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  if (isThere) Reflect.deleteProperty(object, member);
  return copy;
}

/** Each schema of a document is compiled once. */
export const responseSchemas = derivedOnce(
  ({ operations, definitions }) => [operations, definitions],
  (config) => new ResponseSchemas(config),
);

/** Whether each shape of the documented response is one that its schema allows. */
export const areShapesDocumented = lookingBack(
  derived('documented-shapes', [sample, sameRequests], async ({ ask, config, operationOf }) => {
    const first = await ask(sample);
    const { unlike } = await ask(sameRequests);
    const operation = operationOf(first);
    if (operation === null || unlike.shape === null) return false;
    const schemas = responseSchemas(config);
    return [first, ...unlike.shape.answers]
      .map((reply) => new DocumentedReply(operation, reply, false))
      .every((reply) => schemas.whyNotJudged(reply) === null && schemas.fault(reply) === null);
  }),
);
