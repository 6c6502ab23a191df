import type { JsonObject } from '../../../base/json-text.ts';
import { type Defect, tableOf, under } from '../../behavior/deviation.ts';
import { insteadOfServing, onAnswer, onReceipt, type Patch } from '../../behavior/patches/patch.ts';
import { failed, having, refusedWith } from '../../http/answer-changes.ts';
import {
  queryParameters,
  type ReceivedRequest,
  type RequestCondition,
  withField,
  withQuery,
} from '../../http/message.ts';
import { inItem, lists } from '../../services/item-patches.ts';
import {
  behindCursor,
  cursorOf,
  isOfStarters,
  pageOfStarters,
  placeOf,
  SEARCHES,
  STARTERS,
} from '../../services/saved-searches.ts';

const isBehindCursor: RequestCondition = (request) =>
  isOfStarters(request) && queryParameters(request.query).has('cursor');

/** Ignores a parameter of the list that has such a value. */
const without = (name: string, value: RegExp): Patch =>
  onReceipt(
    (request) => withQuery(request, (query) => query.delete(name)),
    (request) => lists(request) && value.test(queryParameters(request.query).get(name) ?? ''),
  );

/** Lists of starters are sorted by another order, or by none. */
const changedSort = (change: (sort: string) => string | null): Patch =>
  onReceipt((request) => {
    const sort = queryParameters(request.query).get('sort');
    const other = sort === null ? null : change(sort);
    return withQuery(request, (query) => (other === null ? query.delete('sort') : query.set('sort', other)));
  }, isOfStarters);

/** Pages of starters are made in another way. */
const inStarters = (made: (query: URLSearchParams) => JsonObject | null): Patch =>
  inItem(isOfStarters, (page, query) => made(queryParameters(query)) ?? page);

export const PAGE_DEFECTS = tableOf<Defect>(under('saved searches'), {
  'page-ignores-limit': {
    cause: 'A page has more items than were asked for',
    fails: ['operations.page-size'],
    patch: without('limit', /^[1-9]$/),
  },
  'pages-overlap': {
    cause: 'An item is on two pages',
    fails: ['operations.pages-disjoint'],
    patch: onReceipt((request) => shifted(request, -1)),
  },
  'offset-is-ignored': {
    cause: 'Every page is the first one',
    fails: ['operations.pages-disjoint'],
    patch: without('offset', /^\d+$/),
  },
  'pages-lose-items': {
    cause: 'An item is on no page',
    fails: ['operations.pages-complete'],
    patch: onReceipt((request) => shifted(request, 1)),
  },
  'next-page-is-same': {
    cause: 'The link to the next page leads to the same page again and again',
    fails: ['operations.pages-end'],
    patch: insteadOfServing(lists, (answer, request) =>
      withField(answer, 'Link', `<${request.target}>; rel="next"`),
    ),
  },
  'next-page-is-404': {
    cause: 'The link to the next page is answered {status:404}',
    fails: ['operations.pages-end'],
    patch: insteadOfServing(lists, having('Link', `<${SEARCHES}-next>; rel="next"`)),
  },
  'cursor-loses-item': {
    cause: 'An item between two pages of a cursor is on neither',
    fails: ['operations.pages-complete'],
    patch: nextAt((next) => next + 1),
  },
  'cursor-repeats-item': {
    cause: 'The last item of a page is the first one behind its cursor',
    fails: ['operations.pages-disjoint'],
    patch: nextAt((next) => next - 1),
  },
  'cursor-is-ignored': {
    cause: 'Every page behind a cursor is the first one',
    fails: ['operations.pages-disjoint'],
    patch: onReceipt((request) => withQuery(request, (query) => query.delete('cursor')), isOfStarters),
  },
  'last-page-names-itself': {
    cause: 'The cursor of the last page leads to the last page again and again',
    fails: ['operations.pages-end'],
    patch: inItem(isOfStarters, (page, query) => ({
      ...page,
      nextCursor: page.nextCursor ?? queryParameters(query).get('cursor'),
    })),
  },
  'pages-go-round': {
    cause: 'Behind the last page of a cursor the list begins again',
    fails: ['operations.pages-end'],
    patch: inItem(
      (request) => isOfStarters(request) && request.query !== null,
      (page) => ({ ...page, nextCursor: page.nextCursor ?? cursorOf(0) }),
    ),
  },
  'filter-is-ignored': {
    cause: 'A list has items that its filter leaves out',
    fails: ['operations.filter-applied'],
    patch: onReceipt(
      (request) => withQuery(request, (query) => query.delete('group')),
      ({ path, query }) => path === STARTERS && /group=(?:text|data)\b/.test(query ?? ''),
    ),
  },
  'total-is-of-the-page-before': {
    cause: 'The total of a list is smaller than the list',
    fails: ['operations.total-true'],
    patch: inItem(lists, (page) => ({ ...page, total: 1 })),
  },
  'total-ignores-filter': {
    cause: 'The total of a filtered list counts what the filter leaves out',
    fails: ['operations.filter-total'],
    patch: inItem(isOfStarters, (page) => ({ ...page, total: 5 })),
  },
  'total-of-pages-is-larger': {
    cause: 'The last page comes before all items of the total have come',
    fails: ['operations.total-true'],
    alsoFails: { 'operations.filter-total': 'it is larger there as well' },
    patch: inItem(isOfStarters, ({ total, ...page }) => ({ ...page, total: Number(total) + 1 })),
  },
  'count-lacks-one-item': {
    cause: 'The count of a page is smaller than the page',
    fails: ['operations.total-true'],
    patch: inItem(lists, ({ items, ...page }) => ({
      ...page,
      items,
      count: (items as readonly unknown[]).length - 1,
    })),
  },
  'sort-is-ignored': {
    cause: 'A list is never sorted as it was asked to be',
    fails: ['operations.sort-applied'],
    alsoFails: { 'operations.negative-range': 'what is not read is not refused' },
    patch: changedSort(() => null),
  },
  'sort-goes-one-way': {
    cause: 'A list is sorted upwards when it was asked to be sorted downwards',
    fails: ['operations.sort-applied'],
    patch: changedSort((sort) => sort.replace('-', '')),
  },
  'sort-goes-the-other-way': {
    cause: 'A list is sorted in the opposite direction',
    fails: ['operations.sort-applied'],
    patch: changedSort((sort) => (sort.startsWith('-') ? sort.slice(1) : `-${sort}`)),
  },
  'sort-takes-numbers-for-text': {
    cause: 'Numbers are sorted as if they were text',
    fails: ['operations.sort-applied'],
    patch: inStarters((query) =>
      pageOfStarters(query, (a, b, name) => (`${a[name]}` < `${b[name]}` ? -1 : 1)),
    ),
  },
  'sort-knows-one-member': {
    cause: 'A list is sorted by another member than it was asked to',
    fails: ['operations.sort-applied'],
    patch: changedSort((sort) => sort.replace('id', 'rank')),
  },
  'sort-within-each-page': {
    cause: 'Each page of a list is sorted for itself',
    fails: ['operations.sort-over-pages'],
    patch: inStarters((query) => {
      const sort = query.get('sort');
      query.delete('sort');
      const page = pageOfStarters(query);
      const items = (page?.items ?? []) as readonly { readonly id: string; readonly rank: number }[];
      const by = (each: (typeof items)[number]) => (sort?.endsWith('rank') ? each.rank : each.id);
      const upwards = items.toSorted((a, b) => (by(a) < by(b) ? -1 : 1));
      return sort === null ? page : { ...page, items: sort.startsWith('-') ? upwards.reverse() : upwards };
    }),
  },
  'cursor-drops-sort': {
    cause: 'The page behind a cursor is not sorted',
    fails: ['operations.sort-over-pages'],
    patch: onReceipt((request) => withQuery(request, (query) => query.delete('sort')), isBehindCursor),
  },
  'unknown-cursor-is-first-page': {
    cause: 'A cursor that was never given brings the first page',
    fails: ['operations.unknown-cursor'],
    patch: onReceipt((request) =>
      placeOf(queryParameters(request.query).get('cursor') ?? '') === null
        ? withQuery(request, (query) => query.delete('cursor'))
        : request,
    ),
  },
  'unknown-cursor-is-500': {
    cause: 'A cursor that was never given is answered {status:500}, a server error',
    fails: ['operations.unknown-cursor'],
    patch: onAnswer('invalid-parameter', failed, ({ query }) => /cursor=[^&]*conform/.test(query ?? '')),
  },
  'cursor-drops-filter': {
    cause: 'The page behind a cursor has items that the filter leaves out',
    fails: ['operations.pages-filter'],
    patch: onReceipt((request) => behindCursor(request, () => null)),
  },
  'next-link-loses-filter': {
    cause: 'The link to the next page has lost the filter',
    fails: ['operations.pages-filter'],
    alsoFails: { 'operations.sort-over-pages': 'it has lost the order as well' },
    patch: insteadOfServing(isOfStarters, (answer, { query }) => {
      const { nextCursor } = JSON.parse(answer.body.toString());
      const next = placeOf(nextCursor ?? '');
      if (next === null) return answer;
      const limit = queryParameters(query).get('limit') ?? '';
      const link = `${STARTERS}?limit=${limit}&cursor=${cursorOf(next.from)}`;
      return withField(answer, 'Link', `<${link}>; rel="next"`);
    }),
  },
  'cursor-of-other-filter-500': {
    cause: 'The cursor of a list under another filter is answered {status:500}, a server error',
    fails: ['operations.cursor-elsewhere'],
    alsoFails: { 'operations.unknown-cursor': 'any cursor that is refused is answered so' },
    patch: onAnswer('invalid-parameter', failed, isBehindCursor),
  },
  'cursor-of-other-filter-mixes': {
    cause: 'The cursor of a list under another filter brings items of no filter',
    fails: ['operations.cursor-elsewhere'],
    patch: onReceipt((request) => {
      const query = queryParameters(request.query);
      const place = placeOf(query.get('cursor') ?? '');
      const isOther = request.path === STARTERS && place !== null && place.group !== query.get('group');
      return isOther ? { ...request, query: null } : request;
    }),
  },
  'cursor-is-400': {
    cause: 'The cursor of a page is answered {status:400}',
    fails: ['operations.pages-end'],
    patch: insteadOfServing(isBehindCursor, refusedWith('invalid-parameter')),
  },
});

/** A page of a cursor that names another next one than that behind it; none behind the end. */
function nextAt(moved: (next: number) => number): Patch {
  return inItem(isOfStarters, (page) => {
    const next = placeOf(String(page.nextCursor ?? ''));
    return { ...page, nextCursor: next && cursorOf(moved(next.from), next.group) };
  });
}

/** A page that begins elsewhere than it was asked for; the first one stays. */
function shifted(request: ReceivedRequest, by: number): ReceivedRequest {
  const offset = Number(queryParameters(request.query).get('offset') ?? 0);
  return lists(request) && offset > 0
    ? withQuery(request, (query) => query.set('offset', String(offset + by)))
    : request;
}
