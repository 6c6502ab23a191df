import { clients, practice } from '../../harness/engine/check/suite.ts';
import { lived, uniqueIds } from './items.ts';
import { createdId } from './stimuli/item.ts';

// draft-ietf-httpapi-idempotency-key-header-07 §2.6.
const oneForKey = lived('operations.idempotency-key', 'keyedAgain', {
  title: 'creates one item for one Idempotency-Key',
  headline: 'The same Idempotency-Key creates a second item: {got}',
  why: 'A client that repeats a request because an answer was lost pays, or orders, twice.',
  change: 'Keep the answer to each Idempotency-Key, and send it again when the request comes again.',
  grounds: [
    clients('SDKs repeat a request whose answer was lost under the same Idempotency-Key'),
    practice('draft-ietf-httpapi-idempotency-key-header-07 §2.6'),
  ],
  restsOn: [uniqueIds],
  wanted: 'the item that was created before',
  after: ['keyed'],
  // 409: the first request is still at work.
  shows: ({ keyedAgain }) => keyedAgain?.status !== 409,
  unread: (reply, { lifecycle, keyed }) =>
    [keyed, reply].some((each) => createdId(each, lifecycle) === null)
      ? (reply.response.unreadJson ?? 'it names no item')
      : null,
  got(reply, { lifecycle, keyed }) {
    const [first, second] = [createdId(keyed, lifecycle), createdId(reply, lifecycle)];
    if (!reply.served) return `status ${reply.status}`;
    return first === null || second === null || first === second ? null : `another ${lifecycle.idMember}`;
  },
});

/** Requests that come again under their Idempotency-Key. */
export const repeating = [
  oneForKey,

  lived('operations.idempotency-key-reused', 'keyedOtherwise', {
    title: 'refuses an Idempotency-Key with other content',
    headline: 'An Idempotency-Key that was used for something else gets {answer}',
    why: 'The client gets the answer to another request, and believes that this one was carried out.',
    change: 'Compare the content with that of the first request, and answer 422 where it differs.',
    grounds: [practice('draft-ietf-httpapi-idempotency-key-header-07 §2.7')],
    wanted: 'a 4xx status',
    after: ['keyed', 'keyedAgain'],
    got: ({ response: { status, statusClass } }) => (statusClass === 4 ? null : `status ${status}`),
  }),

  // draft-ietf-httpapi-idempotency-key-header-07 §2.6: 409 for one whose first request is still at work.
  lived('operations.idempotency-key-at-once', 'keyedBeside', {
    title: 'creates one item for two requests at once under one Idempotency-Key',
    headline: 'Two requests at once under one Idempotency-Key get {got}',
    why: 'A client that repeats a request before its answer has come pays, or orders, twice.',
    change:
      'Store the key before you carry the request out, in a column that is unique. Answer 409 while it is at work.',
    grounds: [
      clients('SDKs repeat a request whose answer was lost under the same Idempotency-Key'),
      practice('draft-ietf-httpapi-idempotency-key-header-07 §2.6'),
    ],
    restsOn: [oneForKey, uniqueIds],
    wanted: 'one item, and the same one again or a refusal',
    unread: (reply, { lifecycle, keyedAtOnce }) =>
      [keyedAtOnce, reply].some((each) => each?.served && createdId(each, lifecycle) === null)
        ? (reply.response.unreadJson ?? 'it names no item')
        : null,
    got(reply, { lifecycle, keyedAtOnce }) {
      const failed = [keyedAtOnce, reply].find((each) => each?.response.statusClass === 5);
      if (failed) return `status ${failed.status}`;
      const [first, second] = [createdId(keyedAtOnce, lifecycle), createdId(reply, lifecycle)];
      return first === null || second === null || first === second ? null : 'two items';
    },
  }),

  // draft-ietf-httpapi-idempotency-key-header-07 §2.6: the outcome again, success or error.
  lived('operations.idempotency-key-after-failure', 'keyedFailedAgain', {
    title: 'refuses again what it has refused under an Idempotency-Key',
    headline: 'A request that was refused, sent again under its Idempotency-Key, gets {answer}',
    why: 'A client that repeats it takes it for carried out, or waits for what never ends.',
    change: 'Store the refusal with the key, or release the key when you refuse the request.',
    grounds: [practice('draft-ietf-httpapi-idempotency-key-header-07 §2.6')],
    restsOn: [oneForKey],
    wanted: 'a refusal like the first one',
    // Some answer 409 to any key that comes again.
    shows: ({ keyed, keyedAgain, keyedFailed }) =>
      keyed?.served === true &&
      keyedAgain?.status !== 409 &&
      keyedFailed?.status !== 409 &&
      keyedFailed?.response.statusClass === 4,
    got: ({ response: { status, statusClass } }) =>
      statusClass === 4 && status !== 409 ? null : `status ${status}`,
  }),
];
