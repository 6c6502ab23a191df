import { type Defect, REST, tableOf } from '../../conduct/deviation.ts';
import { onReceipt } from '../../conduct/patch.ts';
import { queryParameters, type ReceivedRequest, withField } from '../../http/message.ts';
import { SEARCHES } from '../../services/saved-searches.ts';
import { lists, onServed } from './requests.ts';

/** What the service does wrong with the pages of a list. */
export const PAGE_DEFECTS = tableOf<Defect>(
  { ...REST, setting: 'saved searches' },
  {
    'page-ignores-limit': {
      summary: 'sends all there is whatever the limit',
      cause: 'A page has more items than were asked for',
      trips: ['operations.page-size'],
      patch: onReceipt((request) =>
        lists(request) && /^[1-9]$/.test(queryParameters(request.query).get('limit') ?? '')
          ? withQuery(request, (query) => query.delete('limit'))
          : request,
      ),
    },
    'pages-overlap': {
      summary: 'begins each page with the last item of the one before',
      cause: 'An item is on two pages',
      trips: ['operations.pages-disjoint'],
      patch: onReceipt((request) => shifted(request, -1)),
    },
    'offset-is-ignored': {
      summary: 'sends the first page for every offset',
      cause: 'Every page is the first one',
      trips: ['operations.pages-disjoint'],
      patch: onReceipt((request) =>
        lists(request) && /^\d+$/.test(queryParameters(request.query).get('offset') ?? '')
          ? withQuery(request, (query) => query.delete('offset'))
          : request,
      ),
    },
    'pages-lose-items': {
      summary: 'begins each page one item too late',
      cause: 'An item is on no page',
      trips: ['operations.pages-complete'],
      patch: onReceipt((request) => shifted(request, 1)),
    },
    'next-page-is-same': {
      summary: 'links each page to itself as the next',
      cause: 'The link to the next page leads to the same page again and again',
      trips: ['operations.pages-end'],
      patch: onServed(lists, (answer, request) =>
        withField(answer, 'Link', `<${request.target}>; rel="next"`),
      ),
    },
    'next-page-is-404': {
      summary: 'links to a next page that is not there',
      cause: 'The link to the next page is answered {status:404}',
      trips: ['operations.pages-end'],
      patch: onServed(lists, (answer) => withField(answer, 'Link', `<${SEARCHES}-next>; rel="next"`)),
    },
  },
);

function withQuery(request: ReceivedRequest, change: (query: URLSearchParams) => void): ReceivedRequest {
  const query = queryParameters(request.query);
  change(query);
  return { ...request, query: query.size === 0 ? null : query.toString() };
}

/** A page that begins elsewhere than it was asked for; the first one stays. */
function shifted(request: ReceivedRequest, by: number): ReceivedRequest {
  const offset = Number(queryParameters(request.query).get('offset') ?? 0);
  return lists(request) && offset > 0
    ? withQuery(request, (query) => query.set('offset', String(offset + by)))
    : request;
}
