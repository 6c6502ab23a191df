import { overRecord } from '../../../harness/engine/session/probe.ts';
import { asksForNoPage, type Reply } from '../../../harness/wire/exchange/reply.ts';
import { refusal } from './quota.ts';

/** RFC 6585 §4. */
const TOO_MANY = 429;
/** RFC 9110 §15.5.4: a client that goes on asking may be banned with it, which limits.refusals-free judges. */
const FORBIDDEN = 403;

/**
 * Every refusal at the limit, for rules that hold for the first and for each after it: a refusal of another status shows
 * where the same request had been refused. Without those of other keys, which a gateway may limit by rules of its own.
 */
export const everyLimitRefusal = overRecord<Reply>(
  'every-limit-refusal',
  [refusal],
  async ({ ask, recorded }) => {
    const first = await ask(refusal);
    const isBan = ({ status }: Reply) => status === FORBIDDEN && first.status !== FORBIDDEN;
    return recorded.exchanges.filter(
      (reply) =>
        reply.status !== null &&
        reply.isOrdinary &&
        reply.exchange.credential === 'right' &&
        (reply.status === TOO_MANY || (isSameLater(reply, first) && !reply.served && !isBan(reply))),
    );
  },
);

function isSameLater({ exchange }: Reply, { exchange: first }: Reply): boolean {
  const { method, target, fields } = exchange.request;
  return (
    exchange.timing.startedMs >= first.timing.startedMs &&
    method === first.request.method &&
    target === first.request.target &&
    JSON.stringify(fields) === JSON.stringify(first.request.fields)
  );
}

/** Whether the content of the answer is for programs: HEAD has none, and a page may get one. */
export function hasContentForPrograms({ exchange: { request } }: Reply): boolean {
  return request.method !== 'HEAD' && asksForNoPage(request);
}
