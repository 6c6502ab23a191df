import type { JsonObject } from '../../base/json-text.ts';
import { STATUS_CODES } from '../../base/node-http.ts';
import { type HttpAnswer, problem } from './answer.ts';
import { fieldValues, withField, withoutField } from './message.ts';

/** An answer with other content of the same or another media type. */
export function withContent(answer: HttpAnswer, mediaType: string, content: string | Buffer): HttpAnswer {
  return { ...withField(answer, 'Content-Type', mediaType), body: Buffer.from(content) };
}

/** The answer with a field, in place of all of that name. */
export const having =
  (name: string, value: string) =>
  (answer: HttpAnswer): HttpAnswer =>
    withField(answer, name, value);

/** The answer without a field. */
export const lacking =
  (name: string) =>
  (answer: HttpAnswer): HttpAnswer =>
    withoutField(answer, name);

/** The answer with this for its content. */
export const holding =
  (content: string, mediaType = 'application/json') =>
  (answer: HttpAnswer): HttpAnswer =>
    withContent(answer, mediaType, content);

/** Changes the text of the content. */
export function withText(answer: HttpAnswer, change: (text: string) => string): HttpAnswer {
  return { ...answer, body: Buffer.from(change(answer.body.toString('utf8'))) };
}

/** Changes the JSON that is the content. */
export function withJson(answer: HttpAnswer, change: (content: JsonObject) => unknown): HttpAnswer {
  return withText(answer, (text) => JSON.stringify(change(JSON.parse(text))));
}

/** Sets members of the JSON object that is the content. */
export function withMembers(answer: HttpAnswer, members: object): HttpAnswer {
  return withJson(answer, (content) => ({ ...content, ...members }));
}

/** The answer as problem details of another status; responseKind and other fields stay, so that patches still find it. */
export const asProblem =
  (status: number, title = STATUS_CODES[status]) =>
  (answer: HttpAnswer): HttpAnswer => {
    const content = JSON.stringify({ type: 'about:blank', title, status });
    return { ...withContent(answer, 'application/problem+json', content), status };
  };

/** Content with status 200 in place of the answer. */
export const asSuccess =
  (content: string, mediaType = 'application/json') =>
  (answer: HttpAnswer): HttpAnswer => ({ ...withContent(answer, mediaType, content), status: 200 });

/** No answer at all: the connection is closed. */
export function dropped(answer: HttpAnswer): HttpAnswer {
  return { ...answer, delivery: { kind: 'drop' } };
}

/** Octets in place of the message, made from a well-formed head and the whole content. */
export const writtenAs =
  (render: (head: Buffer, body: Buffer) => Buffer) =>
  (answer: HttpAnswer): HttpAnswer => ({ ...answer, delivery: { kind: 'octets', render } });

/** Another answer in place of one; its quota fields stay. */
export function replacedBy(answer: HttpAnswer, other: HttpAnswer): HttpAnswer {
  const admission = answer.fields.filter(([name]) => /^(x-)?ratelimit/i.test(name));
  return { ...other, fields: [...other.fields, ...admission] };
}

/** A failure of the service in place of the answer. */
export function failed(answer: HttpAnswer): HttpAnswer {
  return replacedBy(answer, problem('broken'));
}

/** The answer depends on one more field of the request. */
export function varyingBy(answer: HttpAnswer, name: string): HttpAnswer {
  return withField(answer, 'Vary', [...fieldValues(answer, 'vary'), name].join(', '));
}
