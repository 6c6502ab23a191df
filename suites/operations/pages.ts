import { type CheckDefinition, check, clause, practice } from '../../harness/check/suite.ts';
import { itemsOf, nextOf, pages } from '../../harness/probe/operation/pages.ts';

const documented = clause('endpoint.other-operations');

interface Turned {
  readonly id: string;
  readonly title: string;
  readonly headline: string;
  readonly why: string;
  readonly change: string;
  readonly restsOn?: readonly CheckDefinition[];
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
];
