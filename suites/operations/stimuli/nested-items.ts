import { isJsonObject, type JsonObject } from '../../../harness/base/json-text.ts';
import {
  type Call,
  pathValues,
  placeholdersOf,
  requestOfCall,
  withoutEndSlash,
} from '../../../harness/config/operation/call/call.ts';
import type { Operation } from '../../../harness/config/service.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import { type Collection, collectionAround, FORMAT } from './collections.ts';
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
  readonly #reads: ReadonlyMap<string, Operation>;
  readonly #collections: readonly Collection[];
  readonly #own: OwnItems;
  readonly #known: KnownValues;
  /** Parameters of the path of each item, with that of the item itself; by the template of that path. */
  readonly #items = new Map<string, { readonly values: FoundValues; readonly kept: () => void }[]>();

  /** Paths of the items. */
  readonly #paths = new Set<string>();
  /** Paths of lists in items of the run that were read. */
  readonly #listed = new Set<string>();

  constructor(
    port: Pick<Port, 'remains'>,
    {
      operations,
      collections,
    }: { readonly operations: readonly Operation[]; readonly collections: readonly Collection[] },
    { own, known }: { readonly own: OwnItems; readonly known: KnownValues },
  ) {
    this.#port = port;
    this.#collections = collections;
    this.#reads = new Map(
      operations.flatMap((each) =>
        each.method === 'GET' ? [[each.call.template.replace(FORMAT, ''), each] as const] : [],
      ),
    );
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
    this.#keep(reply, into, () => undefined);
  }

  /** Whether a request is to an item of the run itself, and not to what is below it. */
  isToItem({ path }: Order): boolean {
    return this.#paths.has(withoutEndSlash(path.split('?', 1)[0] ?? ''));
  }

  /** Values of the path of a read about an item of the run; null if there is none, or a value is missing. */
  valuesFor(operation: Operation): FoundValues | null {
    const around = collectionAround(operation, this.#collections);
    const own = around && this.#lastOf(around)?.values;
    const found = own && this.#known.for(operation, own);
    if (!own || !found || !this.#areFit(operation, own)) return null;
    return new Map([...found, ...own]);
  }

  #areFit(operation: Operation, own: FoundValues): boolean {
    return [...own].every(([name, value]) => this.#known.isFitOfOwn(operation, name, value));
  }

  async #sent(order: Order): Promise<OperationReply> {
    const into = this.#collections.find(({ create }) => create === order.operation);
    if (into?.remove != null) this.#port.remains.requireRoom();
    const reply = await this.#own.sendOther(order);
    this.#known.take(reply);
    if (into !== undefined) this.#keep(reply, into, this.#removalOf(reply, into));
    return reply;
  }

  /** The order with the item of the run in its path, which is created first if there is none. */
  async #ready(operation: Operation, order: Order, depth: number): Promise<Order | null> {
    const around = collectionAround(operation, this.#collections);
    let own: FoundValues = new Map();
    if (around !== null) {
      const item = this.#lastOf(around) ?? (await this.#created(around, depth));
      const into = this.#collections.some(({ create }) => create === operation);
      // What stands in an item from elsewhere may also be created in one that the run has found.
      if (item === null && !(around.isElsewhere && into)) return null;
      own = item?.values ?? own;
      // The service contradicts its document by such an identifier: a refusal would say nothing about this operation.
      if (!this.#areFit(operation, own)) return null;
    }
    await this.#readLists(operation, own);
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

  /** Reads the lists in an item of the run that have the other values of a path, from the outside in. */
  async #readLists({ call: { template } }: Operation, own: FoundValues): Promise<void> {
    const segments = template.split('/');
    for (const [at, segment] of segments.entries()) {
      const isMissing = placeholdersOf(segment).some((name) => !own.has(name));
      const list = isMissing ? this.#reads.get(segments.slice(0, at).join('/')) : undefined;
      const isInOwn = list !== undefined && placeholdersOf(list.call.template).some((name) => own.has(name));
      const values = isInOwn ? this.#known.for(list, own) : null;
      if (list === undefined || values === null) continue;
      const request = requestOfCall(withValues(list.call, new Map([...values, ...own])));
      if (this.#listed.has(request.path)) continue;
      this.#listed.add(request.path);
      this.#known.take(
        await this.#own.sendOther(orderOf(list, request, 'to find an item of an item of the run')),
      );
    }
  }

  async #created(into: Collection, depth: number): Promise<{ readonly values: FoundValues } | null> {
    if (depth >= MOST_PARENTS) return null;
    const { create } = into;
    const order = orderOf(create, create, 'to have an item that may be changed');
    const ready = await this.#ready(create, order, depth + 1);
    if (ready === null) return null;
    await this.#sent(ready);
    return this.#lastOf(into);
  }

  #lastOf({ itemTemplates: [template = ''] }: Collection) {
    return this.#items.get(template)?.at(-1) ?? null;
  }

  #keep(reply: OperationReply, into: Collection, kept: () => void): void {
    const all = this.#valuesOf(reply, into);
    if (all === null) return;
    const [template = ''] = into.itemTemplates;
    this.#items.set(template, [...(this.#items.get(template) ?? []), { values: all, kept }]);
    for (const each of into.itemTemplates) this.#paths.add(pathWith(each, all));
  }

  /** Values of the path of a created item; null if nothing says which it is. */
  #valuesOf(reply: OperationReply, into: Collection): FoundValues | null {
    if (into.isElsewhere) return this.#known.placeOf(reply, into.itemTemplates[0] ?? '');
    const id = idOf(reply, into);
    return id === null ? null : withId(valuesIn(reply), into, id);
  }

  /** Plans the removal of what a reply has created; the function cancels it. */
  #removalOf(reply: OperationReply, into: Collection): () => void {
    const { remove, itemTemplates } = into;
    const all = this.#valuesOf(reply, into);
    // Those of the lifecycles are removed already.
    if (this.#own.idOf(reply) !== null) return () => undefined;
    if (remove === null || all === null) {
      if (reply.served && remove !== null)
        this.#port.remains.lost(`${itemTemplates[0]} without an identifier`);
      return () => undefined;
    }
    const order = orderOf(remove, requestOfCall(withValues(remove.call, all)), 'to leave nothing behind');
    return this.#port.remains.leave(stimulusOf(order));
  }

  #removed({ operation }: Order): void {
    const gone = this.#collections.find(({ remove }) => remove === operation);
    if (gone !== undefined)
      this.#items
        .get(gone.itemTemplates[0] ?? '')
        ?.pop()
        ?.kept();
  }
}

/** The call with these values in its path. */
function withValues(call: Call, values: FoundValues): Call {
  const inputs = call.inputs.map((input) =>
    input.in === 'path' && values.has(input.name) ? { ...input, value: values.get(input.name) } : input,
  );
  return { ...call, inputs };
}

function pathWith(template: string, values: FoundValues): string {
  return template.replaceAll(/\{([^{}]+)\}/g, (_, name) => encodeURIComponent(values.get(name) ?? ''));
}

/** The values in the path of a creation, those of examples too. */
function valuesIn({ operation, order }: OperationReply): FoundValues {
  const [template = '', path = ''] = [operation.call.template, order.path].map(
    (each) => each.split('?', 1)[0],
  );
  return pathValues(template, path) ?? order.values ?? new Map();
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
  const wanted = new Set(parameters.flatMap((name) => [plain(name), ownName(name, noun)]));
  for (const object of [item, innerOf(item)]) {
    const named = Object.keys(object ?? {}).filter((name) => wanted.has(plain(name)));
    for (const idMember of [...named, 'id', 'uuid', 'sid', 'gid', 'key', 'slug', 'name']) {
      const id = itemId(object, { idMember });
      if (id !== null) return id;
    }
  }
  return createdId(reply, { idMember: parameters[0] ?? 'id' });
}

/** The object that holds the item of an answer, or its name, as metadata do in Kubernetes; null if it is in doubt. */
function innerOf(item: JsonObject | null): JsonObject | null {
  const { metadata, data, ...others } = item ?? {};
  if (isJsonObject(metadata) && 'name' in metadata) return metadata;
  const [only, ...more] = Object.values({ metadata, data, ...others }).filter(isJsonObject);
  if (more.length === 0) return only ?? null;
  return isJsonObject(data) ? data : null;
}
