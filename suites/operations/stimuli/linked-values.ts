import { parseJson } from '../../../harness/base/json-text.ts';
import { answerFor, type DocumentedLink, pathValues } from '../../../harness/config/operation/call/call.ts';
import {
  type ExpressionSource,
  runtimeValue,
} from '../../../harness/config/operation/call/runtime-expression.ts';
import { fieldValue } from '../../../harness/wire/fields/grammar/field-grammar.ts';
import type { OperationReply } from './trials.ts';

export interface FollowedLink {
  readonly link: DocumentedLink;
  /** By the name of the parameter. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Of the request; undefined for none. */
  readonly body: unknown;
  /** The first expression that yields nothing; null for none. */
  readonly empty: string | null;
}

/** The links that are documented for a reply, with the values that it has for them (OpenAPI 3.1 §4.8.20). */
export function followedLinks(reply: OperationReply): readonly FollowedLink[] {
  const { operation, status } = reply;
  const links = status === null ? [] : (answerFor(operation.answers, status)?.links ?? []);
  if (links.length === 0) return [];
  const source = sourceOf(reply);
  return links.map((link) => {
    const values = new Map<string, unknown>();
    let empty: string | null = null;
    for (const { name, value } of link.parameters) {
      const found = ofAddress(link, { name, value }, reply) ?? runtimeValue(value, source);
      if (found === null) empty ??= String(value);
      else values.set(name, found);
    }
    const body = link.requestBody === undefined ? undefined : runtimeValue(link.requestBody, source);
    const isEmpty = body === null && link.requestBody !== null;
    if (isEmpty) empty ??= `the request body ${JSON.stringify(link.requestBody)}`;
    return { link, values, body: isEmpty ? undefined : body, empty };
  });
}

/** A Location names the whole address of the item: the part of it that stands in place of the parameter. */
function ofAddress(
  { template }: DocumentedLink,
  { name, value }: DocumentedLink['parameters'][number],
  { response }: OperationReply,
): string | undefined {
  if (typeof value !== 'string' || !/^\$response\.header\.location$/i.test(value)) return undefined;
  return pathValues(template, response.location?.pathname ?? '')?.get(name);
}

function sourceOf({ order, operation, exchange, response }: OperationReply): ExpressionSource {
  const [path = '', query = ''] = order.path.split('?', 2);
  const [template = ''] = operation.call.template.split('?', 1);
  return {
    url: exchange.request.url,
    method: order.method,
    status: response.status,
    request: {
      header: (name) => fieldValue(exchange.request.fields, name),
      query: (name) => new URLSearchParams(query).get(name) ?? undefined,
      path: (name) => pathValues(template, path)?.get(name),
      body: parseJson(order.body?.text ?? ''),
    },
    response: {
      header: (name) => response.field(name),
      query: () => undefined,
      path: () => undefined,
      body: response.json.value,
    },
  };
}
