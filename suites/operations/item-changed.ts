import { type CheckDefinition, rfc9110 } from '../../harness/engine/check/suite.ts';
import { readBack, uniqueIds } from './item-created.ts';
import { lived, loss, unserved } from './lived.ts';
import { idIn } from './stimuli/item.ts';

const updateApplied = lived('operations.update-applied', 'updatedRead', {
  title: 'changes what an update names',
  headline: 'An update that was accepted has no effect: {got}',
  why: 'The client believes that its change is stored.',
  change: 'Store the change before you answer, or refuse it.',
  restsOn: [readBack],
  wanted: 'the item with the change',
  after: ['updated'],
  got: (reply, life) => (life.updated?.status === 202 ? null : loss(reply, life, 'change')),
});

const replaceApplied = lived('operations.replace-applied', 'replacedRead', {
  title: 'has the item after PUT as PUT had it',
  headline: 'An item is not read as it was put: {got}',
  why: 'The client believes that its data is stored.',
  change: 'Store the whole body of PUT before you answer.',
  restsOn: [readBack],
  wanted: 'the item as it was put',
  after: ['replaced'],
  got: (reply, life) => (life.replaced?.status === 202 ? null : loss(reply, life, 'replacement')),
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
  got(reply, { lifecycle, twin }) {
    const [asked, came] = [idIn(twin, lifecycle), idIn(reply, lifecycle)];
    if (!reply.served) return `status ${reply.status}`;
    return !asked || came === null || came === asked ? null : `one with another ${lifecycle.idMember}`;
  },
});

/** A change is applied, changes nothing else, and overwrites no other one. */
export const changed: readonly CheckDefinition[] = [
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
