import {
  check,
  given,
  ownedByAccount,
  practice,
  rfc,
  rfc9110,
  secondKey,
} from '../../harness/engine/check/suite.ts';
import { secondKeyServed } from '../auth/bad-credentials.ts';
import { documented, lived, readBack, replaceApplied, uniqueIds, unserved, updateApplied } from './items.ts';
import { createdId, idsIn, idsOfCopies, itemOf } from './stimuli/item.ts';
import { type Life, lives, type Step } from './stimuli/lifecycle.ts';
import { listOf, wholeListOf } from './stimuli/list.ts';
import { type OperationReply, whyUndecided } from './stimuli/trials.ts';

/** Statuses that refuse a request for the state of the item, and not for its content. */
const OF_THE_STATE: ReadonlySet<number> = new Set([404, 409, 410, 412, 428, 429]);

const isRefused = ({ refused }: Life): boolean =>
  refused?.response.statusClass === 4 && !OF_THE_STATE.has(refused.status ?? 0);

/** What an item has of members that it should not have; null where it has none of them. */
function taken(reply: OperationReply, members: Life['written']): string | null {
  const item = itemOf(reply);
  if (item === null) return unserved(reply);
  const [name] = Object.entries(members).find(([each, value]) => isSame(item[each], value)) ?? [];
  return name === undefined ? null : `${JSON.stringify(name)} is ${JSON.stringify(item[name])}`;
}

/** The same value; the same instant may be written in another way. */
function isSame(read: unknown, sent: unknown): boolean {
  if (typeof read !== 'string' || typeof sent !== 'string') return read === sent;
  return read === sent || (/^\d{4}-\d\d-\d\dT/.test(sent) && Date.parse(read) === Date.parse(sent));
}

/** The value that an optional member had before it was removed. */
function former({ replaced, replacement, written }: Life, name: string | null): Life['written'] {
  const values = replaced?.served ? replacement : written;
  return name === null ? {} : { [name]: values[name] };
}

/** The writes of a life, and the answers that show the item after them. */
const WRITES: readonly (readonly [Step, Step])[] = [
  ['created', 'read'],
  ['updated', 'updatedRead'],
  ['replaced', 'replacedRead'],
];

interface Written {
  readonly reply: OperationReply;
  readonly read: OperationReply;
}

function writesIn(all: readonly Life[]): readonly Written[] {
  return all.flatMap((life) =>
    WRITES.flatMap(([write, reading]) => {
      const [reply, read] = [life[write], life[reading]];
      return reply?.served && reply.status !== 202 && read?.served ? [{ reply, read }] : [];
    }),
  );
}

const strongTag = ({ response: { entityTag } }: OperationReply): string | null =>
  entityTag?.startsWith('W/') ? null : entityTag;

/** Number of items of a list that have what the run has just written, and are neither old nor known to the run. */
function copiesIn(reply: OperationReply, life: Life): number {
  const { lifecycle, created, twin, written, change, listedBefore } = life;
  // Nothing tells it from what other requests of the run have created.
  if (Object.keys(change).length === 0) return 0;
  const [now, before] = [wholeListOf(reply), listedBefore && wholeListOf(listedBefore)];
  if (!now || !before) return 0;
  const known = [...idsIn(before, lifecycle), createdId(created, lifecycle), createdId(twin, lifecycle)];
  return idsOfCopies(now, written, lifecycle).filter((id) => !known.includes(id)).length;
}

/** What a write has to do to an item, and what it must leave alone. */
export const writing = [
  // Read before and after: what came in between, has what was written, and is none of the run's is a second copy.
  lived('operations.created-once', 'listed', {
    title: 'creates one item for one request',
    headline: 'One creation makes two items: {got}',
    why: 'Each order, payment or message of a client is carried out twice.',
    change: 'Look for what runs the handler twice: a retry in a proxy or a queue, or a second route.',
    grounds: [practice('one request, one item')],
    restsOn: [readBack, uniqueIds],
    wanted: 'each new item once in the list',
    after: ['created', 'read', 'listed'],
    unread: (reply) =>
      listOf(reply) === null ? (reply.response.unreadJson ?? 'it holds no one list') : null,
    got(reply, life) {
      const id = createdId(life.created, life.lifecycle);
      const same = idsIn(listOf(reply) ?? [], life.lifecycle).filter((each) => each === id).length;
      if (id !== null && same > 1) return `the same item ${same} times`;
      const copies = copiesIn(reply, life);
      return copies > 0 ? `${copies} more with the same content` : null;
    },
  }),

  // RFC 9110 §8.8 and §15.3.2: the validators in the answer to a write are those of the state after it.
  check('operations.written-etag', {
    title: 'sends with the answer to a write the ETag that the item then has',
    headline: 'The answer to a write has another ETag than the item: {got}',
    why: 'A client that goes on with that ETag is refused by If-Match, although nothing has changed.',
    change: 'Make the ETag from the stored item in every answer, or leave it out of answers to writes.',
    grounds: [rfc9110('8.8', 'MUST')],
    restsOn: [readBack],
    uses: [lives],
    async judge({ probe, expect }) {
      const tagged = writesIn(await probe(lives)).filter(
        ({ reply, read }) =>
          strongTag(reply) !== null && strongTag(read) !== null && reply.hasSameCodingAs(read),
      );
      await expect
        .each(tagged, ({ reply }) => reply, 'no answer to a write has a strong ETag')
        .toConform(
          'the ETag of the next GET',
          ({ reply, read }) =>
            strongTag(reply) === strongTag(read) ? null : `${strongTag(reply)}, then ${strongTag(read)}`,
          { partly: true, unread: (_, { reply }) => whyUndecided(reply) },
        );
    },
  }),

  // RFC 9110 §9.3.4: 201 where there was nothing, 200 or 204 where there was.
  lived('operations.replace-status', 'replaced', {
    title: 'says by 201 that PUT has created something only where it has',
    headline: 'PUT of an item that is there gets {answer}',
    why: 'Clients take the item for a new one.',
    change: 'Answer 200 or 204 where the item was there, and 201 where PUT has created it.',
    grounds: [rfc9110('9.3.4', 'MUST')],
    wanted: 'status 200 or 204',
    after: ['read'],
    got: ({ status }) => (status === 201 ? 'status 201' : null),
  }),

  // RFC 9110 §13.1.2: a condition that is false ends the request with 412.
  lived('operations.if-none-match', 'guarded', {
    title: 'refuses PUT with If-None-Match: * where there is an item',
    headline: 'PUT with If-None-Match: * on an item that is there gets {answer}',
    why: 'Of two clients that create the same item, one overwrites the other without knowing.',
    change: 'Answer 412 to If-None-Match: * where the item exists.',
    grounds: [rfc9110('13.1.2', 'MUST')],
    restsOn: [replaceApplied],
    wanted: 'status 412',
    after: ['read', 'replacedRead'],
    got: (reply) => (reply.served ? `status ${reply.status}` : null),
  }),

  // RFC 5789 §2: the server applies all of a patch or nothing of it. RFC 9110 §15.5: a 4xx says that it failed.
  lived('operations.refused-change', 'refusedRead', {
    title: 'changes nothing where it refuses a change',
    headline: 'A change that was refused has changed the item: {got}',
    why: 'The client corrects its request and sends it again, on data that is already half changed.',
    change: 'Check all of the request before you store any of it, or use a transaction.',
    grounds: [rfc(5789, '2', 'MUST')],
    wanted: 'the item as it was',
    after: ['read'],
    shows: isRefused,
    items: ['refusedRead'],
    got: (reply, { halfBroken }) => taken(reply, halfBroken?.sound ?? {}),
  }),

  // OpenAPI 3.0.4 §4.7.24 and JSON Schema Validation §9.4: what is readOnly is the service's to set.
  lived('operations.read-only-kept', 'stampedRead', {
    title: 'takes no value from a client for a member that is readOnly',
    headline: 'A client can set a member that is readOnly: {got}',
    why: 'Clients forge dates, owners and states that others rely on.',
    change: 'Leave readOnly members of a request out, or refuse it with 400.',
    grounds: [documented],
    wanted: 'the value of the service',
    after: ['read'],
    items: ['stampedRead'],
    got: (reply, { stamp }) => taken(reply, stamp),
  }),

  // RFC 9110 §9.3.4: the state is replaced with the one that is sent.
  lived('operations.replace-drops-rest', 'sparseRead', {
    title: 'no longer has after PUT what PUT leaves out',
    headline: 'PUT leaves what it does not name as it was: {got}',
    why: 'A client cannot remove anything, and what it has sent differs from what is stored.',
    change: 'Replace all of the item by PUT, or document that PUT merges, and offer PATCH for that.',
    grounds: [practice('RFC 9110 §9.3.4')],
    restsOn: [replaceApplied],
    wanted: 'the item without it',
    after: ['replaced', 'sparse'],
    shows: ({ sparse }) => sparse?.status !== 202,
    items: ['sparseRead'],
    got: (reply, life) => taken(reply, former(life, life.leftOut)),
  }),

  // RFC 7396 §2: null removes the member.
  lived('operations.merge-patch-null', 'nulledRead', {
    title: 'removes a member that a merge patch sets to null',
    headline: 'A merge patch with null does not remove the member: {got}',
    why: 'Clients cannot remove what they have once set.',
    change: 'Remove the members that are null in application/merge-patch+json.',
    grounds: [rfc(7396, '2', 'MUST')],
    restsOn: [readBack, updateApplied],
    wanted: 'the item without it, or with null',
    after: ['nulled'],
    shows: ({ nulled }) => nulled?.status !== 202,
    items: ['nulledRead'],
    got: (reply, life) => taken(reply, former(life, life.emptied)),
  }),

  ...given(
    [ownedByAccount, secondKey],
    [
      // draft-ietf-httpapi-idempotency-key-header-07 §5: keys are the client's, and clients cannot know those of others.
      lived('operations.idempotency-key-of-another', 'keyedByOther', {
        title: 'keeps the Idempotency-Keys of accounts apart',
        headline: 'An account gets the item of another one by its Idempotency-Key: {got}',
        why: 'One customer gets the answer to the request of another, with all that is in it.',
        change: 'Look an Idempotency-Key up together with the account.',
        grounds: [practice('OWASP API1:2023')],
        restsOn: [secondKeyServed, uniqueIds],
        wanted: 'an item of its own, or a refusal',
        after: ['keyed'],
        got(reply, { lifecycle, keyed }) {
          const [first, second] = [createdId(keyed, lifecycle), createdId(reply, lifecycle)];
          return first !== null && first === second ? `the same ${lifecycle.idMember}` : null;
        },
      }),
    ],
  ),
];
