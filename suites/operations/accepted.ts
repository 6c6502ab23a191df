import { check, practice, rfc9110 } from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { type AcceptedWork, acceptedWork, idsOfWork, workState } from './stimuli/accepted.ts';
import { type CancelledWork, cancelledWork, cancelState } from './stimuli/cancelled.ts';
import { type OperationReply, whyUndecided } from './stimuli/trials.ts';

interface Followed extends RowNotes<'title' | 'headline' | 'grounds' | 'restsOn'> {
  readonly wanted: string;
  /** The judged answer; null where the work gives no occasion for it. */
  readonly judged: (work: AcceptedWork) => OperationReply | null;
  readonly got: (reply: OperationReply, work: AcceptedWork) => string | null;
}

/** Judges work that was accepted with 202, where the answer says where its status is. */
const followed = (id: string, { wanted, judged, got, ...notes }: Followed) =>
  check(id, {
    ...notes,
    uses: [acceptedWork],
    async judge({ probe, expect }) {
      const told = (await probe(acceptedWork)).flatMap((work) => {
        const reply = judged(work) ?? unreadIn(work);
        return reply === null ? [] : [{ reply, work }];
      });
      await expect
        .each(told, ({ reply }) => reply, 'no work that is accepted with 202 gives an occasion for it')
        .toConform(wanted, ({ reply, work }) => got(reply, work), {
          partly: true,
          unread: (_, { reply, work }) =>
            unreadIn(work)?.response.unreadJson ??
            (reply.response.redirect === null ? whyUndecided(reply) : null),
        });
    },
  });

/** An answer about the work whose JSON cannot be read: what it would have said is unknown. */
const unreadIn = ({ accepted, polls, again }: AcceptedWork): OperationReply | null =>
  [accepted, ...polls, ...(again ? [again] : [])].find(
    ({ served, response }) => served && response.isJson && response.unreadJson !== null,
  ) ?? null;

const missing = ({ status, response: { statusClass } }: OperationReply): string | null =>
  status === 404 || status === 410 || statusClass === 5 ? `status ${status}` : null;

// RFC 9110 §15.3.3: the answer ought to point to a status monitor.
const place = followed('operations.accepted-place', {
  title: 'has a status where the answer to accepted work points',
  headline: 'The status of accepted work gets {answer}',
  why: 'The client never learns whether its request was carried out.',
  change: 'Create the status before you answer 202, and keep it until the client has read the end.',
  grounds: [rfc9110('15.3.3', 'SHOULD')],
  wanted: 'the status of the work',
  judged: ({ polls: [first] }) => first ?? null,
  got: (reply, { isOfStatus }) => (isOfStatus || reply.response.statusClass === 5 ? missing(reply) : null),
});

const own = followed('operations.accepted-own', {
  title: 'shows the status of the very work that was accepted',
  headline: 'The status of accepted work is that of another one: {got}',
  why: 'The client takes the result of another request for its own.',
  change: 'Look the status up by the id that the answer with 202 has given.',
  grounds: [practice('one request, one status')],
  restsOn: [place],
  wanted: 'the id of the answer with 202',
  judged: (work) => (idsOfWork(work) === null ? null : (work.polls.at(-1) ?? null)),
  got(_, work) {
    const [first, second] = idsOfWork(work) ?? [];
    return first === second ? null : 'another id';
  },
});

/** Its state was gone and came back; or 204 said that it is gone, and it went on to its end (RFC 9110 §9.3.5). */
function goesOn({ cancel, polls }: CancelledWork): string | null {
  const states = polls.map(cancelState);
  const gone = states.indexOf('gone');
  const back = states.slice(gone + 1).find((state) => state === 'running' || state === 'done');
  if (gone >= 0) return back === undefined ? null : `work that ${back === 'done' ? 'is done' : 'runs'} later`;
  const hasRun = states[0] === 'running' && states.includes('done');
  return cancel.status === 204 && hasRun ? 'work that runs on until it is done' : null;
}

const cancelled = check('operations.accepted-cancelled', {
  title: 'leaves work cancelled that was cancelled',
  headline: 'Work that was cancelled goes on: {got}',
  why: 'The client believes that nothing more happens, and pays for or repeats work that is done.',
  change: 'Stop the work before you answer 204, or answer 202 while it may go on, and 409 if it is too late.',
  grounds: [practice('an end is an end')],
  restsOn: [place, own],
  uses: [acceptedWork, cancelledWork],
  async judge({ probe, expect, blocked }) {
    const unread = (await probe(acceptedWork)).map(unreadIn).find((reply) => reply !== null);
    const all = (await probe(cancelledWork)).flatMap((work) => {
      const last = work.polls.at(-1);
      return work.cancel.served && last ? [{ work, last }] : [];
    });
    if (all.length > 0 || unread === undefined)
      await expect
        .each(all, ({ last }) => last, 'no accepted work was cancelled as its document says')
        .toConform('work that stays cancelled', ({ work }) => goesOn(work), {
          partly: true,
          unread: (_, { work: { polls } }) =>
            polls
              .map((reply) => (reply.served ? reply.response.unreadJson : null) ?? whyUndecided(reply))
              .find((reason) => reason !== null) ?? null,
        });
    if (unread) blocked(unread.response.unreadJson ?? 'the status of accepted work is not read');
  },
});

/** Work that goes on after the response (RFC 9110 §15.3.3). */
export const accepted = [
  place,
  own,

  followed('operations.accepted-ended', {
    title: 'leaves work ended that has ended',
    headline: 'Work that has ended goes on: {got}',
    why: 'Clients that stop at the end and clients that ask again see two different outcomes.',
    change: 'Let no state follow after done, failed or cancelled.',
    grounds: [practice('an end is an end')],
    restsOn: [place, own],
    wanted: 'the same end',
    judged: ({ again }) => again,
    got(reply) {
      // It may be removed once its end was read.
      if (reply.response.statusClass === 5) return `status ${reply.status}`;
      return workState(reply) === 'running' ? 'work that runs' : null;
    },
  }),

  followed('operations.accepted-result', {
    title: 'has the result to which the status of finished work points',
    headline: 'The result of finished work gets {answer}',
    why: 'The work is done, and the client cannot get at what it has asked for.',
    change: 'Say that work is done only when its result can be read, and link to that.',
    grounds: [practice('links lead somewhere')],
    restsOn: [place, own],
    wanted: 'the result',
    judged: ({ result }) => result,
    got: missing,
  }),

  cancelled,
];
