import type { JsonObject } from '../../../harness/base/json-text.ts';
import { type Call, requestOfCall } from '../../../harness/config/operation/call/call.ts';
import type { Lifecycle } from '../../../harness/config/operation/lifecycle.ts';
import { documentedValue, type Operation } from '../../../harness/config/service.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import { OwnItems } from './own-items.ts';
import { withItem } from './own-operations.ts';
import type { Order } from './plan.ts';
import { orderOf } from './stimulus.ts';
import type { OperationReply } from './trials.ts';

export type LifePort = Pick<Port, 'http' | 'remains' | 'config' | 'signal'>;

interface Sent {
  readonly body?: JsonObject | null;
  readonly fields?: Order['fields'];
  readonly credential?: 'none' | 'second';
}

/** Sends the steps of one life. */
export class Sender {
  readonly #lifecycle: Lifecycle;
  readonly demandsCredential: boolean;
  readonly hasOtherAccount: boolean;
  /** The documents say that an item is its account's alone. */
  readonly isOwned: boolean;
  readonly own: OwnItems;

  constructor(lifecycle: Lifecycle, port: LifePort, before: readonly OperationReply[]) {
    this.#lifecycle = lifecycle;
    this.own = new OwnItems(port, before);
    const { credentials } = port.config;
    this.demandsCredential = credentials.carrier !== null;
    this.hasOtherAccount = credentials.second !== null;
    this.isOwned = documentedValue(port.config, 'resources.owner') === 'account';
  }

  create(
    body: JsonObject,
    what: string,
    fields: Order['fields'] = [],
    credential?: Sent['credential'],
  ): Promise<OperationReply> {
    const { create } = this.#lifecycle;
    return this.#send(create, requestOf(create, { body, fields }), what, credential);
  }

  list(list: Operation, what: string, sent: Sent = {}): Promise<OperationReply> {
    return this.#send(list, requestOf(list, sent), what, sent.credential);
  }

  to(operation: Operation, id: string, what: string, sent: Sent = {}): Promise<OperationReply> {
    const request = requestOf(operation, sent, (call) => withItem(call, this.#lifecycle.parameter, id));
    return this.#send(operation, request, what, sent.credential);
  }

  /** Where Location points, however that lies to the address where the item was read. */
  async toPlace({ origin, pathname, search }: URL, read: OperationReply): Promise<OperationReply> {
    const { order, exchange } = read;
    const base = new URL(exchange.request.url).pathname.slice(0, -order.path.length);
    const path = `${pathname.startsWith(base) ? pathname.slice(base.length) : pathname}${search}`;
    const what = `where the Location of the creation points (${origin}${pathname})`;
    return this.#send(order.operation, { ...order, path }, what);
  }

  #send(
    operation: Operation,
    request: Pick<Order, 'path' | 'fields' | 'body'>,
    what: string,
    credential?: Sent['credential'],
  ): Promise<OperationReply> {
    const raw = operation.method === 'DELETE';
    const order = orderOf(operation, request, what);
    return this.own.sendOther(order, credential ? { raw, credential } : { raw });
  }
}

function requestOf(
  { call }: Operation,
  { body, fields = [] }: Sent,
  about: (call: Call) => Call = (same) => same,
): Pick<Order, 'path' | 'fields' | 'body'> {
  const request = requestOfCall({
    ...about(call),
    body:
      body && call.body ? { ...call.body, value: body } : call.body && body === undefined ? call.body : null,
  });
  return { ...request, fields: [...request.fields, ...fields] };
}
