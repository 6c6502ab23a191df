import { isJsonObject } from '../../../harness/base/json-text.ts';
import { requestOfCall } from '../../../harness/config/operation/call/call.ts';
import type { Lifecycle } from '../../../harness/config/operation/lifecycle.ts';
import type { Stimulus } from '../../../harness/engine/session/http/stimulus.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';
import { mayStandForOwn } from './found-values.ts';
import { createdId, idsIn } from './item.ts';
import {
  creationOf,
  isOfOwnItem,
  itemOperationOf,
  lifecyclesIn,
  OWN_ID,
  withItem,
} from './own-operations.ts';
import type { Order } from './plan.ts';
import { orderOf, sendOrder, stimulusOf } from './stimulus.ts';
import { labelOf, type OperationReply } from './trials.ts';

/** Items that this run creates: it changes and removes no others, and removes each of these in the end. */
export class OwnItems {
  readonly #port: Pick<Port, 'http' | 'remains' | 'signal' | 'config'>;
  readonly #lifecycles: readonly Lifecycle[];
  readonly #before: readonly OperationReply[];
  /** By lifecycle and identifier: cancels the removal. */
  readonly #items = new Map<Lifecycle, Map<string, () => void>>();

  /** `before`: replies from before the first creation. */
  constructor(port: Pick<Port, 'http' | 'remains' | 'signal' | 'config'>, before: readonly OperationReply[]) {
    this.#port = port;
    this.#lifecycles = lifecyclesIn(port.config);
    this.#before = before;
  }

  /** Sends an order, about an item of its own if it is about one. null: there is none. */
  async send(order: Order, more: Partial<Stimulus> = {}): Promise<OperationReply | null> {
    if (!isOfOwnItem(order.path)) return this.sendOther(order, more);
    const lifecycle = itemOperationOf(order.operation, this.#lifecycles);
    const id = lifecycle && (await this.#anyOf(lifecycle));
    if (lifecycle === null || id === null) return null;
    const path = order.path.replaceAll(OWN_ID, encodeURIComponent(id));
    const reply = await this.sendOther({ ...order, path }, more);
    if (order.method === 'DELETE' && reply.served) this.removed(lifecycle, id);
    return reply;
  }

  /** Sends an order as it is; the item that it creates is kept for removal. */
  async sendOther(order: Order, more: Partial<Stimulus> = {}): Promise<OperationReply> {
    const lifecycle = creationOf(order.operation, this.#lifecycles);
    if (lifecycle === null) return sendOrder(this.#port, order, more);
    this.#port.remains.requireRoom();
    const lost = (how: string) => this.#port.remains.lost(`${labelOf(order.operation)} ${how}`);
    try {
      const reply = await sendOrder(this.#port, order, more);
      this.#keep(reply, lifecycle, lost, more);
      return reply;
    } catch (error) {
      if (this.#port.signal.aborted) lost('had no response before the end of the run');
      throw error;
    }
  }

  /** The identifier of the item that a creation of this run has made; null if it made none that is known. */
  idOf(created: OperationReply): string | null {
    const lifecycle = creationOf(created.operation, this.#lifecycles);
    const id = lifecycle && createdId(created, lifecycle);
    return lifecycle !== null && id !== null && this.#items.get(lifecycle)?.has(id) ? id : null;
  }

  /** Whether the documents let the path of an item have this identifier: of others a refusal shows nothing. */
  isFit({ read, parameter }: Lifecycle, id: string): boolean {
    return mayStandForOwn(read, parameter, id, this.#port.config);
  }

  removed(lifecycle: Lifecycle, id: string): void {
    this.#items.get(lifecycle)?.get(id)?.();
    this.#items.get(lifecycle)?.delete(id);
  }

  /** Removes the item under that identifier in the end as well, which nothing had before. */
  keep(lifecycle: Lifecycle, id: string, credential?: Stimulus['credential']): void {
    const items = this.#items.get(lifecycle) ?? new Map<string, () => void>();
    this.#items.set(lifecycle, items);
    if (!items.has(id)) items.set(id, this.#port.remains.leave(removalOf(lifecycle, id, credential)));
  }

  #keep(
    created: OperationReply,
    lifecycle: Lifecycle,
    lost: (how: string) => void,
    { credential }: Partial<Stimulus>,
  ): void {
    const { status, answered } = created;
    const id = createdId(created, lifecycle);
    if (id === null) {
      if (!answered) lost('had no whole response');
      else if (created.served) lost(`was answered ${status} without the identifier of an item`);
      return;
    }
    const listed = this.#before.filter(({ operation, served }) => operation === lifecycle.list && served);
    const isOlder = listed.some((list) => lists(list, id, lifecycle));
    if (isOlder) lost(`was answered with the item ${visible(id, 80)}, which was there before`);
    else this.keep(lifecycle, id, credential);
  }

  async #anyOf(lifecycle: Lifecycle): Promise<string | null> {
    const known = [...(this.#items.get(lifecycle)?.keys() ?? [])].find((id) => this.isFit(lifecycle, id));
    if (known !== undefined) return known;
    const { create } = lifecycle;
    const order = orderOf(create, create, 'to have an item that may be changed');
    const id = this.idOf(await this.sendOther(order));
    return id !== null && this.isFit(lifecycle, id) ? id : null;
  }
}

/** The request that removes an item. */
function removalOf(
  { remove, parameter }: Lifecycle,
  id: string,
  credential: Stimulus['credential'] = 'right',
): Stimulus {
  const request = requestOfCall(withItem(remove.call, parameter, id));
  const order = orderOf(remove, request, 'to leave nothing behind');
  return { ...stimulusOf(order), ...(credential === 'right' ? {} : { credential }) };
}

/** Whether a list has the item: lists are documented at the top, or as a member. */
function lists(list: OperationReply, id: string, lifecycle: Lifecycle): boolean {
  const { value } = list.response.json;
  const arrays = [value, ...Object.values(isJsonObject(value) ? value : {})].filter(Array.isArray);
  return arrays.some((items) => idsIn(items, lifecycle).includes(id));
}
