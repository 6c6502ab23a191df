import { check, clause, type Ground } from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { itemOf, lossIn } from './stimuli/item.ts';
import { type Life, lives, type Step } from './stimuli/lifecycle.ts';
import type { OperationReply } from './stimuli/trials.ts';

/** What the config or its OpenAPI document says of the calls beyond the sample. */
export const documented = clause('endpoint.other-operations');

interface Lived extends RowNotes<'title' | 'headline' | 'restsOn' | 'repeats'> {
  readonly grounds?: readonly Ground[];
  /** Completes "expected …". */
  readonly wanted: string;
  /** The steps without which the judged one shows nothing. */
  readonly after?: readonly Step[];
  /** What came instead; null where it conforms, or shows nothing. */
  readonly got: (reply: OperationReply, life: Life) => string | null;
}

/** Judges a step in the life of items that the run has created itself. */
export const lived = (
  id: string,
  step: Step,
  { grounds = [documented], wanted, after = [], got, ...notes }: Lived,
) =>
  check(id, {
    ...notes,
    grounds,
    uses: [lives],
    async judge({ probe, expect, blocked }) {
      const all = await probe(lives);
      const telling = all.flatMap((life) => {
        const reply = life[step];
        return reply && after.every((each) => life[each]?.served) ? [{ reply, life }] : [];
      });
      const ended = all.find((life) => life.ended !== null)?.ended ?? null;
      if (telling.length === 0 && ended !== null) blocked(ended);
      await expect
        .each(telling, ({ reply }) => reply, 'the life of an item gives no occasion for it')
        .toConform(wanted, ({ reply, life }) => got(reply, life));
    },
  });

export const unserved = ({ response: { status, statusClass } }: OperationReply): string | null =>
  statusClass === 2 ? null : `status ${status}`;

/** What of an item is not as it was written; null where all of it is. */
export function loss(
  reply: OperationReply,
  life: Life,
  what: 'written' | 'change' | 'unchanged' | 'replacement',
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
