import { isJsonObject } from '../../../harness/base/json-text.ts';
import { pathValues, requestOfCall } from '../../../harness/config/operation/call/call.ts';
import type { Operation } from '../../../harness/config/service.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import { type Collection, collectionAround } from './collections.ts';
import type { KnownValues } from './found-values.ts';
import { createdId, idOf as itemId, itemOf } from './item.ts';
import { ownName, plain } from './names.ts';
import type { OwnItems } from './own-items.ts';
import type { FoundValues, Order } from './plan.ts';
import { orderOf, stimulusOf } from './stimulus.ts';
import type { OperationReply } from './trials.ts';

/** Items that are created for one call, at most: a parent for each level. */
const MOST_PARENTS = 4;

/** Items in collections at any depth that this run has created: what is below them is its own as well. */
export class NestedItems {
  readonly #port: Pick<Port, 'remains'>;
  readonly #collections: readonly Collection[];
  readonly #own: OwnItems;
  readonly #known: KnownValues;
  /** Parameters of the path of each item, with that of the item itself. */
  readonly #items = new Map<Collection, { readonly values: FoundValues; readonly kept: () => void }[]>();

  constructor(
    port: Pick<Port, 'remains'>,
    collections: readonly Collection[],
    { own, known }: { readonly own: OwnItems; readonly known: KnownValues },
  ) {
    this.#port = port;
    this.#collections = collections;
    this.#own = own;
    this.#known = known;
  }

  /** Sends an order about an item of the run; null if there is none, or a value is missing. */
  async send(order: Order): Promise<OperationReply | null> {
    const ready = await this.#ready(order.operation, order, 0);
    if (ready === null) return null;
    const reply = await this.#sent(ready);
    if (reply.served && order.method === 'DELETE') this.#removed(ready);
    return reply;
  }

  /** Takes the item that a reply of any other probe has created. */
  take(reply: OperationReply): void {
    const into = this.#collections.find(({ create }) => create === reply.operation);
    if (into === undefined) return;
    const [path = ''] = reply.order.path.split('?', 1);
    this.#keep(reply, into, pathValues(into.create.call.template, path) ?? new Map(), () => undefined);
  }

  async #sent(order: Order): Promise<OperationReply> {
    const into = this.#collections.find(({ create }) => create === order.operation);
    if (into?.remove != null) this.#port.remains.requireRoom();
    const reply = await this.#own.sendOther(order);
    this.#known.take(reply);
    if (into !== undefined)
      this.#keep(reply, into, order.values ?? new Map(), this.#removalOf(reply, into, order));
    return reply;
  }

  /** The order with the item of the run in its path, which is created first if there is none. */
  async #ready(operation: Operation, order: Order, depth: number): Promise<Order | null> {
    const around = collectionAround(operation, this.#collections);
    let own: FoundValues = new Map();
    if (around !== null) {
      const item = this.#items.get(around)?.at(-1) ?? (await this.#created(around, depth));
      if (item === null) return null;
      // The service contradicts its document by such an identifier: a refusal would say nothing about this operation.
      if ([...item.values].some(([name, value]) => !this.#known.isFit(operation, name, value))) return null;
      own = item.values;
    }
    const awaits = operation.awaits.filter((name) => !own.has(name));
    const found = awaits.length === 0 ? new Map<string, string>() : this.#known.for(operation, own);
    if (found === null) return null;
    const values = new Map([...found, ...own]);
    const inputs = operation.call.inputs.map((input) =>
      values.has(input.name) && (input.in === 'path' || operation.awaits.includes(input.name))
        ? { ...input, value: values.get(input.name) }
        : input,
    );
    const body = this.#known.bodyOf(operation);
    return { ...order, ...requestOfCall({ ...operation.call, inputs, body }), values };
  }

  async #created(into: Collection, depth: number): Promise<{ readonly values: FoundValues } | null> {
    if (depth >= MOST_PARENTS) return null;
    const { create } = into;
    const order = orderOf(create, create, 'to have an item that may be changed');
    const ready = await this.#ready(create, order, depth + 1);
    if (ready === null) return null;
    await this.#sent(ready);
    return this.#items.get(into)?.at(-1) ?? null;
  }

  #keep(reply: OperationReply, into: Collection, values: FoundValues, kept: () => void): void {
    const id = idOf(reply, into);
    if (id === null) return;
    const items = this.#items.get(into) ?? [];
    items.push({ values: withId(values, into, id), kept });
    this.#items.set(into, items);
  }

  /** Plans the removal of what a reply has created; the function cancels it. */
  #removalOf(reply: OperationReply, into: Collection, { values }: Order): () => void {
    const { remove, itemTemplates } = into;
    const id = idOf(reply, into);
    // Those of the lifecycles are removed already.
    if (this.#own.idOf(reply) !== null) return () => undefined;
    if (remove === null || id === null) {
      if (reply.served && remove !== null)
        this.#port.remains.lost(`${itemTemplates[0]} without an identifier`);
      return () => undefined;
    }
    const all = withId(values ?? new Map(), into, id);
    const inputs = remove.call.inputs.map((input) =>
      input.in === 'path' && all.has(input.name) ? { ...input, value: all.get(input.name) } : input,
    );
    const order = orderOf(remove, requestOfCall({ ...remove.call, inputs }), 'to leave nothing behind');
    return this.#port.remains.leave(stimulusOf(order));
  }

  #removed({ operation }: Order): void {
    const gone = this.#collections.find(({ remove }) => remove === operation);
    if (gone !== undefined) this.#items.get(gone)?.pop()?.kept();
  }
}

/** The identifier of an item by each name that the paths below have for it. */
function withId(values: FoundValues, { parameters }: Collection, id: string): FoundValues {
  return new Map([...values, ...parameters.map((name) => [name, id] as const)]);
}

/** The identifier of a created item, by the name of its parameter or the usual names; else the end of its Location. */
function idOf(
  reply: OperationReply,
  { parameters, noun }: Pick<Collection, 'parameters' | 'noun'>,
): string | null {
  const item = itemOf(reply);
  const nested = item === null ? [] : Object.values(item).filter(isJsonObject);
  const wanted = new Set(parameters.flatMap((name) => [plain(name), ownName(name, noun)]));
  for (const object of [item, ...(nested.length === 1 ? nested : [])]) {
    const named = Object.keys(object ?? {}).filter((name) => wanted.has(plain(name)));
    for (const idMember of [...named, 'id', 'uuid', 'sid', 'gid', 'key', 'slug', 'name']) {
      const id = itemId(object, { idMember });
      if (id !== null) return id;
    }
  }
  return createdId(reply, { idMember: parameters[0] ?? 'id' });
}
