import {
  type Dictionary,
  isInnerList,
  parseDictionary,
  parseItem,
  parseList,
  serializeDictionary,
  serializeInnerList,
  serializeItem,
  serializeList,
} from 'structured-headers';
import type { FieldLine, RecordedRequest, RecordedResponse } from '../../exchange.ts';
import { latin1Octets } from '../../octets/utf8.ts';
import { fieldValues } from '../grammar/field-grammar.ts';
import { structured } from '../grammar/structured-field.ts';
import type { Component, MessageSignature } from './message-signature.ts';

/** The signed messages: a response, and the request that it answers; or a request, where there is no response. */
interface SignedContext {
  readonly request: Pick<RecordedRequest, 'method' | 'url' | 'target' | 'fields'>;
  readonly response: RecordedResponse | null;
}

/** Read from a message, not there, or unknown from its record. */
type ComponentValue =
  | { readonly is: 'there'; readonly text: string }
  | { readonly is: 'missing'; readonly what: string }
  | { readonly is: 'untold'; readonly why: string };

const there = (text: string): ComponentValue =>
  /^[\x20-\x7e]*$/.test(text)
    ? text.includes('[redacted')
      ? { is: 'untold', why: 'holds a secret, which is not kept' }
      : { is: 'there', text }
    : { is: 'untold', why: 'has other characters than those of ASCII' };
const missing = (what: string): ComponentValue => ({ is: 'missing', what });
const untold = (why: string): ComponentValue => ({ is: 'untold', why });

/** The text that is signed (RFC 9421 §2.5), or why there is none: a missing component comes before an unknown one. */
export function signatureBase(
  { components, input }: MessageSignature,
  context: SignedContext,
): ComponentValue {
  const lines: string[] = [];
  let unknown: ComponentValue | null = null;
  for (const component of components) {
    const found = componentValue(component, context);
    if (found.is === 'missing') return found;
    if (found.is === 'untold') unknown ??= untold(`${component.identifier} ${found.why}`);
    else lines.push(`${component.identifier}: ${found.text}\n`);
  }
  return (
    unknown ?? { is: 'there', text: `${lines.join('')}"@signature-params": ${serializeInnerList(input)}` }
  );
}

/** What it stands for in this message (RFC 9421 §2.1 to §2.4). */
function componentValue(component: Component, { request, response }: SignedContext): ComponentValue {
  const { name, parameters, identifier } = component;
  const known = ['sf', 'key', 'bs', 'req', 'tr', 'name'];
  const strange = [...parameters.keys()].find((parameter) => !known.includes(parameter));
  if (strange !== undefined) return untold(`has the parameter ${strange}, which is not known here`);
  if (parameters.has('req') || response === null) {
    if (name.startsWith('@')) return derived(component, request);
    return fieldOr(missing(`no ${identifier} in the request`), request.fields, component);
  }
  if (name.startsWith('@')) return name === '@status' ? there(String(response.status)) : UNKNOWN;
  // A proxy that forwards a message may drop its trailers.
  if (parameters.has('tr'))
    return fieldOr(untold('is a trailer, which did not arrive'), response.trailers, component);
  return fieldOr(missing(`no ${name}`), response.fields, component);
}

const UNKNOWN = untold('is not known here');
/** Of a scheme where no other is named (RFC 9110 §4.2.3). */
const PORTS: ReadonlyMap<string | undefined, number> = new Map([
  ['http:', 80],
  ['https:', 443],
]);

function derived(
  { name, parameters }: Component,
  { method, url, target, fields }: SignedContext['request'],
): ComponentValue {
  const [path = '', ...rest] = target.split('?');
  const query = rest.join('?');
  const at = URL.parse(url);
  const [host, ...otherHosts] = fieldValues(fields, 'host').map((each) => each.toLowerCase());
  const isThere =
    otherHosts.length === 0 && (host === at?.host || host === `${at?.hostname}:${PORTS.get(at?.protocol)}`);
  switch (name) {
    case '@method':
      return there(method);
    case '@request-target':
      return there(target);
    case '@path':
      return path.startsWith('/') ? there(path) : UNKNOWN;
    case '@query':
      return there(`?${query}`);
    case '@query-param':
      return parameterOf(query, String(parameters.get('name')));
    case '@scheme':
      return at === null ? UNKNOWN : there(at.protocol.slice(0, -1));
    case '@authority':
      return at !== null && isThere ? there(at.host) : UNKNOWN;
    case '@target-uri':
      return path.startsWith('/') && at !== null && isThere ? there(`${at.origin}${target}`) : UNKNOWN;
    default:
      return UNKNOWN;
  }
}

/** RFC 9421 §2.2.8: decoded as forms are, and encoded again. */
function parameterOf(query: string, name: string): ComponentValue {
  const values = [...new URLSearchParams(query)].filter(([each]) => encoded(each) === name);
  const [only, ...others] = values;
  if (only === undefined) return missing(`no parameter ${name} in the query`);
  return others.length > 0 ? untold('stands in the query several times') : there(encoded(only[1]));
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()~]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function fieldOr(
  otherwise: ComponentValue,
  lines: readonly FieldLine[],
  { name, parameters }: Component,
): ComponentValue {
  const values = fieldValues(lines, name);
  if (values.length === 0) return otherwise;
  if (values.some((value) => value.includes('[redacted'))) return there(values.join(', '));
  const value = values.map((line) => line.replace(/\r?\n[ \t]+/g, ' ')).join(', ');
  const key = parameters.get('key');
  if (typeof key === 'string') return memberOf(value, name, key);
  if (parameters.has('bs')) {
    return there(serializeList(values.map((line) => [latin1Octets(line), new Map()])));
  }
  return parameters.has('sf') ? strictly(value, name) : there(value);
}

function memberOf(value: string, name: string, key: string): ComponentValue {
  const dictionary = structured((): Dictionary => parseDictionary(value));
  if (dictionary === null) return missing(`no dictionary in ${name}`);
  const member = dictionary.get(key);
  if (member === undefined) return missing(`no ${key} in ${name}`);
  return there(isInnerList(member) ? serializeInnerList(member) : serializeItem(member));
}

/** The type of the field is known to those who sign; where a value reads as several types these have to agree. */
function strictly(value: string, name: string): ComponentValue {
  const forms = [
    structured(() => serializeDictionary(parseDictionary(value))),
    structured(() => serializeList(parseList(value))),
    structured(() => serializeItem(parseItem(value))),
  ].filter((form) => form !== null);
  const [only, ...others] = [...new Set(forms)];
  if (only === undefined) return missing(`no structured field in ${name}`);
  return others.length > 0 ? untold('may be of several types') : there(only);
}
