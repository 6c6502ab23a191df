import type { JsonObject } from '../../../harness/base/json-text.ts';
import { Blocked } from '../../../harness/base/verdict.ts';
import { type Call, requestOfCall } from '../../../harness/config/operation/call/call.ts';
import type { Lifecycle } from '../../../harness/config/operation/lifecycle.ts';
import { documentedValue, type Operation } from '../../../harness/config/service.ts';
import { parseDuration } from '../../../harness/config/shape/text-forms.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import { OwnItems } from './own-items.ts';
import { withItem } from './own-operations.ts';
import type { Order } from './plan.ts';
import { orderOf } from './stimulus.ts';
import type { OperationReply } from './trials.ts';

export type LifePort = Pick<Port, 'http' | 'remains' | 'config' | 'signal' | 'clock'>;

interface Sent {
  readonly body?: JsonObject | null;
  readonly fields?: Order['fields'];
  readonly credential?: 'none' | 'second';
}

const JSON_PATCH = 'application/json-patch+json';

/** Milliseconds until a write shows: where the documents name no time, and at most. */
const USUAL_DELAY_MS = 3_000;
const LONGEST_DELAY_MS = 30_000;
/** Parts of that time before each further look. */
const LOOKS = [0.25, 0.75];

/** Milliseconds until a write has to show. */
function delayMsIn(config: LifePort['config']): number {
  const documented = documentedValue(config, 'resources.consistency');
  return (typeof documented === 'string' ? parseDuration(documented) : null) ?? USUAL_DELAY_MS;
}

/** Sends the steps of one life. */
export class Sender {
  readonly #lifecycle: Lifecycle;
  readonly #port: LifePort;
  /** Requests that showed a write later than at once. */
  readonly late: string[] = [];
  /** A write did not show in time: no other one is waited for. */
  #isGivenUp = false;
  readonly demandsCredential: boolean;
  readonly hasOtherAccount: boolean;
  /** The documents say that an item is its account's alone. */
  readonly isOwned: boolean;
  readonly own: OwnItems;

  constructor(lifecycle: Lifecycle, port: LifePort, before: readonly OperationReply[]) {
    this.#lifecycle = lifecycle;
    this.#port = port;
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

  /** Each on a connection of its own, at the same time. */
  createAtOnce(
    body: JsonObject,
    whats: readonly string[],
    fields: Order['fields'],
  ): Promise<OperationReply[]> {
    const { create } = this.#lifecycle;
    const request = requestOf(create, { body, fields });
    return Promise.all(
      whats.map((what) => this.own.sendOther(orderOf(create, request, what), { raw: true })),
    );
  }

  list(list: Operation, what: string, sent: Sent = {}): Promise<OperationReply> {
    return this.#send(list, requestOf(list, sent), what, sent.credential);
  }

  to(operation: Operation, id: string, what: string, sent: Sent = {}): Promise<OperationReply> {
    const request = requestOf(operation, sent, (call) => withItem(call, this.#lifecycle.parameter, id));
    return this.#send(operation, request, what, sent.credential);
  }

  /** A JSON patch of one member, by operations in this order (RFC 6902). */
  patch(
    operation: Operation,
    id: string,
    what: string,
    name: string,
    steps: readonly (readonly ['replace' | 'test', unknown])[],
  ): Promise<OperationReply> {
    const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const value = steps.map(([op, member]) => ({ op, path, value: member }));
    const { body, ...call } = withItem(operation.call, this.#lifecycle.parameter, id);
    const patch = body && { mediaType: JSON_PATCH, required: true, schema: null, value };
    return this.#send(operation, requestOfCall({ ...call, body: patch }), what);
  }

  /**
   * The first response that shows a write, or the last one of the time that the service has for it.
   * @throws Blocked if it may take longer than a run waits.
   */
  async shown(
    send: () => Promise<OperationReply>,
    shows: (reply: OperationReply) => boolean,
  ): Promise<OperationReply> {
    const { config, clock, signal } = this.#port;
    const delayMs = delayMsIn(config);
    let reply = await send();
    for (const part of LOOKS) {
      if (this.#isGivenUp || delayMs === 0 || shows(reply)) break;
      await clock.sleep(part * Math.min(delayMs, LONGEST_DELAY_MS), signal);
      reply = await send();
      if (shows(reply)) this.late.push(reply.to);
    }
    this.#isGivenUp ||= !shows(reply);
    if (!shows(reply) && delayMs > LONGEST_DELAY_MS)
      throw new Blocked(`${reply.to} may not show it yet (resources.consistency)`);
    return reply;
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
