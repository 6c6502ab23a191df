import { type JsonObject, parseJsonObject } from '../../base/json-text.ts';
import type { FieldLine } from '../../wire/exchange.ts';

/** A request as it stood on the wire: nothing decoded, nothing merged. */
export interface ReceivedRequest {
  readonly method: string;
  /** The request target as sent, e.g. `/v1/resources?x=1`, `*` or an absolute URL. */
  readonly target: string;
  /** The path of the target, percent-encoding untouched. */
  readonly path: string;
  /** What follows the first `?`, percent-encoding untouched; null when there is none. */
  readonly query: string | null;
  /** `1.1`, `1.0` … */
  readonly httpVersion: string;
  readonly fields: readonly FieldLine[];
  readonly body: Buffer;
  /** Identifies the connection; absent if unknown. */
  readonly connection?: object;
}

export type RequestCondition = (request: ReceivedRequest) => boolean;

const ABSOLUTE_FORM = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/;

/** Path and query of a request target in origin, absolute or asterisk form (RFC 9112 §3.2). */
export function splitTarget(target: string): { readonly path: string; readonly query: string | null } {
  const origin = target.replace(ABSOLUTE_FORM, '');
  const mark = origin.indexOf('?');
  const path = mark === -1 ? origin : origin.slice(0, mark);
  return { path: path === '' ? '/' : path, query: mark === -1 ? null : origin.slice(mark + 1) };
}

export interface HasFields {
  readonly fields: readonly FieldLine[];
}

/** The values of all lines of a field, in order; names match case-insensitively (RFC 9110 §5.1). */
export function fieldValues(message: HasFields, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  return message.fields.filter(([given]) => given.toLowerCase() === wanted).map(([, value]) => value);
}

export function fieldValue(message: HasFields, name: string): string | undefined {
  return fieldValues(message, name)[0];
}

/** The members of a comma-separated list field over all its lines (RFC 9110 §5.6.1), lower-cased. */
export function listMembers(message: HasFields, name: string): readonly string[] {
  return fieldValues(message, name)
    .flatMap((value) => value.split(','))
    .map((member) => member.trim().toLowerCase())
    .filter((member) => member !== '');
}

/** Whether a request has a field, whose first value is in this form. */
export const sending =
  (name: string, form = /^/): RequestCondition =>
  (request) => {
    const value = fieldValue(request, name);
    return value !== undefined && form.test(value);
  };

export function withoutField<T extends HasFields>(message: T, ...names: readonly string[]): T {
  const unwanted = names.map((name) => name.toLowerCase());
  return { ...message, fields: message.fields.filter(([name]) => !unwanted.includes(name.toLowerCase())) };
}

/** Sets a field, replacing every line of that name. */
export function withField<T extends HasFields>(message: T, name: string, value: string): T {
  return withFields(message, { [name]: value });
}

export function withFields<T extends HasFields>(message: T, fields: Readonly<Record<string, string>>): T {
  const rest = withoutField(message, ...Object.keys(fields));
  return { ...rest, fields: [...rest.fields, ...Object.entries(fields)] };
}

/** The parameters of a query, `+` and percent-encoding decoded the lenient way of the URL standard. */
export function queryParameters(query: string | null): URLSearchParams {
  return new URLSearchParams(query ?? '');
}

/** Of the JSON object that is its content; null where it is none. */
export function objectIn({ body }: ReceivedRequest): JsonObject | null {
  return parseJsonObject(body.toString('utf8'));
}

/** A request with another query; null where nothing is left of it. */
export function withQuery(
  request: ReceivedRequest,
  change: (query: URLSearchParams) => void,
): ReceivedRequest {
  const query = queryParameters(request.query);
  change(query);
  return { ...request, query: query.size === 0 ? null : query.toString() };
}

/** One line of the log; the path is without its query, which may hold a credential. */
export interface ServedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}
