import type { JsonObject } from '../../base/json-text.ts';
import { STATUS_CODES } from '../../base/node-http.ts';
import { type HttpAnswer, type ProblemName, problem } from './answer.ts';
import { fieldValues, type HasFields, withField, withoutField } from './message.ts';

/** An answer with other content of the same or another media type. */
export function withContent(answer: HttpAnswer, mediaType: string, content: string | Buffer): HttpAnswer {
  return { ...withField(answer, 'Content-Type', mediaType), body: Buffer.from(content) };
}

/** An answer or a request with a field, in place of all of that name. */
export const having =
  (name: string, value: string) =>
  <T extends HasFields>(message: T): T =>
    withField(message, name, value);

/** An answer or a request without these fields. */
export const lacking =
  (...names: readonly string[]) =>
  <T extends HasFields>(message: T): T =>
    withoutField(message, ...names);

/** The answer with this for its content. */
export const holding =
  (content: string, mediaType = 'application/json') =>
  (answer: HttpAnswer): HttpAnswer =>
    withContent(answer, mediaType, content);

export function withText(answer: HttpAnswer, change: (text: string) => string): HttpAnswer {
  return { ...answer, body: Buffer.from(change(answer.body.toString('utf8'))) };
}

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

/** The refusal of a request that is served otherwise. */
export const refusedWith =
  (name: ProblemName) =>
  (answer: HttpAnswer): HttpAnswer =>
    replacedBy(answer, { ...problem(name), responseKind: 'served' });

export function failed(answer: HttpAnswer): HttpAnswer {
  return replacedBy(answer, problem('broken'));
}

/** The answer depends on one more field of the request. */
export function varyingBy(answer: HttpAnswer, name: string): HttpAnswer {
  return withField(answer, 'Vary', [...fieldValues(answer, 'vary'), name].join(', '));
}
