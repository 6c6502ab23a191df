import { requestOfCall } from '../../../harness/config/operation/call/call.ts';
import type { Lifecycle } from '../../../harness/config/operation/lifecycle.ts';
import type { Operation } from '../../../harness/config/service.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import { idOf, itemOf } from './item.ts';
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
  const content = body === null ? {} : { content: body.text };
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
  };
}

/** The item that a creation has made, and the request that removes it. */
interface Removal {
  readonly id: string;
  readonly stimulus: Stimulus;
}

/** null if nothing was created, or its removal is unknown. */
export function removalOf(created: OperationReply, lifecycle: Lifecycle | null): Removal | null {
  if (lifecycle === null || !created.served) return null;
  const { remove, parameter } = lifecycle;
  const id = idOf(itemOf(created), lifecycle) ?? lastSegment(created.response.location);
  if (id === null) return null;
  const inputs = remove.call.inputs.map((input) =>
    input.in === 'path' && input.name === parameter ? { ...input, value: id } : input,
  );
  const request = requestOfCall({ ...remove.call, inputs });
  return { id, stimulus: stimulusOf(orderOf(remove, request, 'to leave nothing behind')) };
}

function lastSegment(place: URL | null): string | null {
  const last = place?.pathname.split('/').filter(Boolean).at(-1);
  if (last === undefined) return null;
  try {
    return decodeURIComponent(last);
  } catch {
    return null;
  }
}
