import { STATUS_CODES } from '../../base/node-http.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import type { Answer } from './message.ts';
import { PROBLEMS, type ProblemKind, type ProblemName } from './response-kind.ts';

/** A problem details answer (RFC 9457), with further fields and extension members. */
export function problem(
  responseKind: ProblemName,
  fields: readonly FieldLine[] = [],
  members: Readonly<Record<string, unknown>> = {},
): Answer {
  const kind: ProblemKind = PROBLEMS[responseKind];
  const content = {
    type: kind.type ?? 'about:blank',
    title: kind.title ?? STATUS_CODES[kind.status],
    status: kind.status,
    detail: kind.detail,
    ...members,
  };
  return {
    responseKind,
    status: kind.status,
    fields: [['Content-Type', 'application/problem+json'], ...fields],
    body: Buffer.from(JSON.stringify(content)),
    delivery: null,
  };
}
