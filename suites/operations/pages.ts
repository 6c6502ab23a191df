import { check, clients, practice } from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { documented } from './items.ts';
import { filtered, filteredPages, kindsIn } from './stimuli/filtered-pages.ts';
import {
  countOf,
  hitlessSearches,
  isWhole,
  itemsOf,
  nextOf,
  numbersIn,
  type Pages,
  pages,
  totalOf,
  unknownCursors,
  whyUnread,
  whyUnturned,
} from './stimuli/pages.ts';
import type { OperationReply } from './stimuli/trials.ts';

interface Turned extends RowNotes<'title' | 'headline' | 'restsOn'> {
  /** Completes "expected …". */
  readonly wanted: string;
  /** What came instead; null where it conforms, or shows nothing. */
  readonly got: (items: NonNullable<Pages['items']>) => string | null;
}

/** Judges pages of the same list; where others change it meanwhile, nothing can be told. */
const turned = (id: string, judged: 'first' | 'behind', { wanted, got, ...notes }: Turned) =>
  check(id, {
    ...notes,
    grounds: [documented, practice('lists in pages')],
    uses: [pages],
    async judge({ probe, expect }) {
      const told = (await probe(pages)).flatMap((turned) => {
        const { first, behind } = turned;
        const reply = judged === 'first' ? first : (behind[0] ?? first);
        const items = judged === 'first' || behind.length > 0 ? turned.items : null;
        const unread = items === null ? whyUnturned(turned) : null;
        return items || unread ? [{ reply, items, unread }] : [];
      });
      await expect
        .each(told, ({ reply }) => reply, 'no list that was turned over has one list of items')
        .toConform(wanted, ({ reply, items }) => reply.response && items && got(items), {
          partly: false,
          unread: (_, { unread }) => unread,
        });
    },
  });

const size = turned('operations.page-size', 'first', {
  title: 'sends no more items than were asked for',
  headline: 'A page has more items than were asked for: {got}',
  why: 'A client that asks for a few gets everything, and runs out of time or memory.',
  change: 'Apply the documented limit before you send the list.',
  wanted: 'at most 2 items',
  got: ({ first }) => (first.length > 2 ? `${first.length} items` : null),
});

export const disjoint = turned('operations.pages-disjoint', 'behind', {
  title: 'has no item on two pages',
  headline: 'An item is on two pages: {got}',
  why: 'Clients count and process the same item twice.',
  change: 'Sort the list by something unique, and begin each page where the one before has ended.',
  restsOn: [size],
  wanted: 'other items than on the page before',
  got({ first, behind }) {
    const again = behind.filter((item) => first.includes(item)).length;
    return again > 0 ? `${again} of ${behind.length} again` : null;
  },
});

const complete = turned('operations.pages-complete', 'behind', {
  title: 'loses no item between two pages',
  headline: 'An item is on no page: {got}',
  why: 'Clients that read a list page by page never see it.',
  change: 'Sort the list by something unique, and begin each page where the one before has ended.',
  restsOn: [size, disjoint],
  wanted: 'every item of the longer page on one of the shorter ones',
  got({ first, behind, both }) {
    const lost = both.filter((item) => ![...first, ...behind].includes(item)).length;
    return lost > 0 ? `${lost} of ${both.length} on none` : null;
  },
});

// A parameter of the name of a member, with a value that items have: only its meaning as a filter is left.
const filterApplied = check('operations.filter-applied', {
  title: 'lists only items of the kind that was asked for',
  headline: 'A list has items that its filter leaves out: {got}',
  why: 'A client that asks for open orders, say, works on all others as well.',
  change: 'Apply the parameter to the query, or refuse it with 400.',
  grounds: [documented, practice('lists in pages')],
  uses: [filtered],
  async judge({ probe, expect }) {
    const asked = (await probe(filtered)).flatMap(({ input: { name }, kinds, pages: [kept, other] }) => [
      { page: kept, name, kind: kinds[0], stray: kinds[1] },
      { page: other, name, kind: kinds[1], stray: kinds[0] },
    ]);
    await expect
      // A flag may mean that such items are listed as well.
      .each(asked, ({ page }) => page, 'no list has a parameter for a kind of items that it has')
      .where(({ kind }) => typeof kind === 'string')
      .toConform(
        'items of that kind alone',
        ({ page, name, kind, stray }) =>
          kindsIn(page, name).includes(stray)
            ? `${name} ${shown([stray])} under ${name} ${shown([kind])}`
            : null,
        { partly: true, unread: (_, { page }) => whyUnread(page) },
      );
  },
});

/** A number of items that is not theirs, in words; null where it may be. */
function miscount(name: string, number: number | null, page: OperationReply): string | null {
  const items = itemsOf(page)?.length ?? 0;
  if (number === null) return null;
  if (number < items) return `${name} ${number} with ${items} items`;
  return isWhole(page) && number !== items ? `${name} ${number} with ${items} items, and no next page` : null;
}

/** The links of a list end before all items of its total have come. */
function missingAtEnd(total: number | null, { first, followed }: Omit<Pages, 'both'>): string | null {
  const last = followed.at(-1);
  const hasEnded = last?.served === true && nextOf(last) === null;
  const items = [first, ...followed].flatMap((page) => itemsOf(page) ?? []).length;
  const isShort = total !== null && hasEnded && items < total;
  return isShort ? `total ${total} with ${items} items on all its pages` : null;
}

/** What a list says of itself holds, and what is not in it is no error. */
const listsThemselves = [
  filterApplied,

  check('operations.total-true', {
    title: 'has as many items as its total says',
    headline: 'The total of a list is not the number of its items: {got}',
    why: 'Clients show a wrong number, stop too early, or ask for pages that are not there.',
    change: 'Count with the same filter that the list has.',
    grounds: [practice('lists in pages')],
    restsOn: [size, disjoint, complete],
    uses: [pages],
    async judge({ probe, expect }) {
      const told = (await probe(pages)).filter(
        ({ both }) =>
          totalOf(both) !== null ||
          countOf(both) !== null ||
          (both.served && both.response.unreadJson !== null),
      );
      await expect
        .each(told, ({ both }) => both, 'no list says how many items there are')
        .toConform(
          'a total of all items',
          ({ both, ...turned }) =>
            miscount('total', totalOf(both), both) ??
            miscount('count', countOf(both), both) ??
            missingAtEnd(totalOf(both), turned),
          { partly: true, unread: (_, { both }) => whyUnread(both) },
        );
    },
  }),

  check('operations.filter-total', {
    title: 'counts under a filter what the filter lets through',
    headline: 'The total of a filtered list is not the number of its items: {got}',
    why: 'Clients show a wrong number of results, and offer pages that are not there.',
    change: 'Count with the same filter that the list has.',
    grounds: [practice('lists in pages')],
    restsOn: [filterApplied],
    uses: [filtered],
    async judge({ probe, expect }) {
      const asked = (await probe(filtered)).flatMap((each) => each.pages);
      const told = asked.filter(
        (page) => whyUnread(page) !== null || (totalOf(page) !== null && isWhole(page)),
      );
      await expect
        .each(told, (page) => page, 'no whole list under a filter says how many items there are')
        // Some services say both numbers, each under its own name.
        .toConform(
          'a total of what is listed',
          (page) =>
            numbersIn(page).includes(itemsOf(page)?.length ?? 0)
              ? null
              : miscount('total', totalOf(page), page),
          { partly: true, unread: (_, page) => whyUnread(page) },
        );
    },
  }),

  check('operations.unknown-cursor', {
    title: 'refuses a cursor that it has never given',
    headline: 'A cursor that was never given gets {got}',
    why: 'A client with a damaged cursor begins again without knowing, and goes round for ever.',
    change: 'Check the cursor, and answer 400 where it is none.',
    grounds: [practice('lists in pages')],
    restsOn: [size, disjoint],
    uses: [unknownCursors],
    async judge({ probe, expect }) {
      await expect
        .each(await probe(unknownCursors), ({ reply }) => reply, 'no list is documented with a cursor')
        .toConform(
          'a 4xx status',
          ({ reply, first }) => {
            if (reply.response.statusClass === 5) return `status ${reply.status}`;
            const items = itemsOf(reply) ?? [];
            return items.length > 0 && String(items) === String(itemsOf(first)) ? 'the first page' : null;
          },
          { partly: true, unread: (_, { reply }) => whyUnread(reply) },
        );
    },
  }),

  check('operations.no-hits', {
    title: 'answers a search that finds nothing with an empty list, and not with an error',
    headline: 'A search that finds nothing gets {answer}',
    why: 'Clients report a failure, or a wrong address, where there is just nothing to show.',
    change: 'Answer 200 with an empty list.',
    grounds: [practice('an empty list is an answer')],
    uses: [hitlessSearches],
    judge: ({ expect }) =>
      expect().toConform('status 200', ({ response: { status, statusClass } }) =>
        status === 404 || statusClass === 5 ? `status ${status}` : null,
      ),
  }),
];

// RFC 8288 §3.3: the next in the same series.
const pagesFilter = check('operations.pages-filter', {
  title: 'keeps to the kind of items that was asked for on the next page as well',
  headline: 'The next page has items that were not asked for: {got}',
  why: 'A client that reads a list page by page works on items that it has left out.',
  change: 'Put the filter into the link or the cursor of the next page, and apply it there.',
  grounds: [documented, practice('lists in pages')],
  restsOn: [size, disjoint, filterApplied],
  uses: [filteredPages],
  async judge({ probe, expect }) {
    await expect
      .each(await probe(filteredPages), ({ next }) => next)
      .toConform(
        'items of that kind alone',
        ({ next, name, kept }) => {
          const stray = kindsIn(next, name).filter((kind) => kind !== kept);
          return stray.length === 0 ? null : `${name} ${shown(stray)} behind ${name} ${shown([kept])}`;
        },
        { partly: true, unread: (_, { next }) => whyUnread(next) },
      );
  },
});

const shown = (kinds: readonly unknown[]): string => kinds.map((kind) => JSON.stringify(kind)).join(' and ');

/** A list in pages is the list, each item once, and has an end. */
export const pagesOfLists = [
  size,
  disjoint,

  complete,

  // RFC 8288 §3.3: next is the next in the series; a series has an end.
  check('operations.pages-end', {
    title: 'links each page to another one, and comes to an end',
    headline: 'The link to the next page does not lead on: {got}',
    why: 'A client that follows the links never ends, or never sees the rest.',
    change: 'Link to the page behind the last item, and leave the link out on the last page.',
    grounds: [
      clients('SDKs that turn pages by themselves follow the links to the last one'),
      practice('RFC 8288 §3.3'),
    ],
    restsOn: [size, disjoint],
    uses: [pages],
    async judge({ probe, expect }) {
      const linked = (await probe(pages)).filter(
        ({ first, followed }) => followed.length > 0 || whyUnread(first) !== null,
      );
      const inTurn = linked.flatMap(({ first, followed }) =>
        [first, ...followed].map((page, index, all) => ({ page, before: all.slice(0, index) })),
      );
      await expect
        .each(inTurn, ({ page }) => page, 'no page links to a next one')
        .toConform(
          'a page with further items',
          ({ page, before }) => {
            if (!page.served) return `status ${page.status}`;
            if (nextOf(page)?.href === page.exchange.request.url) return 'a link to itself';
            const seen = new Set(before.flatMap((each) => itemsOf(each) ?? []));
            const items = itemsOf(page) ?? [];
            // Some of them come again where the list changes meanwhile.
            return items.length > 0 && items.every((item) => seen.has(item))
              ? `${items.length} items again`
              : null;
          },
          { partly: true, unread: (_, { page }) => whyUnread(page) },
        );
    },
  }),

  ...listsThemselves,
  pagesFilter,

  // A cursor is one of a list: another list refuses it, or goes on with that one.
  check('operations.cursor-elsewhere', {
    title: 'refuses the cursor of a list for another kind of items, or goes on with one of the two',
    headline: 'The cursor of a list for one kind of items gets {got} for another kind',
    why: 'A client that changes its filter while it reads gets items of neither list.',
    change: 'Keep the filter in the cursor. Refuse it with 400 where the request has another filter.',
    grounds: [documented, practice('lists in pages')],
    restsOn: [pagesFilter],
    uses: [filteredPages],
    async judge({ probe, expect }) {
      await expect
        .each(await probe(filteredPages), ({ crossed }) => crossed)
        .toConform(
          'a refusal, or items of one of the two',
          ({ crossed, name, kept, other }) => {
            if (crossed.response.statusClass === 5) return `status ${crossed.status}`;
            const kinds = kindsIn(crossed, name);
            const isOfOne = kinds.length < 2 && kinds.every((kind) => kind === kept || kind === other);
            return isOfOne ? null : `items with ${name} ${shown(kinds)}`;
          },
          { partly: true, unread: (_, { crossed }) => whyUnread(crossed) },
        );
    },
  }),
];
