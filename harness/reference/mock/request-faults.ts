import { hasMembers, parseJson } from '../../base/json-text.ts';
import { facetsOf, type Input, isFormType, isJsonType } from '../../config/operation/call/call.ts';
import type { Operation } from '../../config/service.ts';
import type { Definitions } from '../../wire/json/schema.ts';
import { fieldValue, queryParameters, type ReceivedRequest } from '../http/message.ts';
import type { ValueMaker } from './values.ts';

interface Judging {
  readonly definitions: Definitions;
  readonly values: Pick<ValueMaker, 'faultOf'>;
}

/** The place where a request breaks its document; null if it does not. */
export function faultyPart(
  { call }: Operation,
  request: ReceivedRequest,
  parameters: Readonly<Record<string, string>>,
  judging: Judging,
): 'path' | 'query' | 'header' | 'body' | 'media type' | null {
  for (const input of call.inputs) {
    const texts = textsOf(input, request, parameters);
    if (texts === null) continue;
    if (texts.length === 0 ? input.required : !isFit(input, texts, judging))
      return input.in === 'cookie' ? 'header' : input.in;
  }
  if (!isOfMediaType(call.body, request)) return 'media type';
  return isBodyFit(call.body, request, judging) ? null : 'body';
}

/** The texts of an input in a request; null if its form spreads it over other names. */
function textsOf(
  input: Input,
  request: ReceivedRequest,
  parameters: Readonly<Record<string, string>>,
): readonly string[] | null {
  switch (input.in) {
    case 'path': {
      const value = parameters[input.name];
      return input.form === 'comma' && value !== undefined ? [value] : null;
    }
    case 'query': {
      const query = queryParameters(request.query);
      if (input.form === 'deep-object') {
        const isGiven = [...query.keys()].some((name) => name.startsWith(`${input.name}[`));
        return isGiven || !input.required ? null : [];
      }
      const given = query.getAll(input.name);
      // An object is written by the names of its members.
      return given.length === 0 && input.form === 'repeated' && input.schema !== null
        ? optional(input)
        : given;
    }
    case 'header': {
      const value = fieldValue(request, input.name);
      return value === undefined ? [] : [value];
    }
    default:
      return null;
  }
}

function optional({ required, value }: Input): readonly string[] | null {
  return required && (Array.isArray(value) || !hasMembers(value)) ? [] : null;
}

const SEPARATORS: Readonly<Partial<Record<Input['form'], string>>> = { space: ' ', tab: '\t', pipe: '|' };

function isFit(input: Input, texts: readonly string[], judging: Judging): boolean {
  const { schema, form } = input;
  if (schema === null) return true;
  const readings = readingsOf(schema, texts, form, judging.definitions);
  return readings.some((value) => fits(value, schema, judging));
}

/** All values that the texts may stand for. */
function readingsOf(
  schema: unknown,
  texts: readonly string[],
  form: Input['form'],
  definitions: Definitions,
): readonly unknown[] {
  const [text = ''] = texts;
  const json = parseJson(text);
  if (form === 'json') return [json];
  const { type, keywords } = facetsOf(schema, definitions);
  const typed = (each: string, of: string | null) => (of === 'string' ? [each] : [each, parseJson(each)]);
  if (type === 'array') {
    const parts = texts.length > 1 ? texts : text.split(SEPARATORS[form] ?? ',');
    const { type: inner } = facetsOf(keywords.items, definitions);
    // A single text is a list of one only where items are repeated.
    const whole = form === 'repeated' ? [texts] : [];
    return [parts.map((part) => typed(part, inner).at(-1) ?? part), parts, ...whole];
  }
  if (type === 'object') return [json ?? text];
  // A text that looks like a number is none for a schema of numbers alone.
  if (type !== null && type !== 'string') return texts.length === 1 ? [json] : [];
  return texts.length === 1 ? typed(text, type) : [texts];
}

function fits(value: unknown, schema: unknown, { values }: Judging): boolean {
  const fault = values.faultOf(value, schema);
  // Many documents use formats as hints.
  return fault === null || fault.keyword === 'format';
}

function isOfMediaType(body: Operation['call']['body'], request: ReceivedRequest): boolean {
  if (body === null || body.mediaType === '' || request.body.length === 0) return true;
  return essenceOf(fieldValue(request, 'content-type') ?? '') === essenceOf(body.mediaType);
}

function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function isBodyFit(body: Operation['call']['body'], request: ReceivedRequest, judging: Judging): boolean {
  if (body === null) return true;
  if (request.body.length === 0) return !body.required;
  const mediaType = fieldValue(request, 'content-type') ?? '';
  const text = request.body.toString('utf8');
  if (isJsonType(mediaType)) {
    const value = parseJson(text);
    if (value === undefined) return false;
    return body.schema === null || !isJsonType(body.mediaType) || fits(value, body.schema, judging);
  }
  if (!isFormType(mediaType) || !isFormType(body.mediaType)) return true;
  const { required, properties, keywords } = facetsOf(body.schema, judging.definitions);
  const members = new URLSearchParams(text);
  const given = new Set([...members.keys()].map((name) => name.split('[', 1)[0] ?? ''));
  return (
    required.every((name) => given.has(name)) &&
    (keywords.additionalProperties !== false ||
      [...given].every((name) => Object.hasOwn(properties, name))) &&
    Object.entries(properties).every(([name, schema]) => isMemberFit(members.getAll(name), schema, judging))
  );
}

/** One text is held to its schema; lists and objects are written in several ways. */
function isMemberFit(texts: readonly string[], schema: unknown, judging: Judging): boolean {
  const { type } = facetsOf(schema, judging.definitions);
  if (texts.length !== 1 || type === null || type === 'array' || type === 'object') return true;
  return readingsOf(schema, texts, 'repeated', judging.definitions).some((value) =>
    fits(value, schema, judging),
  );
}
