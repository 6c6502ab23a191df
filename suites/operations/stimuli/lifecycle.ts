import type { JsonObject } from '../../../harness/base/json-text.ts';
import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import type { Lifecycle } from '../../../harness/config/operation/lifecycle.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import { probe } from '../../../harness/engine/session/probe.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';
import {
  brokenChange,
  changesOf,
  fullBody,
  type HalfBroken,
  idsIn,
  itemOf,
  lossIn,
  optionalMembers,
  stampOf,
  unusualBody,
} from './item.ts';
import { type LifePort, Sender } from './life-sender.ts';
import { listOf, wholeListOf } from './list.ts';
import { safeCalls } from './operation.ts';
import { lifecyclesIn } from './own-operations.ts';
import { type OperationReply, whyUndecided } from './trials.ts';

/** Number of collections that are tried, each with the requests of one life. */
const MOST_LIVES = 2;
/** Requests of one life, at most. */
const LONGEST_LIFE = 60;
/** Further ones if reads do not show each write at once. */
const LATE_READS = 20;

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
  // Replaced under the condition that there is no item.
  | 'guarded'
  // A change of which one part breaks its schema.
  | 'refused'
  | 'refusedRead'
  // A member in it that only the service sets.
  | 'stamped'
  | 'stampedRead'
  // Replaced without an optional member.
  | 'sparse'
  | 'sparseRead'
  // A merge patch that removes an optional member.
  | 'nulled'
  | 'nulledRead'
  // A JSON patch, and one whose test fails after a change.
  | 'patched'
  | 'patchedRead'
  | 'patchFailed'
  | 'patchFailedRead'
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
  | 'keyedOtherwise'
  // The same key and content from another account.
  | 'keyedByOther'
  // Twice at once under a further key.
  | 'keyedAtOnce'
  | 'keyedBeside'
  // Twice with content that breaks its schema, under a further key.
  | 'keyedFailed'
  | 'keyedFailedAgain'
  // The list from before the first creation.
  | 'listedBefore';

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
  /** What a JSON patch writes, and what one writes whose test fails; empty where no member can be patched. */
  readonly patch: JsonObject;
  readonly failedPatch: JsonObject;
  /** null where no part of a change is known that breaks its schema. */
  readonly halfBroken: HalfBroken | null;
  /** A value for a member that only the service sets; empty where none is documented. */
  readonly stamp: JsonObject;
  /** Optional members: the one that a replacement leaves out, and the one that a merge patch removes; null for none. */
  readonly leftOut: string | null;
  readonly emptied: string | null;
  /** Written with the creation, and not named by the update. */
  readonly unchanged: JsonObject;
  /** Requests to the twin without a credential. */
  readonly anonymous: readonly OperationReply[];
  /** Requests that showed a write later than at once. */
  readonly late: readonly string[];
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
  {
    needs: [safeCalls],
    cost: (config) => (LONGEST_LIFE + LATE_READS) * livesIn(config).length,
    usualCost: (config) => LONGEST_LIFE * livesIn(config).length,
    risks: ['change'],
  },
  async (port) => {
    const { config, ask } = port;
    if (!config.safety.unsafeMethods) throw new NotApplicable('safety.unsafeMethods is not set');
    if (lifecyclesIn(config).length === 0)
      throw new NotApplicable('no documented operations create items that can be found and removed again');
    const before = (await ask(safeCalls)).judgeable(({ whyNoFault }) => whyNoFault).all;
    const affordable = Math.floor(config.safety.operationRequests / LONGEST_LIFE);
    if (affordable === 0)
      throw new Blocked(`a life takes up to ${LONGEST_LIFE} requests (safety.operationRequests)`);
    const found: Life[] = [];
    for (const lifecycle of livesIn(config)) {
      found.push(await live(lifecycle, port, before));
    }
    return found;
  },
);

async function live(lifecycle: Lifecycle, port: LifePort, before: readonly OperationReply[]): Promise<Life> {
  const steps: Steps = {};
  const listedBefore = before.find(({ operation }) => operation === lifecycle.list);
  if (listedBefore !== undefined) steps.listedBefore = listedBefore;
  const written = { ...fullBody(lifecycle), ...changesOf(lifecycle.body, lifecycle, 'conform') };
  const change = Object.fromEntries(Object.entries(changesOf(written, lifecycle, 'changed')).slice(0, 1));
  const life = {
    lifecycle,
    written,
    change,
    unusualTexts: unusualBody(written, lifecycle),
    unchanged: Object.fromEntries(Object.entries(written).filter(([name]) => !(name in change))),
    replacement: { ...written, ...changesOf(written, lifecycle, 'replaced') },
    patch: firstText(changesOf(written, lifecycle, 'patched')),
    failedPatch: firstText(changesOf(written, lifecycle, 'untested')),
    halfBroken: brokenChange(written, lifecycle),
    stamp: stampOf(lifecycle),
    ...optionalMembers(written, lifecycle),
    anonymous: [] as OperationReply[],
  };
  const sender = new Sender(lifecycle, port, before);
  const { late } = sender;
  try {
    await liveThrough(life, steps, sender);
    return { ...life, ...steps, late, ended: null };
  } catch (error) {
    if (!(error instanceof Blocked)) throw error;
    return { ...life, ...steps, late, ended: error.message };
  }
}

type LifeWritten = Omit<Life, Step | 'anonymous' | 'late' | 'ended' | 'unchanged'> & {
  readonly anonymous: OperationReply[];
};

async function liveThrough(life: LifeWritten, steps: Steps, send: Sender): Promise<void> {
  const { lifecycle, change, replacement, anonymous } = life;
  const { update, replace, list, read, remove } = lifecycle;
  const usable = (made: string | null) => (made !== null && send.own.isFit(lifecycle, made) ? made : null);
  steps.created = await send.create(life.written, 'as a client does');
  const id = send.own.idOf(steps.created);
  // 202: it is yet to be there (RFC 9110 §15.3.3).
  if (id === null || steps.created.status === 202) return;
  if (usable(id) === null)
    throw new Blocked(
      `${steps.created.to} got the identifier ${visible(id, 80)}, which the schema of {${lifecycle.parameter}} refuses`,
    );
  steps.read = await send.shown(() => send.to(read, id, 'after it was created'), isThere);
  const place = steps.created.response.location;
  if (place !== null && !isOf(place, id, steps.read)) steps.placed = await send.toPlace(place, steps.read);

  const twinBody = { ...life.written, ...changesOf(life.written, lifecycle, 'twin') };
  steps.twin = await send.create(twinBody, 'a second time, with other values');
  const twin = usable(send.own.idOf(steps.twin));
  if (twin !== null) {
    const what = 'after another one was created';
    steps.twinRead = await send.shown(() => send.to(read, twin, what), isThere);
  }
  if (list !== null) {
    const what = 'after both were created';
    steps.listed = await send.shown(() => send.list(list, what), mayList(id, lifecycle));
  }

  const before = steps.read.served ? strongTag(steps.read) : null;
  const hasChange = Object.keys(change).length > 0;
  if (update !== null && hasChange) {
    steps.updated = await send.to(update, id, 'with one member', { body: change });
    steps.updatedRead = await send.shown(
      () => send.to(read, id, 'after the change'),
      hasAll(change, lifecycle, steps.updated),
    );
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
    steps.replacedRead = await send.shown(
      () => send.to(read, id, 'after it was replaced'),
      hasAll(replacement, lifecycle, steps.replaced),
    );
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
  await patchFurther(id, life, steps, send);
  await changeFurther(
    id,
    steps.patchedRead ?? steps.replacedRead ?? steps.updatedRead ?? steps.read,
    life,
    steps,
    send,
  );
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
  const isRemoved = steps.removed.served && steps.removed.status !== 202;
  steps.gone = await send.shown(
    () => send.to(read, id, 'after it was removed'),
    (reply) => !isRemoved || !reply.served,
  );
  if (list !== null && steps.listed?.served) {
    steps.listedAfter = await send.shown(
      () => send.list(list, 'after one was removed'),
      (reply) => !isRemoved || !idsIn(listOf(reply) ?? [], lifecycle).includes(id),
    );
  }
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
    const unusual = usable(send.own.idOf(steps.unusual));
    if (unusual !== null) {
      const what = 'after long texts were written';
      steps.unusualRead = await send.shown(() => send.to(read, unusual, what), isThere);
    }
  }
  if (lifecycle.idempotencyField !== null) {
    const fields = [[lifecycle.idempotencyField, `conform-${twin ?? id}`]] as const;
    const keyed = { ...life.written, ...changesOf(life.written, lifecycle, 'keyed') };
    steps.keyed = await send.create(keyed, 'under an Idempotency-Key', fields);
    steps.keyedAgain = await send.create(keyed, 'under the same Idempotency-Key', fields);
    const otherwise = changesOf(keyed, lifecycle, 'again');
    if (Object.keys(otherwise).length > 0) {
      const what = 'under the same Idempotency-Key, with other content';
      steps.keyedOtherwise = await send.create({ ...keyed, ...otherwise }, what, fields);
    }
    if (send.hasOtherAccount && send.isOwned) {
      const what = 'with the second key, under the same Idempotency-Key';
      steps.keyedByOther = await send.create(keyed, what, fields, 'second');
    }
    await repeatFurther(keyed, lifecycle.idempotencyField, `conform-${twin ?? id}`, life, steps, send);
  }
}

/** The first member with a text. */
function firstText(members: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([, value]) => typeof value === 'string')
      .slice(0, 1),
  );
}

/** A JSON patch, and one whose last operation is a test that fails. */
async function patchFurther(
  id: string,
  { lifecycle, patch, failedPatch }: LifeWritten,
  steps: Steps,
  send: Sender,
): Promise<void> {
  const { read, patch: operation } = lifecycle;
  const [[name, value] = []] = Object.entries(patch);
  if (operation === null || name === undefined) return;
  steps.patched = await send.patch(operation, id, 'with a JSON patch', name, [['replace', value]]);
  steps.patchedRead = await send.shown(
    () => send.to(read, id, 'after a JSON patch'),
    hasAll(patch, lifecycle, steps.patched),
  );
  const what = 'with a JSON patch whose test fails';
  steps.patchFailed = await send.patch(operation, id, what, name, [
    ['replace', failedPatch[name]],
    ['test', 'conform-no-such-value'],
  ]);
  steps.patchFailedRead = await send.to(read, id, 'after a JSON patch whose test fails');
}

/** Two creations under one key at once, and two that have to be refused. */
async function repeatFurther(
  body: JsonObject,
  field: string,
  key: string,
  { halfBroken }: LifeWritten,
  steps: Steps,
  send: Sender,
): Promise<void> {
  const atOnce = [[field, `${key}-at-once`]] as const;
  const both = ['under a further Idempotency-Key', 'under that Idempotency-Key at the same time'];
  const [first, beside] = await send.createAtOnce(body, both, atOnce);
  if (first && beside) [steps.keyedAtOnce, steps.keyedBeside] = [first, beside];
  if (halfBroken === null) return;
  const failing = [[field, `${key}-failed`]] as const;
  const broken = { ...body, ...halfBroken.broken };
  steps.keyedFailed = await send.create(broken, 'with a wrong member, under an Idempotency-Key', failing);
  const again = 'with the same wrong member, under the same Idempotency-Key';
  steps.keyedFailedAgain = await send.create(broken, again, failing);
}

/** It is yet to come where it is missing. */
const isThere = ({ status }: OperationReply): boolean => status !== 404;

/** A list that has the item, or may have it on another page. */
const mayList =
  (id: string, lifecycle: Lifecycle) =>
  (reply: OperationReply): boolean => {
    const list = wholeListOf(reply);
    return list === null || idsIn(list, lifecycle).includes(id);
  };

/** An item that has what was written, if that was taken. */
const hasAll =
  (written: JsonObject, lifecycle: Lifecycle, write: OperationReply) =>
  (reply: OperationReply): boolean => {
    const item = itemOf(reply);
    return !write.served || write.status === 202 || !item || lossIn(written, item, lifecycle) === null;
  };

/** An item that no longer has the member that was removed, if that was taken. */
const lacks =
  (name: string, before: JsonObject, write: OperationReply) =>
  (reply: OperationReply): boolean =>
    !write.served || write.status === 202 || itemOf(reply)?.[name] !== before[name];

/** Changes that a service must not carry out, or not in part, and those that leave something out. */
async function changeFurther(
  id: string,
  last: OperationReply,
  { lifecycle, written, replacement, halfBroken, stamp, leftOut, emptied }: LifeWritten,
  steps: Steps,
  send: Sender,
): Promise<void> {
  const { update, replace, read } = lifecycle;
  const changing = update ?? replace;
  const bodyOf = (members: JsonObject) => (update === null ? { ...replacement, ...members } : members);
  if (replace !== null && strongTag(last) !== null) {
    const fields = [['If-None-Match', '*']] as const;
    steps.guarded = await send.to(replace, id, 'as a whole, if there is none', { body: replacement, fields });
  }
  if (changing !== null && halfBroken !== null) {
    const body = bodyOf({ ...halfBroken.sound, ...halfBroken.broken });
    steps.refused = await send.to(changing, id, 'with one right and one wrong member', { body });
    steps.refusedRead = await send.to(read, id, 'after a wrong member was sent');
  }
  if (changing !== null && Object.keys(stamp).length > 0) {
    const [name] = Object.keys(stamp);
    steps.stamped = await send.to(changing, id, `with the readOnly member ${name}`, { body: bodyOf(stamp) });
    steps.stampedRead = await send.to(read, id, `after ${name} was sent`);
  }
  if (replace !== null && leftOut !== null) {
    const { [leftOut]: _, ...body } = replacement;
    steps.sparse = await send.to(replace, id, `as a whole, without ${leftOut}`, { body });
    const what = `after it was replaced without ${leftOut}`;
    steps.sparseRead = await send.shown(
      () => send.to(read, id, what),
      lacks(leftOut, replacement, steps.sparse),
    );
  }
  if (lifecycle.updatesByMerge && update !== null && emptied !== null) {
    steps.nulled = await send.to(update, id, `with null for ${emptied}`, { body: { [emptied]: null } });
    const what = `after null was sent for ${emptied}`;
    steps.nulledRead = await send.shown(
      () => send.to(read, id, what),
      lacks(emptied, steps.replaced?.served ? replacement : written, steps.nulled),
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
