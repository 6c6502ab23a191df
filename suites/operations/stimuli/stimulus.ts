import type { Operation } from '../../../harness/config/service.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import type { Order } from './plan.ts';
import { OperationReply } from './trials.ts';

/** A request beside those of the plan. */
export function orderOf(
  operation: Operation,
  { path, fields, body }: Pick<Order, 'path' | 'fields' | 'body'>,
  what: string,
): Order {
  return { path, fields, body, operation, kind: 'lifecycle', method: operation.method, what };
}

/** `more`: what is otherwise than the order has it. */
export async function sendOrder(
  { http }: Pick<Port, 'http'>,
  order: Order,
  more: Partial<Stimulus> = {},
): Promise<OperationReply> {
  return new OperationReply(order, await http.send({ ...stimulusOf(order), ...more }));
}

export function stimulusOf(order: Order): Stimulus {
  const { operation, kind, method, path, fields, body, what } = order;
  const content = body && { content: body.isOctets ? Buffer.from(body.text, 'latin1') : body.text };
  const type = body === null ? [] : ([['Content-Type', body.mediaType]] as const);
  return {
    purpose: `${operation.template} ${what}`,
    method,
    target: () => path,
    fields: [...fields, ...type],
    // They belong to the sample.
    withoutSampleFields: true,
    credential: kind === 'no-credential' || operation.auth === 'none' ? 'none' : 'right',
    ...content,
    // What a refusal is to show, the head of a stream shows as well.
    ...(operation.stream && {
      listen: { items: MOST_ITEMS, forMs: kind === 'call' ? operation.stream.listenMs : 0 },
    }),
  };
}

/** Items after which a stream is left. */
const MOST_ITEMS = 20;
