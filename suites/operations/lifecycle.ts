import {
  type CheckDefinition,
  check,
  clause,
  type Ground,
  given,
  practice,
  rfc9110,
  unsafeMethods,
} from '../../harness/check/suite.ts';
import { idOf, itemOf, lossIn } from '../../harness/probe/operation/item.ts';
import { type Life, lives, type Step } from '../../harness/probe/operation/lifecycle.ts';
import type { OperationReply } from '../../harness/probe/operation/trials.ts';
import { missingCredential, refusalClass } from '../auth/bad-credentials.ts';

/** What the config or its OpenAPI document says of the calls beyond the sample. */
const documented = clause('endpoint.other-operations');

interface Lived {
  readonly id: string;
  readonly title: string;
  readonly headline: string;
  readonly why: string;
  readonly change: string;
  readonly grounds?: readonly Ground[];
  readonly restsOn?: readonly CheckDefinition[];
  readonly repeats?: readonly CheckDefinition[];
  /** Completes "expected …". */
  readonly wanted: string;
  /** The step that is judged, and those without which it shows nothing. */
  readonly step: Step;
  readonly after?: readonly Step[];
  /** What came instead; null where it conforms, or shows nothing. */
  readonly got: (reply: OperationReply, life: Life) => string | null;
}

/** Judges a step in the life of items that the run has created itself. */
const lived = ({ grounds = [documented], wanted, step, after = [], got, ...notes }: Lived): CheckDefinition =>
  check(notes.id, {
    ...notes,
    grounds,
    async judge({ probe, expect, blocked, notApplicable }) {
      const all = await probe(lives);
      const telling = all.filter(
        (life) => life[step] !== undefined && after.every((each) => life[each]?.served),
      );
      const ended = all.find((life) => life.ended !== null)?.ended ?? null;
      if (telling.length === 0) {
        if (ended !== null) blocked(ended);
        notApplicable('the life of an item gives no occasion for it');
      }
      const lifeOf = new Map(telling.flatMap((life) => (life[step] ? [[life[step], life] as const] : [])));
      await expect([...lifeOf.keys()]).toConform(wanted, (reply) => {
        const life = lifeOf.get(reply);
        return life === undefined ? null : got(reply, life);
      });
    },
  });

const unserved = ({ response: { status, statusClass } }: OperationReply): string | null =>
  statusClass === 2 ? null : `status ${status}`;

/** What of an item is not as it was written; null where all of it is. */
function loss(
  reply: OperationReply,
  written: Readonly<Record<string, unknown>>,
  { lifecycle }: Life,
): string | null {
  const item = itemOf(reply);
  return item === null ? unserved(reply) : lossIn(written, item, lifecycle);
}

/** The items of a list: itself, or the one list that it has. null where there is none, or it goes on elsewhere. */
function listedIn(reply: OperationReply): readonly unknown[] | null {
  const { value } = reply.response.json;
  const lists = Array.isArray(value)
    ? [value]
    : Object.values(typeof value === 'object' && value !== null ? value : {}).filter(Array.isArray);
  const [list, ...more] = lists;
  const goesOn = reply.response.links.some(({ relations }) => relations.includes('next'));
  return list === undefined || more.length > 0 || goesOn || list.length >= WHOLE ? null : list;
}

/** Items of a list that may be a page of a longer one. */
const WHOLE = 10;

function holds(list: readonly unknown[], id: string, { idMember }: Life['lifecycle']): boolean {
  return list.some(
    (item) => typeof item === 'object' && item !== null && String(Reflect.get(item, idMember)) === id,
  );
}

// RFC 9110 §9.3.3: 201 with a Location that identifies what was created.
const createdSays = lived({
  id: 'operations.created-says-where',
  title: 'says where a new item is',
  headline: 'The answer to a creation does not say where the item is: {got}',
  why: 'The client has created something that it can neither read nor remove.',
  change: 'Answer 201 with Location, and put the id of the new item into the body.',
  grounds: [rfc9110('9.3.3', 'SHOULD')],
  wanted: 'Location, or an id in the body',
  step: 'created',
  got: (reply, { lifecycle }) =>
    !reply.served ||
    reply.status === 202 ||
    reply.response.has('location') ||
    idOf(itemOf(reply), lifecycle) !== null
      ? null
      : `status ${reply.status} with neither`,
});

// RFC 9110 §10.2.2: the Location of a 201 is that of the primary resource created.
const createdPlace = lived({
  id: 'operations.created-place',
  title: 'has a new item where Location says',
  headline: 'There is nothing where the Location of a new item points: {got}',
  why: 'Clients follow Location to what they have created, and find nothing.',
  change: 'Build Location from the route of the item, with its id and every prefix in front of it.',
  grounds: [rfc9110('10.2.2', 'MUST')],
  wanted: 'the new item there',
  step: 'placed',
  got: unserved,
});

const readBack = lived({
  id: 'operations.read-back',
  title: 'gives back what was written',
  headline: 'A new item is not read as it was written: {got}',
  why: 'Data of the client is lost or changed, and nobody is told.',
  change: 'Store every documented member, or refuse the request with the name of what you do not store.',
  wanted: 'the item as it was written',
  step: 'read',
  after: ['created'],
  got: (reply, life) => loss(reply, life.written, life),
});

const uniqueIds = lived({
  id: 'operations.unique-ids',
  title: 'gives each new item an id of its own',
  headline: 'Two items have the same id: {got}',
  why: 'One item hides or overwrites the other.',
  change: 'Make the id yourself for each item, from a sequence or at random.',
  wanted: 'another id than that of the item before',
  step: 'twin',
  after: ['created', 'twin'],
  got(reply, { lifecycle, created }) {
    const [first, second] = [created && idOf(itemOf(created), lifecycle), idOf(itemOf(reply), lifecycle)];
    return first !== null && first === second ? `the same ${lifecycle.idMember}` : null;
  },
});

const itemAskedFor = lived({
  id: 'operations.item-asked-for',
  title: 'answers with the item that was asked for',
  headline: 'Another item comes than the one that was asked for: {got}',
  why: 'A client works with data that belongs to something, or to somebody, else.',
  change: 'Look the item up by the id in the path, and by all of it.',
  restsOn: [readBack, uniqueIds],
  wanted: 'the item with the id of the path',
  step: 'twinRead',
  after: ['twin'],
  got(reply, { lifecycle, twin }) {
    if (!reply.served || twin === undefined) return unserved(reply);
    const [asked, came] = [idOf(itemOf(twin), lifecycle), idOf(itemOf(reply), lifecycle)];
    return asked === null || came === asked ? null : `one with another ${lifecycle.idMember}`;
  },
});

const updateApplied = lived({
  id: 'operations.update-applied',
  title: 'changes what an update names',
  headline: 'An update that was accepted has no effect: {got}',
  why: 'The client believes that its change is stored.',
  change: 'Store the change before you answer, or refuse it.',
  restsOn: [readBack],
  wanted: 'the item with the change',
  step: 'updatedRead',
  after: ['updated'],
  got: (reply, life) => (life.updated?.status === 202 ? null : loss(reply, life.change, life)),
});

const replaceApplied = lived({
  id: 'operations.replace-applied',
  title: 'has the item after PUT as PUT had it',
  headline: 'An item is not read as it was put: {got}',
  why: 'The client believes that its data is stored.',
  change: 'Store the whole body of PUT before you answer.',
  restsOn: [readBack],
  wanted: 'the item as it was put',
  step: 'replacedRead',
  after: ['replaced'],
  got: (reply, life) => (life.replaced?.status === 202 ? null : loss(reply, life.replacement, life)),
});

const deleteApplied = lived({
  id: 'operations.delete-applied',
  title: 'no longer has an item that was deleted',
  headline: 'An item that was deleted is still there: {got}',
  why: 'Data that a client has deleted can still be read.',
  change: 'Answer 404 or 410 for what was deleted, or 202 to a deletion that is yet to happen.',
  wanted: 'status 404 or 410',
  step: 'gone',
  after: ['read', 'removed'],
  got: ({ response: { status } }, { removed }) =>
    removed?.status === 202 || status === 404 || status === 410 ? null : `status ${status}`,
});

// OpenAPI: what only the service sets is not sent; where it is, it is ignored or refused.
const idKept = lived({
  id: 'operations.id-kept',
  title: 'keeps the id of an item whatever the client sends',
  headline: 'A client can change the id of an item: {got}',
  why: 'Anyone who may change an item can hide it, or take the place of another.',
  change: 'Take the id from the path alone. Ignore it in the body, or refuse it with 400.',
  restsOn: [uniqueIds],
  wanted: 'the item under its id',
  step: 'renamedRead',
  after: ['twin', 'twinRead'],
  got(reply, { lifecycle, twin }) {
    const [asked, came] = [twin && idOf(itemOf(twin), lifecycle), idOf(itemOf(reply), lifecycle)];
    if (!reply.served) return `status ${reply.status}`;
    return !asked || came === null || came === asked ? null : `one with another ${lifecycle.idMember}`;
  },
});

const checks: readonly CheckDefinition[] = [
  createdSays,
  createdPlace,
  readBack,
  itemAskedFor,

  uniqueIds,

  // A list may be a page, or be behind: practice, and only of one that is whole.
  lived({
    id: 'operations.list-has-new',
    title: 'lists an item that was created',
    headline: 'The list lacks an item that was just created: {got}',
    why: 'A client that looks whether its item is there creates it again.',
    change: 'Read the list from where you write, or say how late it may be.',
    grounds: [practice('read your own writes')],
    restsOn: [readBack],
    wanted: 'the new item in the list',
    step: 'listed',
    after: ['created', 'read', 'listed'],
    got(reply, { lifecycle, created }) {
      const [list, id] = [listedIn(reply), created && idOf(itemOf(created), lifecycle)];
      return list === null || !id || holds(list, id, lifecycle) ? null : `${list.length} others`;
    },
  }),

  updateApplied,

  // RFC 5789 §2: a patch says how the resource is to be modified; what it does not name stays.
  lived({
    id: 'operations.update-keeps-rest',
    title: 'keeps what an update does not name',
    headline: 'An update changes what it did not name: {got}',
    why: 'Each small change deletes the rest of the item.',
    change: 'Merge what PATCH brings into what is stored. Only PUT replaces all of it.',
    wanted: 'all else as it was',
    restsOn: [readBack],
    step: 'updatedRead',
    after: ['read', 'updated'],
    got: (reply, life) => loss(reply, restOf(life), life),
  }),

  replaceApplied,

  // RFC 9110 §9.2.2: PUT is idempotent.
  lived({
    id: 'operations.replace-again',
    title: 'takes the same PUT a second time',
    headline: 'The same PUT, sent again, gets {answer}',
    why: 'Clients repeat a PUT when an answer was lost, and cannot tell whether it worked.',
    change: 'Treat a PUT that changes nothing like one that does.',
    grounds: [rfc9110('9.2.2', 'MUST')],
    wanted: 'a success like the first one',
    step: 'replacedAgain',
    after: ['replaced', 'replacedRead'],
    // 428: it has to say under which ETag, which the first one did.
    got: (reply) => ([412, 428].includes(reply.status ?? 0) ? null : unserved(reply)),
  }),

  // RFC 9110 §13.1.1: the method is not performed where If-Match does not hold.
  lived({
    id: 'operations.lost-update',
    title: 'refuses a change under an ETag that is out of date',
    headline: 'A change under an old ETag gets {answer}',
    why: 'Of two people who edit the same item, one overwrites the other without knowing.',
    change: 'Compare If-Match with the current ETag before you store, and answer 412 where it differs.',
    grounds: [rfc9110('13.1.1', 'MUST')],
    restsOn: [updateApplied, replaceApplied],
    wanted: 'status 412',
    step: 'stale',
    after: ['read', 'updated', 'updatedRead'],
    got: (reply) => (reply.served ? `status ${reply.status}` : null),
  }),

  lived({
    id: 'operations.current-etag',
    title: 'accepts a change under the current ETag',
    headline: 'A change under the current ETag gets {answer}',
    why: 'Clients that take care of each other can change nothing at all.',
    change: 'Compare If-Match with the same ETag that GET sends.',
    grounds: [rfc9110('13.1.1', 'MUST')],
    wanted: 'no 412',
    step: 'replaced',
    after: ['read'],
    got: (reply) => (reply.status === 412 ? 'status 412' : null),
  }),

  idKept,

  lived({
    id: 'operations.write-only',
    title: 'sends nothing back that is only written',
    headline: 'A member that is only to be written is sent back: {got}',
    why: 'Passwords and tokens are marked like this, and everyone who may read the item sees them.',
    change: 'Leave writeOnly members out of every response.',
    wanted: 'no writeOnly member',
    step: 'read',
    after: ['read'],
    got(reply, { lifecycle: { unreadable }, created }) {
      const told = [itemOf(reply), created ? itemOf(created) : null].flatMap((item) =>
        Object.keys(item ?? {}),
      );
      const leaked = unreadable.find((name) => told.includes(name));
      return leaked === undefined ? null : JSON.stringify(leaked);
    },
  }),

  deleteApplied,

  lived({
    id: 'operations.list-forgets',
    title: 'no longer lists an item that was deleted',
    headline: 'The list still has an item that was deleted: {got}',
    why: 'Clients show what is gone, and fail when they open it.',
    change: 'Remove the item from the list when you delete it.',
    grounds: [practice('read your own writes')],
    restsOn: [deleteApplied],
    wanted: 'a list without it',
    step: 'listedAfter',
    after: ['created', 'removed', 'listedAfter'],
    got(reply, { lifecycle, created, removed }) {
      const [list, id] = [listedIn(reply), created && idOf(itemOf(created), lifecycle)];
      const isThere = list !== null && id && removed?.status !== 202 && holds(list, id, lifecycle);
      return isThere ? `it among ${list.length}` : null;
    },
  }),

  // RFC 9110 §9.2.2: DELETE is idempotent in what it does; what it answers may differ.
  lived({
    id: 'operations.delete-again',
    title: 'does not fail over deleting an item twice',
    headline: 'Deleting an item a second time gets {answer}',
    why: 'Clients repeat a DELETE when an answer was lost.',
    change: 'Answer 404, 410 or 204 when there is nothing left to delete.',
    grounds: [clause('responses.status-codes')],
    restsOn: [deleteApplied],
    wanted: 'an answer that is no server error',
    step: 'removedAgain',
    after: ['removed'],
    got: ({ response: { status, statusClass } }) => (statusClass === 5 ? `status ${status}` : null),
  }),

  lived({
    id: 'operations.others-untouched',
    title: 'leaves other items alone when one is changed or deleted',
    headline: 'Another item suffers when one is changed or deleted: {got}',
    why: 'One client destroys the data of another.',
    change: 'Restrict every update and delete to the id of the path.',
    restsOn: [readBack, itemAskedFor, uniqueIds, idKept],
    wanted: 'the other item as it was',
    step: 'twinAfter',
    after: ['twin', 'twinRead', 'removed'],
    got: (reply, { lifecycle, twinRead }) => {
      const [before, now] = [twinRead && itemOf(twinRead), itemOf(reply)];
      if (now === null) return unserved(reply);
      return before ? lossIn(before, now, lifecycle) : null;
    },
  }),

  // RFC 9110 §15.3.5, §15.3.6.
  lived({
    id: 'operations.delete-no-content',
    title: 'sends no body with the 204 to a deletion',
    headline: 'The 204 to a deletion comes with {got}',
    why: 'Clients stop reading after the headers, and take the rest for the next response.',
    change: 'Send no body and no Content-Length with 204, and an empty body with 205.',
    grounds: [rfc9110('15.3.5', 'MUST'), rfc9110('15.3.6', 'MUST')],
    wanted: 'neither content nor its length',
    step: 'removed',
    after: ['removed'],
    got(reply) {
      if (reply.status === 205)
        return reply.response.bodyLength > 0 ? `${reply.response.bodyLength} bytes` : null;
      return reply.status === 204 ? (reply.framingFault('no-content') ?? reply.framingFault('lines')) : null;
    },
  }),

  // draft-ietf-httpapi-idempotency-key-header-07 §2.6.
  lived({
    id: 'operations.idempotency-key',
    title: 'creates one item for one Idempotency-Key',
    headline: 'The same Idempotency-Key creates a second item: {got}',
    why: 'A client that repeats a request because an answer was lost pays, or orders, twice.',
    change: 'Keep the answer to each Idempotency-Key, and send it again when the request comes again.',
    grounds: [practice('draft-ietf-httpapi-idempotency-key-header-07 §2.6')],
    restsOn: [uniqueIds],
    wanted: 'the item that was created before',
    step: 'keyedAgain',
    after: ['keyed'],
    got(reply, { lifecycle, keyed }) {
      // 409: the first request is still at work.
      if (reply.status === 409) return null;
      const [first, second] = [keyed && idOf(itemOf(keyed), lifecycle), idOf(itemOf(reply), lifecycle)];
      if (!reply.served) return `status ${reply.status}`;
      return !first || second === null || first === second ? null : `another ${lifecycle.idMember}`;
    },
  }),
  lived({
    id: 'operations.idempotency-key-reused',
    title: 'refuses an Idempotency-Key with other content',
    headline: 'An Idempotency-Key that was used for something else gets {answer}',
    why: 'The client gets the answer to another request, and believes that this one was carried out.',
    change: 'Compare the content with that of the first request, and answer 422 where it differs.',
    grounds: [practice('draft-ietf-httpapi-idempotency-key-header-07 §2.7')],
    wanted: 'a 4xx status',
    step: 'keyedOtherwise',
    after: ['keyed', 'keyedAgain'],
    got: ({ response: { status, statusClass } }) => (statusClass === 4 ? null : `status ${status}`),
  }),

  // endpoint.other-operations: each item operation, on an item that is there.
  check('operations.item-auth', {
    title: 'asks for a credential to read, change or delete an item',
    headline: 'An item can be used without a credential: {got}',
    why: 'Anyone can read, change or delete the data of everybody.',
    change: 'Ask for the credential on every method of every route.',
    grounds: [documented, practice('OWASP API2:2023')],
    repeats: [refusalClass, missingCredential],
    async judge({ probe, expect, notApplicable }) {
      const asked = (await probe(lives)).flatMap(({ anonymous }) => anonymous);
      if (asked.length === 0) notApplicable('no item was there, or no credential is demanded for it');
      await expect(asked).toConform('status 401, 403 or 404', ({ response: { status } }) =>
        [401, 403, 404].includes(status) ? null : `status ${status}`,
      );
    },
  }),
];

/** What was written and the update did not name. */
function restOf({ written, change }: Life): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(written).filter(([name]) => !(name in change)));
}

/** On items that the run creates for it and removes again. */
export const lifecycle: readonly CheckDefinition[] = given([unsafeMethods], checks);
