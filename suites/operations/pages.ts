import { check, clients, numberOf, practice } from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { documented } from './items.ts';
import { filtered, filteredPages, kindsIn, NO_FILTERED_PAGES } from './stimuli/filtered-pages.ts';
import { itemsOf, whyNoItems, whyUnread } from './stimuli/list.ts';
import {
  countOf,
  hitlessSearches,
  isWhole,
  nextOf,
  numbersIn,
  type Pages,
  pages,
  totalOf,
  unknownCursors,
  whyElsewhere,
  whyUnturned,
} from './stimuli/pages.ts';
import { type OperationReply, whyUndecided } from './stimuli/trials.ts';

/** Items of the pages that a check compares; those of others are empty. */
type ItemsOfPages = Readonly<Record<'first' | 'behind' | 'both', readonly string[]>>;

interface Turned extends RowNotes<'title' | 'headline' | 'restsOn'> {
  /** The pages without which nothing can be told. */
  readonly of: readonly (keyof ItemsOfPages)[];
  /** Completes "expected …". */
  readonly wanted: string;
  /** What came instead; null where it conforms, or shows nothing. */
  readonly got: (items: ItemsOfPages) => string | null;
}

/** Judges pages of the same list; where others change it meanwhile, nothing can be told. */
const turned = (id: string, { of, wanted, got, ...notes }: Turned) =>
  check(id, {
    ...notes,
    grounds: [documented, practice('lists in pages')],
    uses: [pages],
    async judge({ probe, expect }) {
      const isBehind = of.includes('behind');
      const told = (await probe(pages)).flatMap((turned) => {
        const { first, both, behind, unbehind, paged } = turned;
        const itemsOn = (all: readonly OperationReply[]) =>
          all.flatMap((page) => itemsOf(page, paged.list) ?? []);
        const all = { first: [first], behind, both: [both] };
        const asked = isBehind && behind.length === 0 ? [first, both] : of.flatMap((name) => all[name]);
        const unread = whyUnturned(turned, asked) ?? (isBehind ? unbehind : null);
        if (isBehind && behind.length === 0 && unread === null) return [];
        const items = { first: itemsOn([first]), behind: itemsOn(behind), both: itemsOn([both]) };
        return [{ reply: (isBehind && behind[0]) || first, items, unread }];
      });
      await expect
        .each(told, ({ reply }) => reply, 'no list that was turned over goes on behind its first page')
        .toConform(wanted, ({ items }) => got(items), {
          partly: false,
          unread: (_, { unread }) => unread,
        });
    },
  });

const size = turned('operations.page-size', {
  of: ['first'],
  title: 'sends no more items than were asked for',
  headline: 'A page has more items than were asked for: {got}',
  why: 'A client that asks for a few gets everything, and runs out of time or memory.',
  change: 'Apply the documented limit before you send the list.',
  wanted: 'at most 2 items',
  got: ({ first }) => (first.length > 2 ? `${first.length} items` : null),
});

export const disjoint = turned('operations.pages-disjoint', {
  of: ['first', 'behind'],
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

const complete = turned('operations.pages-complete', {
  of: ['first', 'behind', 'both'],
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
  async judge({ probe, expect, blocked }) {
    const { all, shortfall } = await probe(filtered);
    const asked = all.flatMap(({ paged: { list }, input: { name }, kinds, pages: [kept, other] }) => [
      { page: kept, name, list, kind: kinds[0], stray: kinds[1] },
      { page: other, name, list, kind: kinds[1], stray: kinds[0] },
    ]);
    if (asked.length > 0 || shortfall === null)
      await expect
        // A flag may mean that such items are listed as well.
        .each(asked, ({ page }) => page, 'no list has a parameter for a kind of items that it has')
        .where(({ kind }) => typeof kind === 'string')
        .toConform(
          'items of that kind alone',
          ({ page, name, list, kind, stray }) =>
            kindsIn(page, name, list).includes(stray)
              ? `${name} ${shown([stray])} under ${name} ${shown([kind])}`
              : null,
          {
            partly: true,
            // The list has one of them.
            unread: (_, { page, name, list, kind }) =>
              whyNoItems(page, list) ??
              (kindsIn(page, name, list).includes(kind) ? null : 'it shows no item of that kind'),
          },
        );
    if (shortfall !== null) blocked(shortfall.reason);
  },
});

/** A number of items that is not theirs, in words; null where it may be. */
function miscount(
  name: string,
  number: number | null,
  page: OperationReply,
  list: string | null,
): string | null {
  const items = itemsOf(page, list)?.length ?? 0;
  if (number === null) return null;
  if (number < items) return `${name} ${number} with ${items} items`;
  return isWhole(page, list) && number !== items
    ? `${name} ${number} with ${items} items, and no next page`
    : null;
}

/** The links of a list end before all items of its total have come. */
function missingAtEnd(
  total: number | null,
  { paged: { list }, first, followed }: Omit<Pages, 'both'>,
): string | null {
  const last = followed.at(-1);
  const hasEnded = last?.served === true && nextOf(last) === null;
  const items = [first, ...followed].flatMap((page) => itemsOf(page, list) ?? []).length;
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
            miscount('total', totalOf(both), both, turned.paged.list) ??
            miscount('count', countOf(both), both, turned.paged.list) ??
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
    async judge({ probe, expect, blocked }) {
      const { all, shortfall } = await probe(filtered);
      const asked = all.flatMap(({ pages, paged: { list } }) => pages.map((page) => ({ page, list })));
      const told = asked.filter(
        ({ page, list }) => whyUnread(page) !== null || (totalOf(page) !== null && isWhole(page, list)),
      );
      if (told.length > 0 || shortfall === null)
        await expect
          .each(told, ({ page }) => page, 'no whole list under a filter says how many items there are')
          // Some services say both numbers, each under its own name.
          .toConform(
            'a total of what is listed',
            ({ page, list }) =>
              numbersIn(page).includes(itemsOf(page, list)?.length ?? 0)
                ? null
                : miscount('total', totalOf(page), page, list),
            { partly: true, unread: (_, { page }) => whyUnread(page) },
          );
      if (shortfall !== null) blocked(shortfall.reason);
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
          ({ reply, first, list }) => {
            if (reply.response.statusClass === 5) return `status ${reply.status}`;
            const items = itemsOf(reply, list) ?? [];
            return items.length > 0 && String(items) === String(itemsOf(first, list))
              ? 'the first page'
              : null;
          },
          {
            partly: true,
            unread: (_, { reply, first, list }) =>
              whyUnread(reply) ?? (reply.served ? whyNoItems(first, list) : null),
          },
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
      expect().toConform(
        'status 200',
        ({ response: { status, statusClass } }) =>
          status === 404 || statusClass === 5 ? `status ${status}` : null,
        { partly: true, unread: (_, reply) => whyUndecided(reply) },
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
  async judge({ probe, expect, blocked }) {
    const { all, shortfall } = await probe(filteredPages);
    if (all.length > 0 || shortfall === null)
      await expect
        .each(all, ({ next }) => next, NO_FILTERED_PAGES)
        .toConform(
          'items of that kind alone',
          ({ next, name, list, kept }) => {
            const stray = kindsIn(next, name, list).filter((kind) => kind !== kept);
            return stray.length === 0 ? null : `${name} ${shown(stray)} behind ${name} ${shown([kept])}`;
          },
          {
            partly: true,
            // It goes on behind its first item.
            unread: (_, { next, name, list }) =>
              whyNoItems(next, list) ??
              (kindsIn(next, name, list).length === 0 ? 'it shows no item of any kind' : null),
          },
        );
    if (shortfall !== null) blocked(shortfall.reason);
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
        ({ first, followed }) =>
          followed.length > 0 || whyUnread(first) !== null || whyElsewhere(first) !== null,
      );
      const inTurn = linked.flatMap(({ paged: { list }, first, followed }) =>
        [first, ...followed].map((page, index, all) => ({ page, list, before: all.slice(0, index) })),
      );
      await expect
        .each(inTurn, ({ page }) => page, 'no page links to a next one')
        .toConform(
          'a page with further items',
          ({ page, list, before }) => {
            if (!page.served) return `status ${page.status}`;
            if (nextOf(page)?.href === page.exchange.request.url) return 'a link to itself';
            const seen = new Set(before.flatMap((each) => itemsOf(each, list) ?? []));
            const items = itemsOf(page, list) ?? [];
            // Some of them come again where the list changes meanwhile.
            return items.length > 0 && items.every((item) => seen.has(item))
              ? `${numberOf(items.length, 'item')} again`
              : null;
          },
          { partly: true, unread: (_, { page }) => whyUnread(page) ?? whyElsewhere(page) },
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
    async judge({ probe, expect, blocked }) {
      const { all, shortfall } = await probe(filteredPages);
      if (all.length > 0 || shortfall === null)
        await expect
          .each(all, ({ crossed }) => crossed, NO_FILTERED_PAGES)
          .toConform(
            'a refusal, or items of one of the two',
            ({ crossed, name, list, kept, other }) => {
              if (crossed.response.statusClass === 5) return `status ${crossed.status}`;
              const kinds = kindsIn(crossed, name, list);
              const isOfOne = kinds.length < 2 && kinds.every((kind) => kind === kept || kind === other);
              return isOfOne ? null : `items with ${name} ${shown(kinds)}`;
            },
            { partly: true, unread: (_, { crossed }) => whyUnread(crossed) },
          );
      if (shortfall !== null) blocked(shortfall.reason);
    },
  }),
];
