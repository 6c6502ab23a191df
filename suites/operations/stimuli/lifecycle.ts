import type { JsonObject } from '../../../harness/base/json-text.ts';
import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import { requestOfCall } from '../../../harness/config/operation/call/call.ts';
import type { Lifecycle } from '../../../harness/config/operation/lifecycle.ts';
import { documentedValue, type Operation, type ServiceConfig } from '../../../harness/config/service.ts';
import { type Port, probe } from '../../../harness/engine/session/probe.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import { changesOf, fullBody, itemOf, unusualBody } from './item.ts';
import { operationCalls } from './operation.ts';
import { OwnItems } from './own-items.ts';
import { lifecyclesIn } from './own-operations.ts';
import type { Order } from './plan.ts';
import { orderOf } from './stimulus.ts';
import { type OperationReply, whyUndecided } from './trials.ts';

/** Number of collections that are tried, each with the requests of one life. */
const MOST_LIVES = 2;
/** Requests of one life, at most. */
const LONGEST_LIFE = 41;

/** The steps of a life, each with the request that it is. */
export type Step =
  // An item is created and read, also at its Location if that is another place.
  | 'created'
  | 'read'
  | 'placed'
  // A second item, which stays unchanged.
  | 'twin'
  | 'twinRead'
  | 'listed'
  | 'updated'
  | 'updatedRead'
  // Changed under the ETag from before the update.
  | 'stale'
  | 'replaced'
  | 'replacedRead'
  | 'replacedAgain'
  // The update had another identifier in it.
  | 'renamed'
  | 'renamedRead'
  | 'removed'
  | 'gone'
  | 'listedAfter'
  | 'removedAgain'
  | 'twinAfter'
  // Another account asks for the twin, and changes and removes it if it may do neither.
  | 'othersRead'
  | 'othersList'
  | 'othersUpdate'
  | 'othersRemoval'
  // The twin, read by its own account then.
  | 'twinLeft'
  // A third item, whose texts are as long as they may be and go beyond ASCII.
  | 'unusual'
  | 'unusualRead'
  // Created twice under one Idempotency-Key, and once more with other content.
  | 'keyed'
  | 'keyedAgain'
  | 'keyedOtherwise';

/** The replies to the steps that were taken. */
type Steps = Partial<Record<Step, OperationReply>>;

/** An item from its creation to its removal, as the documents have it. */
export interface Life extends Readonly<Steps> {
  readonly lifecycle: Lifecycle;
  /** Written with the creation, the update and the replacement. */
  readonly written: JsonObject;
  readonly change: JsonObject;
  readonly replacement: JsonObject;
  /** Written with the item of unusual texts. */
  readonly unusualTexts: JsonObject;
  /** Written with the creation, and not named by the update. */
  readonly unchanged: JsonObject;
  /** Requests to the twin without a credential. */
  readonly anonymous: readonly OperationReply[];
  /** Why it ended before its end; null where it did not. */
  readonly ended: string | null;
}

/** Why a life shows nothing although it was not refused; null if a refusal, or nothing, is in the way. */
export function whyNotLived(life: Life): string | null {
  const replies = Object.values(life).filter((each): each is OperationReply => each instanceof Reply);
  for (const reply of replies) {
    const { failure, response } = reply.exchange;
    if (response === null) return `${reply.to} got no response (${failure?.message})`;
    const undecided = whyUndecided(reply);
    if (undecided !== null) return `${reply.to} shows nothing: ${undecided}`;
  }
  return life.ended;
}

function livesIn(config: ServiceConfig): readonly Lifecycle[] {
  const affordable = Math.floor(config.safety.operationRequests / LONGEST_LIFE);
  const known = config.safety.unsafeMethods ? lifecyclesIn(config) : [];
  return known.slice(0, Math.min(MOST_LIVES, affordable));
}

/** Each on items that the run creates for it and removes again. @throws NotApplicable where nothing is documented so. */
export const lives = probe<readonly Life[]>(
  'operation-lives',
  { needs: [operationCalls], cost: (config) => LONGEST_LIFE * livesIn(config).length, risks: ['change'] },
  async (port) => {
    const { config, ask } = port;
    if (!config.safety.unsafeMethods) throw new NotApplicable('safety.unsafeMethods is not set');
    if (lifecyclesIn(config).length === 0)
      throw new NotApplicable('no documented operations create items that can be found and removed again');
    const { all } = await ask(operationCalls);
    const affordable = Math.floor(config.safety.operationRequests / LONGEST_LIFE);
    if (affordable === 0)
      throw new Blocked(`a life takes up to ${LONGEST_LIFE} requests (safety.operationRequests)`);
    const found: Life[] = [];
    for (const lifecycle of livesIn(config)) {
      found.push(await live(lifecycle, port, all));
    }
    return found;
  },
);

type LifePort = Pick<Port, 'http' | 'remains' | 'config' | 'signal'>;

async function live(lifecycle: Lifecycle, port: LifePort, before: readonly OperationReply[]): Promise<Life> {
  const steps: Steps = {};
  const written = { ...fullBody(lifecycle), ...changesOf(lifecycle.body, lifecycle, 'conform') };
  const change = Object.fromEntries(Object.entries(changesOf(written, lifecycle, 'changed')).slice(0, 1));
  const life = {
    lifecycle,
    written,
    change,
    unusualTexts: unusualBody(written, lifecycle),
    unchanged: Object.fromEntries(Object.entries(written).filter(([name]) => !(name in change))),
    replacement: { ...written, ...changesOf(written, lifecycle, 'replaced') },
    anonymous: [] as OperationReply[],
  };
  try {
    await liveThrough(life, steps, new Sender(lifecycle, port, before));
    return { ...life, ...steps, ended: null };
  } catch (error) {
    if (!(error instanceof Blocked)) throw error;
    return { ...life, ...steps, ended: error.message };
  }
}

type LifeWritten = Pick<Life, 'lifecycle' | 'written' | 'change' | 'replacement' | 'unusualTexts'> & {
  readonly anonymous: OperationReply[];
};

async function liveThrough(life: LifeWritten, steps: Steps, send: Sender): Promise<void> {
  const { lifecycle, change, replacement, anonymous } = life;
  const { update, replace, list, read, remove } = lifecycle;
  steps.created = await send.create(life.written, 'as a client does');
  const id = send.own.idOf(steps.created);
  // 202: it is yet to be there (RFC 9110 §15.3.3).
  if (id === null || steps.created.status === 202) return;
  steps.read = await send.to(read, id, 'after it was created');
  const place = steps.created.response.location;
  if (place !== null && !isOf(place, id, steps.read)) steps.placed = await send.toPlace(place, steps.read);

  const twinBody = { ...life.written, ...changesOf(life.written, lifecycle, 'twin') };
  steps.twin = await send.create(twinBody, 'a second time, with other values');
  const twin = send.own.idOf(steps.twin);
  if (twin !== null) steps.twinRead = await send.to(read, twin, 'after another one was created');
  if (list !== null) steps.listed = await send.list(list, 'after both were created');

  const before = steps.read.served ? strongTag(steps.read) : null;
  const hasChange = Object.keys(change).length > 0;
  if (update !== null && hasChange) {
    steps.updated = await send.to(update, id, 'with one member', { body: change });
    steps.updatedRead = await send.to(read, id, 'after the change');
  }
  if (replace !== null) {
    const current = strongTag(steps.updatedRead ?? steps.read);
    const stale = before !== null && current !== null && current !== before;
    if (stale) {
      const under = { body: life.written, fields: [['If-Match', before]] } as const;
      steps.stale = await send.to(replace, id, 'under the ETag from before the change', under);
    }
    const fields = current === null ? [] : ([['If-Match', current]] as const);
    const what = current === null ? 'as a whole' : 'as a whole, under its ETag';
    steps.replaced = await send.to(replace, id, what, { body: replacement, fields });
    steps.replacedRead = await send.to(read, id, 'after it was replaced');
    steps.replacedAgain = await send.to(replace, id, 'as a whole, the same once more', { body: replacement });
  } else if (
    update !== null &&
    before !== null &&
    steps.updatedRead &&
    strongTag(steps.updatedRead) !== before
  ) {
    const under = { body: change, fields: [['If-Match', before]] } as const;
    steps.stale = await send.to(update, id, 'under the ETag from before the change', under);
  }
  const changing = update ?? replace;
  if (changing !== null && twin !== null && !(lifecycle.idMember in lifecycle.writable)) {
    const other = otherId(itemIn(steps.twin), lifecycle);
    const body = { ...(update === null ? twinBody : {}), [lifecycle.idMember]: other };
    const isFree = (await send.to(read, String(other), 'that this run has not created')).status === 404;
    if (isFree) {
      steps.renamed = await send.to(changing, twin, `with another ${lifecycle.idMember} in the body`, {
        body,
      });
      steps.renamedRead = await send.to(read, twin, `after another ${lifecycle.idMember} was sent`);
      if (!steps.renamedRead.served) send.own.keep(lifecycle, String(other));
    }
  }

  steps.removed = await send.to(remove, id, 'as documented');
  if (steps.removed.served) send.own.removed(lifecycle, id);
  steps.gone = await send.to(read, id, 'after it was removed');
  if (list !== null && steps.listed?.served)
    steps.listedAfter = await send.list(list, 'after one was removed');
  steps.removedAgain = await send.to(remove, id, 'a second time');
  if (twin !== null)
    steps.twinAfter = await send.to(read, twin, 'after the other one was changed and removed');
  if (twin !== null && read.auth === 'required' && send.hasOtherAccount) {
    await visit(twin, changesOf(twinBody, lifecycle, 'taken'), life, steps, send);
  }

  if (twin !== null && lifecycle.read.auth === 'required' && send.demandsCredential) {
    for (const each of [read, update, replace, remove]) {
      if (each === null || each.auth !== 'required') continue;
      const body = each === update ? change : each === replace ? replacement : null;
      anonymous.push(await send.to(each, twin, 'without a credential', { body, credential: 'none' }));
    }
  }
  if (life.unusualTexts !== life.written) {
    steps.unusual = await send.create(life.unusualTexts, 'with long texts beyond ASCII');
    const unusual = send.own.idOf(steps.unusual);
    if (unusual !== null) steps.unusualRead = await send.to(read, unusual, 'after long texts were written');
  }
  if (lifecycle.idempotencyField !== null) {
    const fields = [[lifecycle.idempotencyField, `conform-${twin ?? id}`]] as const;
    const keyed = { ...life.written, ...changesOf(life.written, lifecycle, 'keyed') };
    steps.keyed = await send.create(keyed, 'under an Idempotency-Key', fields);
    steps.keyedAgain = await send.create(keyed, 'under the same Idempotency-Key', fields);
    steps.keyedOtherwise = await send.create(
      twinBody,
      'under the same Idempotency-Key, with other content',
      fields,
    );
  }
}

/** Another account comes for an item; it changes and removes it only where the documents say that it must not be able to. */
async function visit(
  id: string,
  taken: JsonObject,
  { lifecycle, replacement }: LifeWritten,
  steps: Steps,
  send: Sender,
): Promise<void> {
  const { read, list, update, replace, remove } = lifecycle;
  const other = { credential: 'second' } as const;
  steps.othersRead = await send.to(read, id, 'with the second key', other);
  if (!send.isOwned) return;
  if (list !== null) steps.othersList = await send.list(list, 'with the second key', other);
  const changing = update ?? replace;
  if (changing !== null && Object.keys(taken).length > 0) {
    const body = update === null ? { ...replacement, ...taken } : taken;
    steps.othersUpdate = await send.to(changing, id, 'with the second key', { ...other, body });
  }
  steps.othersRemoval = await send.to(remove, id, 'with the second key', other);
  steps.twinLeft = await send.to(read, id, 'after the second key was used on it');
}

function itemIn(reply: OperationReply | undefined): JsonObject {
  return (reply && itemOf(reply)) ?? {};
}

/** RFC 9110 §13.1.1: If-Match compares strongly, so that a weak one never matches. */
function strongTag(reply: OperationReply): string | null {
  const tag = reply.served ? reply.response.entityTag : null;
  return tag?.startsWith('W/') ? null : tag;
}

/** An identifier of the same kind that the service has not given. */
function otherId(item: JsonObject, { idMember }: Lifecycle): unknown {
  const id = item[idMember];
  return typeof id === 'number' ? id + 1_000_003 : 'conform-chosen-by-client';
}

function isOf(place: URL, id: string, { exchange }: OperationReply): boolean {
  const here = new URL(exchange.request.url);
  const samePath = place.pathname === here.pathname;
  return samePath || (place.origin !== here.origin && place.pathname.endsWith(`/${encodeURIComponent(id)}`));
}

interface Sent {
  readonly body?: JsonObject | null;
  readonly fields?: Order['fields'];
  readonly credential?: 'none' | 'second';
}

/** Sends the steps of one life. */
class Sender {
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

  create(body: JsonObject, what: string, fields: Order['fields'] = []): Promise<OperationReply> {
    const { create } = this.#lifecycle;
    return this.#send(create, requestOf(create, { body, fields }), what);
  }

  list(list: Operation, what: string, sent: Sent = {}): Promise<OperationReply> {
    return this.#send(list, requestOf(list, sent), what, sent.credential);
  }

  to(operation: Operation, id: string, what: string, sent: Sent = {}): Promise<OperationReply> {
    const request = requestOf(operation, sent, { [this.#lifecycle.parameter]: id });
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
  path: Readonly<Record<string, string>> = {},
): Pick<Order, 'path' | 'fields' | 'body'> {
  const request = requestOfCall({
    ...call,
    inputs: call.inputs.map((input) =>
      input.in === 'path' && input.name in path ? { ...input, value: path[input.name] } : input,
    ),
    body:
      body && call.body ? { ...call.body, value: body } : call.body && body === undefined ? call.body : null,
  });
  return { ...request, fields: [...request.fields, ...fields] };
}
