import {
  check,
  clause,
  credentialDemanded,
  given,
  observation,
  practice,
  rfc9110,
  unsafeMethods,
} from '../../harness/engine/check/suite.ts';
import { missingCredential, refusalClass } from '../auth/bad-credentials.ts';
import {
  changed,
  changeSince,
  created,
  documented,
  idKept,
  itemAskedFor,
  lived,
  readBack,
  readYourWrites,
  uniqueIds,
  whyNoList,
} from './items.ts';
import { jsonPatches } from './json-patch.ts';
import { repeating } from './repeating.ts';
import { createdId, idsIn, itemOf } from './stimuli/item.ts';
import { lives, whyNotLived } from './stimuli/lifecycle.ts';
import { listOf } from './stimuli/list.ts';
import { writing } from './writing.ts';

const deleteApplied = lived('operations.delete-applied', 'gone', {
  title: 'no longer has an item that was deleted',
  headline: 'An item that was deleted is still there: {got}',
  why: 'Data that a client has deleted can still be read.',
  change: 'Answer 404 or 410 for what was deleted, or 202 to a deletion that is yet to happen.',
  wanted: 'status 404 or 410',
  after: ['read', 'removed'],
  shows: ({ removed }) => removed?.status !== 202,
  got: ({ response: { status } }) => (status === 404 || status === 410 ? null : `status ${status}`),
});

export const othersUntouched = lived('operations.others-untouched', 'twinAfter', {
  title: 'leaves other items alone when one is changed or deleted',
  headline: 'Another item suffers when one is changed or deleted: {got}',
  why: 'One client destroys the data of another.',
  change: 'Restrict every update and delete to the id of the path.',
  restsOn: [readBack, itemAskedFor, uniqueIds, idKept],
  wanted: 'the other item as it was',
  after: ['twin', 'twinRead', 'removed'],
  items: ['twinRead', 'twinAfter'],
  got: (reply, life) => changeSince(reply, life, 'twinRead'),
});

const checks = [
  ...created,
  ...changed,
  ...writing,
  ...jsonPatches,

  lived('operations.write-only', 'read', {
    title: 'sends nothing back that is only written',
    headline: 'A member that is only to be written is sent back: {got}',
    why: 'Passwords and tokens are marked like this, and everyone who may read the item sees them.',
    change: 'Leave writeOnly members out of every response.',
    wanted: 'no writeOnly member',
    after: ['read'],
    shows: ({ lifecycle }) => lifecycle.unreadable.length > 0,
    items: ['read'],
    got(reply, { lifecycle: { unreadable }, created }) {
      const told = [itemOf(reply), created ? itemOf(created) : null].flatMap((item) =>
        Object.keys(item ?? {}),
      );
      const leaked = unreadable.find((name) => told.includes(name));
      return leaked === undefined ? null : JSON.stringify(leaked);
    },
  }),

  deleteApplied,

  lived('operations.list-forgets', 'listedAfter', {
    title: 'no longer lists an item that was deleted',
    headline: 'The list still has an item that was deleted: {got}',
    why: 'Clients show what is gone, and fail when they open it.',
    change: 'Remove the item from the list when you delete it.',
    grounds: readYourWrites,
    restsOn: [deleteApplied],
    wanted: 'a list without it',
    after: ['created', 'removed', 'listedAfter'],
    shows: ({ removed }) => removed?.status !== 202,
    // Whatever else is on the list, or on further pages.
    unread: (reply, { lifecycle, created }) =>
      idsIn(listOf(reply) ?? [], lifecycle).includes(createdId(created, lifecycle)) ? null : whyNoList(reply),
    got(reply, { lifecycle, created }) {
      const list = listOf(reply) ?? [];
      return idsIn(list, lifecycle).includes(createdId(created, lifecycle))
        ? `it among ${list.length}`
        : null;
    },
  }),

  // RFC 9110 §9.2.2: DELETE is idempotent in what it does; what it answers may differ.
  lived('operations.delete-again', 'removedAgain', {
    title: 'does not fail over deleting an item twice',
    headline: 'Deleting an item a second time gets {answer}',
    why: 'Clients repeat a DELETE when an answer was lost.',
    change: 'Answer 404, 410 or 204 when there is nothing left to delete.',
    grounds: [clause('responses.status-codes')],
    restsOn: [deleteApplied],
    wanted: 'an answer that is no server error',
    after: ['removed'],
    got: ({ response: { status, statusClass } }) => (statusClass === 5 ? `status ${status}` : null),
  }),

  othersUntouched,

  // RFC 9110 §15.3.5, §15.3.6.
  lived('operations.delete-no-content', 'removed', {
    title: 'sends no body with the 204 to a deletion',
    headline: 'The 204 to a deletion comes with {got}',
    why: 'Clients stop reading after the headers, and take the rest for the next response.',
    change: 'Send no body and no Content-Length with 204, and an empty body with 205.',
    grounds: [rfc9110('15.3.5', 'MUST'), rfc9110('15.3.6', 'MUST')],
    wanted: 'neither content nor its length',
    after: ['removed'],
    got(reply) {
      if (reply.status === 205)
        return reply.response.bodyLength > 0 ? `${reply.response.bodyLength} bytes` : null;
      return reply.status === 204 ? (reply.framingFault('no-content') ?? reply.framingFault('lines')) : null;
    },
  }),

  ...repeating,

  // endpoint.other-operations: each item operation, on an item that is there.
  check('operations.item-auth', {
    title: 'asks for a credential to read, change or delete an item',
    headline: 'An item can be used without a credential: {got}',
    why: 'Anyone can read, change or delete the data of everybody.',
    change: 'Ask for the credential on every method of every route.',
    grounds: [documented, practice('OWASP API2:2023')],
    applies: [credentialDemanded],
    repeats: [refusalClass, missingCredential],
    uses: [lives],
    async judge({ probe, expect, blocked, notApplicable }) {
      const all = await probe(lives);
      const asked = all.flatMap(({ anonymous }) => anonymous);
      const unlived =
        all
          .filter(({ anonymous }) => anonymous.length === 0)
          .map(whyNotLived)
          .find((reason) => reason !== null) ?? null;
      if (asked.length > 0)
        await expect(asked).toConform('status 401, 403 or 404', ({ response: { status } }) =>
          [401, 403, 404].includes(status) ? null : `status ${status}`,
        );
      if (unlived !== null) blocked(unlived);
      if (asked.length === 0) notApplicable('no item was there, or no credential is demanded for it');
    },
  }),
];

/** How soon what was written can be read. */
const writeDelay = observation('operations.write-delay', {
  title: 'shows what was written at once, or later',
  why: 'A client that reads at once what it has written gets what was there before.',
  grounds: [clause('resources.consistency')],
  records: 'operations.write-delay',
  uses: [lives],
  async observe({ probe, notApplicable }) {
    const all = (await probe(lives)).filter(({ read }) => read?.served);
    if (all.length === 0) notApplicable('no item of the run was read');
    const late = [...new Set(all.flatMap((life) => life.late))];
    return late.length === 0
      ? { seen: 'at once', note: 'Each write shows at once.' }
      : { seen: 'later', note: `Later than at once: ${late.join(', ')}.` };
  },
});

/** On items that the run creates for it and removes again. */
export const lifecycle = given([unsafeMethods], [...checks, writeDelay]);
