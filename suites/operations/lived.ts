import { type CheckDefinition, check, clause, type Ground } from '../../harness/check/suite.ts';
import { itemOf, lossIn } from '../../harness/probe/operation/item.ts';
import { type Life, lives, type Step } from '../../harness/probe/operation/lifecycle.ts';
import { listOf } from '../../harness/probe/operation/pages.ts';
import type { OperationReply } from '../../harness/probe/operation/trials.ts';
import type { Row } from '../row.ts';

/** What the config or its OpenAPI document says of the calls beyond the sample. */
export const documented = clause('endpoint.other-operations');

interface Lived extends Row<'title' | 'headline' | 'restsOn' | 'repeats'> {
  readonly grounds?: readonly Ground[];
  /** Completes "expected …". */
  readonly wanted: string;
  /** The step that is judged, and those without which it shows nothing. */
  readonly step: Step;
  readonly after?: readonly Step[];
  /** What came instead; null where it conforms, or shows nothing. */
  readonly got: (reply: OperationReply, life: Life) => string | null;
}

/** Judges a step in the life of items that the run has created itself. */
export const lived = ({
  grounds = [documented],
  wanted,
  step,
  after = [],
  got,
  ...notes
}: Lived): CheckDefinition =>
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

export const unserved = ({ response: { status, statusClass } }: OperationReply): string | null =>
  statusClass === 2 ? null : `status ${status}`;

/** What of an item is not as it was written; null where all of it is. */
export function loss(
  reply: OperationReply,
  written: Readonly<Record<string, unknown>>,
  { lifecycle }: Life,
): string | null {
  const item = itemOf(reply);
  return item === null ? unserved(reply) : lossIn(written, item, lifecycle);
}

/** What is another in an item than it was read before; null where nothing is. */
export function changeIn(
  reply: OperationReply,
  before: OperationReply | undefined,
  { lifecycle }: Life,
): string | null {
  const known = before && itemOf(before);
  const now = itemOf(reply);
  if (now === null) return unserved(reply);
  return known ? lossIn(known, now, lifecycle) : null;
}

/** The items of a list: itself, or the one list that it has. null where there is none, or it goes on elsewhere. */
export function listedIn(reply: OperationReply): readonly unknown[] | null {
  const list = listOf(reply);
  const goesOn = reply.response.links.some(({ relations }) => relations.includes('next'));
  return list === null || goesOn || list.length >= WHOLE ? null : list;
}

/** Items of a list that may be a page of a longer one. */
const WHOLE = 10;

export function holds(list: readonly unknown[], id: string, { idMember }: Life['lifecycle']): boolean {
  return list.some(
    (item) => typeof item === 'object' && item !== null && String(Reflect.get(item, idMember)) === id,
  );
}
