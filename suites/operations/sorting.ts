import { check, practice } from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { documented } from './items.ts';
import { disjoint } from './pages.ts';
import {
  disorderIn,
  type SortedPage,
  showsOrder,
  sortedPages,
  textOf,
  whyUnsorted,
} from './stimuli/sorted-pages.ts';

/** A value as it came, cut to a few characters. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}

function disorderOf(sorted: SortedPage): string | null {
  const [before, after] = disorderIn(sorted) ?? [];
  const { order } = sorted;
  return before === undefined
    ? null
    : `${order.member} ${shown(before)} before ${shown(after)} under ${textOf(order)}`;
}

const lastOf = ({ pages }: SortedPage) => pages.at(-1) ?? pages[0];

/** A cursor may stand for the order, and be refused together with it. */
const isLeftToCursor = ({ pages: [first, second] }: SortedPage): boolean =>
  first.served && second?.response.statusClass === 4;

/** Judges lists that were asked for in an order, over this number of pages. */
const sorted = (id: string, pages: 1 | 2, notes: RowNotes<'title' | 'headline' | 'restsOn'>) =>
  check(id, {
    ...notes,
    grounds: [documented, practice('lists in pages')],
    uses: [sortedPages],
    async judge({ probe, expect, blocked }) {
      const { all, shortfall } = await probe(sortedPages);
      const asked = all.filter((each) => each.isInPages === (pages === 2) && !isLeftToCursor(each));
      const telling = asked.filter((each) => whyUnsorted(each) !== null || showsOrder(each));
      const [silent] = asked;
      if (silent !== undefined && telling.length === 0)
        blocked(
          `${lastOf(silent).to} shows no order: it has no two items whose ${silent.order.member} can be compared`,
        );
      if (telling.length > 0 || shortfall === null)
        await expect
          .each(
            telling,
            lastOf,
            'no list is documented with the orders of a member whose values can be compared',
          )
          .toConform('the order that was asked for', disorderOf, {
            partly: true,
            unread: (_, each) => whyUnsorted(each),
          });
      if (shortfall !== null) blocked(shortfall.reason);
    },
  });

// Of values that every collation orders alike. Equal ones may come in any order.
const sortApplied = sorted('operations.sort-applied', 1, {
  title: 'sorts a list as it was asked to',
  headline: 'A list is not in the order that was asked for: {got}',
  why: 'A client that takes the first item for the newest, or the cheapest, takes a wrong one.',
  change: 'Apply the parameter to the query, with its direction, or refuse it with 400.',
});

/** Lists in the orders that their document names. */
export const sorting = [
  sortApplied,
  sorted('operations.sort-over-pages', 2, {
    title: 'keeps the order of a list over its pages',
    headline: 'The next page does not go on in the order that was asked for: {got}',
    why: 'A client that reads until the values are too small stops too early, and misses the rest.',
    change: 'Sort before you cut the list into pages, and put the order into the link or the cursor.',
    restsOn: [sortApplied, disjoint],
  }),
];
