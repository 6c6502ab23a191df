import { hasMembers, isJsonObject } from '../../../base/json-text.ts';
import { pointerMembers } from '../../../wire/json/shape.ts';

/** What runtime expressions speak of (OpenAPI 3.1 §4.8.20.4). */
export interface ExpressionSource {
  readonly url: string;
  readonly method: string;
  readonly status: number;
  readonly request: MessageSource;
  readonly response: MessageSource;
}

interface MessageSource {
  readonly header: (name: string) => string | undefined;
  readonly query: (name: string) => string | undefined;
  readonly path: (name: string) => string | undefined;
  /** Its JSON value; undefined for none. */
  readonly body: unknown;
}

const EXPRESSION =
  /^\$(?:(url|method|statusCode)|(request|response)\.(?:(header|query|path)\.(.+)|body(?:#((?:\/.*)?))?))$/s;
/** One within a text. */
const EMBEDDED = /\{(\$[^{}]*)\}/g;

/** Whether a value of a link is a constant or has only expressions that mean something. */
export function isRuntimeValue(value: unknown): boolean {
  if (hasMembers(value)) return Object.values(value).every(isRuntimeValue);
  return typeof value !== 'string' || expressionsIn(value).every((each) => EXPRESSION.test(each));
}

function expressionsIn(text: string): readonly string[] {
  return text.startsWith('$') ? [text] : [...text.matchAll(EMBEDDED)].map(([, inner = '']) => inner);
}

/** The value of a link; null if one of its expressions yields nothing. */
export function runtimeValue(value: unknown, source: ExpressionSource): unknown {
  if (hasMembers(value)) return runtimeMembers(value, source);
  if (typeof value !== 'string') return value;
  if (value.startsWith('$')) return yieldOf(value, source) ?? null;
  const values = new Map(expressionsIn(value).map((each) => [each, yieldOf(each, source)]));
  if ([...values.values()].some((each) => each === undefined || each === null)) return null;
  return value.replaceAll(EMBEDDED, (_, each: string) => String(values.get(each)));
}

function runtimeMembers(value: object, source: ExpressionSource): unknown {
  const entries = Object.entries(value).map(([name, inner]) => [name, runtimeValue(inner, source)] as const);
  const isEmpty = entries.some(
    ([name, inner]) => inner === null && value[name as keyof typeof value] !== null,
  );
  if (isEmpty) return null;
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

function yieldOf(expression: string, source: ExpressionSource): unknown {
  const [, plain, of, place, name = '', pointer = ''] = EXPRESSION.exec(expression) ?? [];
  if (plain !== undefined) return source[plain === 'statusCode' ? 'status' : (plain as 'url' | 'method')];
  const message = source[of === 'request' ? 'request' : 'response'];
  if (place !== undefined) return message[place as 'header' | 'query' | 'path'](name);
  return pointerMembers(pointer).reduce<unknown>((node, member) => {
    if (Array.isArray(node)) return node[Number(member)];
    return isJsonObject(node) && Object.hasOwn(node, member) ? node[member] : undefined;
  }, message.body);
}
