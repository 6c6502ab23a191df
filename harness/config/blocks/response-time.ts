import type { ClauseValue } from '../../base/clause.ts';
import { isJsonObject } from '../../base/json-text.ts';
import type { Draft } from '../draft/draft.ts';
import type { Operation } from '../operation/call/call.ts';
import { isMeant, nothingMeant } from '../operation/choice.ts';
import { either } from '../shape/kinds.ts';
import { parseDuration } from '../shape/text-forms.ts';

const DURATION = '^[0-9]+(\\.[0-9]+)?(ms|s|m|h)$';

export const MAX_RESPONSE = either<string | Readonly<Record<string, string>>>(
  'How long the responses of an operation may take: 95 of 100 take no longer. One duration for all, or one for each pattern of operations, of which the first that matches counts: `GET /v1/orders*`, a path, an operationId or a tag.',
  {
    nullable: true,
    expected: 'a duration such as 800ms, or a mapping such as { listOrders: 300ms, "*": 800ms }',
    examples: ['800ms', { listOrders: '300ms', '*': '800ms' }],
  },
  {
    type: ['string', 'object'],
    pattern: DURATION,
    minProperties: 1,
    additionalProperties: { type: 'string', pattern: DURATION },
  },
);

/** The value of `responses.time` that says the same. A pattern that matches no operation is a fault. */
export function responseTimeOf(
  draft: Draft,
  written: string | Readonly<Record<string, string>> | null | undefined,
  operations: readonly Operation[],
): ClauseValue {
  if (written === undefined || written === null) return null;
  for (const pattern of typeof written === 'string' ? [] : Object.keys(written)) {
    if (pattern === '*' || operations.some((each) => isMeant(each, pattern))) continue;
    const { message, remedy } = nothingMeant(pattern, operations);
    throw draft.faultAt(`maxResponse.${pattern}`, message, remedy ?? 'name an operation of the document');
  }
  return written;
}

/** Milliseconds that `responses.time` grants to an operation of these names; null if it says nothing of it. */
export function boundOf(value: ClauseValue, operation: Parameters<typeof isMeant>[0]): number | null {
  if (typeof value === 'string') return parseDuration(value);
  if (!isJsonObject(value)) return null;
  const [, bound] = Object.entries(value).find(([pattern]) => isMeant(operation, pattern)) ?? [];
  return typeof bound === 'string' ? parseDuration(bound) : null;
}
