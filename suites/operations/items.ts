import { check, clause, type Ground, numberOf, practice, rfc9110 } from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { createdId, hasComparable, idIn, idsIn, itemOf, lossIn, textLossIn } from './stimuli/item.ts';
import { type Life, lives, type Step, whyNotLived } from './stimuli/lifecycle.ts';
import { listOf, wholeListOf } from './stimuli/list.ts';
import { type OperationReply, whyUndecided } from './stimuli/trials.ts';

/** What the config or its OpenAPI document says of the calls beyond the sample. */
export const documented = clause('endpoint.other-operations');

/** Within the documented time, or a few seconds. */
export const readYourWrites = [clause('resources.consistency'), practice('read your own writes')];

interface Lived extends RowNotes<'title' | 'headline' | 'restsOn' | 'repeats'> {
  readonly grounds?: readonly Ground[];
  /** Completes "expected …". */
  readonly wanted: string;
  /** The steps without which the judged one shows nothing. */
  readonly after?: readonly Step[];
  /** Whether a life can show the fault. Default: each can. */
  readonly shows?: (life: Life) => boolean;
  /** The steps whose item is compared. */
  readonly items?: readonly Step[];
  /** Why the reply shows nothing although the service has answered; null if it does. */
  readonly unread?: (reply: OperationReply, life: Life) => string | null;
  /** What came instead; null where it conforms, or shows nothing. */
  readonly got: (reply: OperationReply, life: Life) => string | null;
}

/** Judges a step in the life of items that the run has created itself. */
export const lived = (
  id: string,
  step: Step,
  {
    grounds = [documented],
    wanted,
    after = [],
    shows = () => true,
    items = [],
    unread = () => null,
    got,
    ...notes
  }: Lived,
) =>
  check(id, {
    ...notes,
    grounds,
    uses: [lives],
    async judge({ probe, expect, blocked }) {
      const all = await probe(lives);
      const unlived: string[] = [];
      const telling = all.flatMap((life) => {
        const reply = life[step];
        if (reply && after.every((each) => life[each]?.served) && shows(life)) return [{ reply, life }];
        unlived.push(...[whyNotLived(life)].flatMap((reason) => reason ?? []));
        return [];
      });
      const [reason] = unlived;
      if (telling.length > 0 || reason === undefined)
        await expect
          .each(telling, ({ reply }) => reply, 'the life of an item gives no occasion for it')
          .toConform(wanted, ({ reply, life }) => reply.response && got(reply, life), {
            partly: true,
            unread: (_, { reply, life }) =>
              items.map((each) => whyNoItem(life[each])).find((why) => why !== null) ??
              unread(reply, life) ??
              whyUndecided(reply),
          });
      if (reason !== undefined) blocked(reason);
    },
  });

/** Why a reply that has to hold an item holds none that can be compared; null for an item, and for a refusal. */
function whyNoItem(reply: OperationReply | undefined): string | null {
  if (reply === undefined || !reply.served || itemOf(reply) !== null) return null;
  return reply.response.unreadJson ?? 'it holds no item';
}

/** Why a list does not show whether an item is on it; null if it does. */
export function whyNoList(reply: OperationReply): string | null {
  if (!reply.served || wholeListOf(reply) !== null) return null;
  const list = listOf(reply);
  if (list === null) return reply.response.unreadJson ?? 'it holds no one list of items';
  return `its list of ${numberOf(list.length, 'item')} may go on`;
}

export const unserved = ({ response: { status, statusClass } }: OperationReply): string | null =>
  statusClass === 2 ? null : `status ${status}`;

/** What of an item is not as it was written; null where all of it is. */
export function loss(
  reply: OperationReply,
  life: Life,
  what: 'written' | 'change' | 'unchanged' | 'replacement' | 'patch',
): string | null {
  const item = itemOf(reply);
  return item === null ? unserved(reply) : lossIn(life[what], item, life.lifecycle);
}

/** What is another in an item than it was read at that step; null where nothing is. */
export function changeSince(reply: OperationReply, life: Life, step: Step): string | null {
  const before = life[step];
  const known = before && itemOf(before);
  const now = itemOf(reply);
  if (now === null) return unserved(reply);
  return known ? lossIn(known, now, life.lifecycle) : null;
}

// RFC 9110 §9.3.3: 201 with a Location that identifies what was created.
const createdSays = lived('operations.created-says-where', 'created', {
  title: 'says where a new item is',
  headline: 'The answer to a creation does not say where the item is: {got}',
  why: 'The client has created something that it can neither read nor remove.',
  change: 'Answer 201 with Location, and put the id of the new item into the body.',
  grounds: [rfc9110('9.3.3', 'SHOULD')],
  wanted: 'Location, or an id in the body',
  got: (reply, { lifecycle }) =>
    !reply.served || reply.status === 202 || reply.response.has('location') || idIn(reply, lifecycle) !== null
      ? null
      : `status ${reply.status} with neither`,
});

// RFC 9110 §10.2.2: the Location of a 201 is that of the primary resource created.
const createdPlace = lived('operations.created-place', 'placed', {
  title: 'has a new item where Location says',
  headline: 'There is nothing where the Location of a new item points: {got}',
  why: 'Clients follow Location to what they have created, and find nothing.',
  change: 'Build Location from the route of the item, with its id and every prefix in front of it.',
  grounds: [rfc9110('10.2.2', 'MUST')],
  wanted: 'the new item there',
  got: unserved,
});

export const readBack = lived('operations.read-back', 'read', {
  title: 'gives back what was written',
  headline: 'A new item is not read as it was written: {got}',
  why: 'Data of the client is lost or changed, and nobody is told.',
  change: 'Store every documented member, or refuse the request with the name of what you do not store.',
  wanted: 'the item as it was written',
  after: ['created'],
  shows: ({ lifecycle, written }) => hasComparable(written, lifecycle),
  items: ['read'],
  got: (reply, life) => loss(reply, life, 'written'),
});

// RFC 8259 §8.1: text is Unicode; JSON Schema Validation §6.3.1: its length is that of its characters.
const textKept = lived('operations.text-kept', 'unusualRead', {
  title: 'gives long texts beyond ASCII back as they were written',
  headline: 'A text beyond ASCII is not read as it was written: {got}',
  why: 'Names and messages are cut off or become unreadable, and nothing reports it.',
  change:
    'Store text as UTF-8 in columns of the documented number of characters, or refuse what does not fit.',
  restsOn: [readBack],
  wanted: 'the texts as they were written',
  after: ['created', 'read', 'unusual'],
  shows: ({ lifecycle, unusualTexts, unusual }) =>
    unusual?.status !== 202 && hasComparable(unusualTexts, lifecycle),
  items: ['unusualRead'],
  got(reply, { unusualTexts, lifecycle }) {
    const item = itemOf(reply);
    return item === null ? unserved(reply) : textLossIn(unusualTexts, item, lifecycle);
  },
});

export const uniqueIds = lived('operations.unique-ids', 'twin', {
  title: 'gives each new item an id of its own',
  headline: 'Two items have the same id: {got}',
  why: 'One item hides or overwrites the other.',
  change: 'Make the id yourself for each item, from a sequence or at random.',
  wanted: 'another id than that of the item before',
  after: ['created', 'twin'],
  unread: (reply, { lifecycle }) =>
    createdId(reply, lifecycle) === null ? (reply.response.unreadJson ?? 'it names no item') : null,
  got(reply, { lifecycle, created }) {
    const [first, second] = [createdId(created, lifecycle), createdId(reply, lifecycle)];
    return first !== null && first === second ? `the same ${lifecycle.idMember}` : null;
  },
});

export const itemAskedFor = lived('operations.item-asked-for', 'twinRead', {
  title: 'answers with the item that was asked for',
  headline: 'Another item comes than the one that was asked for: {got}',
  why: 'A client works with data that belongs to something, or to somebody, else.',
  change: 'Look the item up by the id in the path, and by all of it.',
  restsOn: [readBack, uniqueIds],
  wanted: 'the item with the id of the path',
  after: ['twin'],
  items: ['twinRead'],
  got(reply, { lifecycle, twin }) {
    if (!reply.served || twin === undefined) return unserved(reply);
    const [asked, came] = [createdId(twin, lifecycle), idIn(reply, lifecycle)];
    return asked === null || came === asked ? null : `one with another ${lifecycle.idMember}`;
  },
});

/** What is created is there, once, and can be found. */
export const created = [
  createdSays,
  createdPlace,
  readBack,
  textKept,
  itemAskedFor,

  uniqueIds,

  // A list may be a page, or be behind: practice, and only of one that is whole.
  lived('operations.list-has-new', 'listed', {
    title: 'lists an item that was created',
    headline: 'The list lacks an item that was just created: {got}',
    why: 'A client that looks whether its item is there creates it again.',
    change: 'Read the list from where you write, or say how late it may be (`resources.consistency`).',
    grounds: readYourWrites,
    restsOn: [readBack],
    wanted: 'the new item in the list',
    after: ['created', 'read', 'listed'],
    unread: (reply, { lifecycle, created }) =>
      idsIn(listOf(reply) ?? [], lifecycle).includes(createdId(created, lifecycle)) ? null : whyNoList(reply),
    got(reply, { lifecycle, created }) {
      const list = wholeListOf(reply);
      if (list === null) return null;
      return idsIn(list, lifecycle).includes(createdId(created, lifecycle))
        ? null
        : numberOf(list.length, 'other');
    },
  }),
];

export const updateApplied = lived('operations.update-applied', 'updatedRead', {
  title: 'changes what an update names',
  headline: 'An update that was accepted has no effect: {got}',
  why: 'The client believes that its change is stored.',
  change: 'Store the change before you answer, or refuse it.',
  restsOn: [readBack],
  wanted: 'the item with the change',
  after: ['updated'],
  shows: ({ lifecycle, change, updated }) => updated?.status !== 202 && hasComparable(change, lifecycle),
  items: ['updatedRead'],
  got: (reply, life) => loss(reply, life, 'change'),
});

export const replaceApplied = lived('operations.replace-applied', 'replacedRead', {
  title: 'has the item after PUT as PUT had it',
  headline: 'An item is not read as it was put: {got}',
  why: 'The client believes that its data is stored.',
  change: 'Store the whole body of PUT before you answer.',
  restsOn: [readBack],
  wanted: 'the item as it was put',
  after: ['replaced'],
  shows: ({ lifecycle, replacement, replaced }) =>
    replaced?.status !== 202 && hasComparable(replacement, lifecycle),
  items: ['replacedRead'],
  got: (reply, life) => loss(reply, life, 'replacement'),
});

// OpenAPI: what only the service sets is not sent; where it is, it is ignored or refused.
export const idKept = lived('operations.id-kept', 'renamedRead', {
  title: 'keeps the id of an item whatever the client sends',
  headline: 'A client can change the id of an item: {got}',
  why: 'Anyone who may change an item can hide it, or take the place of another.',
  change: 'Take the id from the path alone. Ignore it in the body, or refuse it with 400.',
  restsOn: [uniqueIds],
  wanted: 'the item under its id',
  after: ['twin', 'twinRead'],
  items: ['renamedRead'],
  got(reply, { lifecycle, twin }) {
    const [asked, came] = [createdId(twin, lifecycle), idIn(reply, lifecycle)];
    if (!reply.served) return `status ${reply.status}`;
    return !asked || came === null || came === asked ? null : `one with another ${lifecycle.idMember}`;
  },
});

/** A change is applied, changes nothing else, and overwrites no other one. */
export const changed = [
  updateApplied,

  // RFC 5789 §2: a patch says how the resource is to be modified; what it does not name stays.
  lived('operations.update-keeps-rest', 'updatedRead', {
    title: 'keeps what an update does not name',
    headline: 'An update changes what it did not name: {got}',
    why: 'Each small change deletes the rest of the item.',
    change: 'Merge what PATCH brings into what is stored. Only PUT replaces all of it.',
    wanted: 'all else as it was',
    restsOn: [readBack],
    after: ['read', 'updated'],
    shows: ({ lifecycle, unchanged }) => hasComparable(unchanged, lifecycle),
    items: ['updatedRead'],
    got: (reply, life) => loss(reply, life, 'unchanged'),
  }),

  replaceApplied,

  // RFC 9110 §9.2.2: PUT is idempotent.
  lived('operations.replace-again', 'replacedAgain', {
    title: 'takes the same PUT a second time',
    headline: 'The same PUT, sent again, gets {answer}',
    why: 'Clients repeat a PUT when an answer was lost, and cannot tell whether it worked.',
    change: 'Treat a PUT that changes nothing like one that does.',
    grounds: [rfc9110('9.2.2', 'MUST')],
    wanted: 'a success like the first one',
    after: ['replaced', 'replacedRead'],
    // 428: it has to say under which ETag, which the first one did.
    got: (reply) => ([412, 428].includes(reply.status ?? 0) ? null : unserved(reply)),
  }),

  // RFC 9110 §13.1.1: the method is not performed where If-Match does not hold.
  lived('operations.lost-update', 'stale', {
    title: 'refuses a change under an ETag that is out of date',
    headline: 'A change under an old ETag gets {answer}',
    why: 'Of two people who edit the same item, one overwrites the other without knowing.',
    change: 'Compare If-Match with the current ETag before you store, and answer 412 where it differs.',
    grounds: [rfc9110('13.1.1', 'MUST')],
    restsOn: [updateApplied, replaceApplied],
    wanted: 'status 412',
    after: ['read', 'updated', 'updatedRead'],
    got: (reply) => (reply.served ? `status ${reply.status}` : null),
  }),

  lived('operations.current-etag', 'replaced', {
    title: 'accepts a change under the current ETag',
    headline: 'A change under the current ETag gets {answer}',
    why: 'Clients that take care of each other can change nothing at all.',
    change: 'Compare If-Match with the same ETag that GET sends.',
    grounds: [rfc9110('13.1.1', 'MUST')],
    wanted: 'no 412',
    after: ['read'],
    got: (reply) => (reply.status === 412 ? 'status 412' : null),
  }),

  idKept,
];
