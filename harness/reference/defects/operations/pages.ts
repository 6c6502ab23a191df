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
