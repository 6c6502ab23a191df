import { isJsonObject, type JsonObject } from '../../base/json-text.ts';
import { isJsonType } from '../../config/operation/call/call.ts';
import type { DocumentedAnswer } from '../../config/service.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import { type HttpAnswer, isProblem } from '../http/answer.ts';
import { isNextPage } from './collections.ts';
import type { ValueMaker } from './values.ts';

/** Answers with the documented headers and content. */
export class DocumentedContent {
  readonly #values: ValueMaker;

  constructor(values: ValueMaker) {
    this.#values = values;
  }

  /** A list of one page: no member leads to another one. */
  withoutNext(list: unknown, schema: unknown): unknown {
    if (!isJsonObject(list)) return list;
    let left = list;
    for (const [name, value] of Object.entries(list)) {
      const isNext = isNextPage(name) && !Array.isArray(value) && !isJsonObject(value);
      const { [name]: _, ...rest } = left;
      const nested = isJsonObject(value) && !Array.isArray(value) ? this.#withoutNextIn(value) : value;
      const candidates = isNext
        ? [rest, ...[null, '', false].map((end) => ({ ...left, [name]: end }))]
        : [{ ...left, [name]: nested }];
      left = candidates.find((each) => this.#values.faultOf(each, schema) === null) ?? left;
    }
    return left;
  }

  #withoutNextIn(value: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(value).filter(([name]) => !isNextPage(name)));
  }

  #fieldValue(name: string, schema: unknown): string {
    if (/^link$/i.test(name) && this.#values.faultOf(LINK, schema) === null) return LINK;
    return textOf(schema === null ? 'text' : this.#values.of(schema, 1));
  }

  /** The answer with the documented content and headers. */
  withContent(
    answer: HttpAnswer,
    { contents, headers }: DocumentedAnswer,
    make: (schema: unknown) => unknown,
  ): HttpAnswer {
    const content = contents.find(({ mediaType }) => isJsonType(mediaType)) ?? contents[0];
    const fields = headers
      .filter(({ required }) => required)
      .map(({ name, schema }): FieldLine => [name, this.#fieldValue(name, schema)]);
    const isRedirect = answer.status >= 300 && answer.status < 400;
    const isBare = [204, 205, 304].includes(answer.status);
    const kept = answer.fields.filter(([name]) => !/^content-type$/i.test(name));
    const all: readonly FieldLine[] = [
      ...kept,
      ...fields.filter(([name]) => kept.every(([known]) => known.toLowerCase() !== name.toLowerCase())),
      ...(isRedirect ? [['Location', 'https://example.com/elsewhere'] as const] : []),
    ];
    if (isBare || (content === undefined && !isProblem(answer.responseKind)))
      return { ...answer, fields: all, body: Buffer.alloc(0) };
    if (content === undefined) return answer;
    const mediaType = concrete(content.mediaType);
    const made = content.schema === null ? 'conform' : make(content.schema);
    // RFC 9457 §3.1.3.
    const value = /problem\+json/i.test(mediaType)
      ? this.#values.overlaid(made, { status: answer.status }, content.schema)
      : made;
    const body = isJsonType(mediaType) ? JSON.stringify(content.schema === null ? {} : value) : textOf(value);
    return { ...answer, fields: [...all, ['Content-Type', mediaType]], body: Buffer.from(body) };
  }
}

/** RFC 8288 §3: a schema says nothing of the syntax, or only a part. */
const LINK = '<https://example.com/conform>; rel="self"';

/** A range as a type of it. */
function concrete(mediaType: string): string {
  return mediaType.replace(/^\*\/\*$|^application\/\*$/, 'application/json').replace('*', 'plain');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
