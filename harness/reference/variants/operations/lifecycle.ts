import { tableOf, type Variant } from '../../behavior/deviation.ts';
import {
  aroundHandling,
  insteadOfServing,
  onAnswer,
  onReceipt,
  together,
} from '../../behavior/patches/patch.ts';
import { bare, problem } from '../../http/answer.ts';
import { asProblem, lacking, withJson } from '../../http/answer-changes.ts';
import { queryParameters, type ReceivedRequest, withoutField } from '../../http/message.ts';
import { behindCursor, isItem, STARTERS } from '../../services/saved-searches.ts';

const isOfStarters = ({ path }: ReceivedRequest): boolean => path === STARTERS;
const isOne = (method: string) => (request: ReceivedRequest) => request.method === method && isItem(request);

/** Other ways to let clients create, change and remove their items. */
export const LIFECYCLE_VARIANTS = tableOf<Variant>(
  { services: ['search'], setting: 'saved searches' },
  {
    'deleted-items-are-410': {
      summary: 'remembers what was deleted, and says 410',
      patch: onAnswer('not-found', asProblem(410), isItem),
    },
    'deletes-again-with-204': {
      summary: 'says 204 to a deletion of what is not there',
      patch: onAnswer('not-found', () => bare('not-found', 204), isOne('DELETE')),
    },
    'hides-items-with-404': {
      summary: 'says 404 for items to whoever has no credential',
      patch: onAnswer('unauthenticated', () => problem('not-found'), isItem),
    },
    'items-without-etags': {
      summary: 'has no ETags, and heeds no If-Match',
      patch: together(
        onReceipt((request) => withoutField(request, 'If-Match')),
        onAnswer('served', lacking('ETag')),
      ),
    },
    'refuses-unknown-members-of-items': {
      summary: 'says 422 to members that only it may set',
      patch: onAnswer('invalid-content', asProblem(422, 'Unprocessable Content')),
    },
    'ignores-id-in-body': {
      summary: 'leaves out of what it is sent what only it may set',
      patch: aroundHandling((request, next, kernel) => {
        if (!isOne('PATCH')(request)) return next(request, kernel);
        const text = request.body.toString('utf8').replace(/"id":"[^"]*",?/, '');
        return next({ ...request, body: Buffer.from(text) }, kernel);
      }),
    },
    'pages-linked-in-body': {
      summary: 'has the address of the next page in the body, in place of a cursor',
      patch: insteadOfServing(isOfStarters, (answer, request) =>
        withJson(answer, ({ items, nextCursor }) => {
          const query = queryParameters(request.query);
          query.set('cursor', String(nextCursor));
          return { items, links: { next: nextCursor && `${STARTERS}?${query}` } };
        }),
      ),
    },
    'cursor-carries-filter': {
      summary: 'goes by the filter of the cursor, whatever the request says',
      patch: onReceipt((request) => behindCursor(request, ({ group }) => group)),
    },
    'filter-counts-behind-cursor': {
      summary: 'takes a cursor for a number of items, and applies whatever filter the request has',
      patch: onReceipt((request) => behindCursor(request, (_, query) => query.get('group'))),
    },
    'pages-may-be-empty': {
      summary: 'has an empty page between two others, which names the next one',
      patch: insteadOfServing(isOfStarters, (answer, { query }) => {
        const cursor = queryParameters(query).get('cursor');
        const isFirstTime = cursor !== null && !cursor.endsWith('.');
        return isFirstTime ? withJson(answer, () => ({ items: [], nextCursor: `${cursor}.` })) : answer;
      }),
    },
  },
);
