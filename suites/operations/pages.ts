import { type CheckDefinition, check, practice } from '../../harness/check/suite.ts';
import { filteredPages, kindsIn } from '../../harness/probe/operation/filtered-pages.ts';
import { itemsOf, nextOf, pages } from '../../harness/probe/operation/pages.ts';
import type { Row } from '../row.ts';
import { documented } from './lived.ts';

interface Turned extends Row<'title' | 'headline' | 'restsOn'> {
  /** Completes "expected …". */
  readonly wanted: string;
  /** Which answer is judged, and what came instead; null where it conforms, or shows nothing. */
  readonly judged: 'first' | 'behind';
  readonly got: (items: Items) => string | null;
}

/** What is on the pages. */
interface Items {
  readonly first: readonly string[];
  readonly behind: readonly string[];
  readonly both: readonly string[];
}

/** Judges pages of the same list; where others change it meanwhile, nothing can be told. */
const turned = ({ wanted, judged, got, ...notes }: Turned): CheckDefinition =>
  check(notes.id, {
    ...notes,
    grounds: [documented, practice('lists in pages')],
    async judge({ probe, expect, notApplicable }) {
      const all = (await probe(pages)).flatMap((each) => {
        const [first, both] = [itemsOf(each.first), itemsOf(each.both)];
        const behind = each.behind.map(itemsOf);
        const reply = judged === 'first' ? each.first : each.behind[0];
        if (!first || !both || reply === undefined || behind.includes(null)) return [];
        return [{ reply, items: { first, behind: behind.flatMap((items) => items ?? []), both } }];
      });
      if (all.length === 0) notApplicable('no list that was turned over has one list of items');
      const itemsIn = new Map(all.map(({ reply, items }) => [reply, items]));
      await expect([...itemsIn.keys()]).toConform(wanted, (reply) => {
        const items = itemsIn.get(reply);
        return items === undefined ? null : got(items);
      });
    },
  });

const size = turned({
  id: 'operations.page-size',
  title: 'sends no more items than were asked for',
  headline: 'A page has more items than were asked for: {got}',
  why: 'A client that asks for a few gets everything, and runs out of time or memory.',
  change: 'Apply the documented limit before you send the list.',
  wanted: 'at most 2 items',
  judged: 'first',
  got: ({ first }) => (first.length > 2 ? `${first.length} items` : null),
});

const disjoint = turned({
  id: 'operations.pages-disjoint',
  title: 'has no item on two pages',
  headline: 'An item is on two pages: {got}',
  why: 'Clients count and process the same item twice.',
  change: 'Sort the list by something unique, and begin each page where the one before has ended.',
  restsOn: [size],
  wanted: 'other items than on the page before',
  judged: 'behind',
  got({ first, behind }) {
    const again = behind.filter((item) => first.includes(item)).length;
    return again > 0 ? `${again} of ${behind.length} again` : null;
  },
});

// RFC 8288 §3.3: the next in the same series.
const pagesFilter = check('operations.pages-filter', {
  title: 'keeps to the kind of items that was asked for on the next page as well',
  headline: 'The next page has items that were not asked for: {got}',
  why: 'A client that reads a list page by page works on items that it has left out.',
  change: 'Put the filter into the link or the cursor of the next page, and apply it there.',
  grounds: [documented, practice('lists in pages')],
  restsOn: [size, disjoint],
  async judge({ probe, expect }) {
    const all = new Map((await probe(filteredPages)).map((each) => [each.next, each]));
    await expect([...all.keys()]).toConform('items of that kind alone', (reply) => {
      const { name = '', kept } = all.get(reply) ?? {};
      const stray = kindsIn(reply, name).filter((kind) => kind !== kept);
      return stray.length === 0 ? null : `${name} ${shown(stray)} behind ${name} ${shown([kept])}`;
    });
  },
});

const shown = (kinds: readonly unknown[]): string => kinds.map((kind) => JSON.stringify(kind)).join(' and ');

/** A list in pages is the list, each item once, and has an end. */
export const pagesOfLists: readonly CheckDefinition[] = [
  size,
  disjoint,

  turned({
    id: 'operations.pages-complete',
    title: 'loses no item between two pages',
    headline: 'An item is on no page: {got}',
    why: 'Clients that read a list page by page never see it.',
    change: 'Sort the list by something unique, and begin each page where the one before has ended.',
    restsOn: [size, disjoint],
    wanted: 'every item of the longer page on one of the shorter ones',
    judged: 'behind',
    got({ first, behind, both }) {
      const lost = both.filter((item) => ![...first, ...behind].includes(item)).length;
      return lost > 0 ? `${lost} of ${both.length} on none` : null;
    },
  }),

  // RFC 8288 §3.3: next is the next in the series; a series has an end.
  check('operations.pages-end', {
    title: 'links each page to another one, and comes to an end',
    headline: 'The link to the next page does not lead on: {got}',
    why: 'A client that follows the links never ends, or never sees the rest.',
    change: 'Link to the page behind the last item, and leave the link out on the last page.',
    grounds: [practice('RFC 8288 §3.3')],
    restsOn: [size, disjoint],
    async judge({ probe, expect, notApplicable }) {
      const all = (await probe(pages)).filter(({ followed }) => followed.length > 0);
      if (all.length === 0) notApplicable('no page links to a next one');
      const faults = new Map(
        all.flatMap(({ first, followed }) =>
          [first, ...followed].map((reply, index, pages) => {
            const before = pages.slice(0, index);
            if (!reply.served) return [reply, `status ${reply.status}`] as const;
            const seen = new Set(before.flatMap((page) => itemsOf(page) ?? []));
            const again = (itemsOf(reply) ?? []).filter((item) => seen.has(item)).length;
            const isSame = nextOf(reply)?.href === reply.exchange.request.url;
            return [reply, isSame ? 'a link to itself' : again > 0 ? `${again} items again` : null] as const;
          }),
        ),
      );
      await expect([...faults.keys()]).toConform(
        'a page with further items',
        (reply) => faults.get(reply) ?? null,
      );
    },
  }),

  pagesFilter,

  // A cursor is one of a list: another list refuses it, or goes on with that one.
  check('operations.cursor-elsewhere', {
    title: 'refuses the cursor of a list for another kind of items, or goes on with one of the two',
    headline: 'The cursor of a list for one kind of items gets {got} for another kind',
    why: 'A client that changes its filter while it reads gets items of neither list.',
    change: 'Keep the filter in the cursor. Refuse it with 400 where the request has another filter.',
    grounds: [documented, practice('lists in pages')],
    restsOn: [pagesFilter],
    async judge({ probe, expect }) {
      const all = new Map((await probe(filteredPages)).map((each) => [each.crossed, each]));
      await expect([...all.keys()]).toConform('a refusal, or items of one of the two', (reply) => {
        const { name = '', kept, other } = all.get(reply) ?? {};
        if (reply.response.statusClass === 5) return `status ${reply.status}`;
        const kinds = kindsIn(reply, name);
        const isOfOne = kinds.length < 2 && kinds.every((kind) => kind === kept || kind === other);
        return isOfOne ? null : `items with ${name} ${shown(kinds)}`;
      });
    },
  }),
];
