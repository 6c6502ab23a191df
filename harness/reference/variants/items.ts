import { SEARCH, tableOf, under, type Variant } from '../behavior/deviation.ts';
import {
  aroundHandling,
  beforehand,
  insteadOfServing,
  onAnswer,
  type Patch,
  together,
} from '../behavior/patches/patch.ts';
import { bare, type HttpAnswer, problem } from '../http/answer.ts';
import { asProblem, having, lacking, withJson, withMembers } from '../http/answer-changes.ts';
import { fieldValue, type RequestCondition, withField, withoutField } from '../http/message.ts';
import {
  cancels,
  creates,
  inItem,
  inJsonPatch,
  isTo,
  lists,
  reads,
  removes,
} from '../services/item-patches.ts';
import { isItem, JOBS, SEARCHES } from '../services/saved-searches.ts';

const replaces = isTo('PUT', isItem);
const changes = isTo('PATCH', isItem);

const withoutContent = (when: RequestCondition): Patch => insteadOfServing(when, () => bare('served', 204));

/** Changes where a creation says that its item is. */
const placedAt = (
  change: (place: string, request: { readonly fields: HttpAnswer['fields'] }) => string,
): Patch =>
  insteadOfServing(creates, (answer, request) =>
    withField(answer, 'Location', change(fieldValue(answer, 'location') ?? '', request)),
  );

const withTotal = (of: (items: number) => string): Patch =>
  insteadOfServing(lists, (answer) => {
    const { total } = JSON.parse(answer.body.toString('utf8')) as { readonly total: number };
    return withField(answer, 'X-Total-Count', of(total));
  });

/** Other ways to say what became of an item. */
export const ITEM_VARIANTS = tableOf<Variant>(under('saved searches', SEARCH), {
  'replaces-with-204': {
    summary: 'says 204 to a replacement',
    patch: withoutContent(replaces),
  },
  'changes-with-204': {
    summary: 'says 204 to a change',
    patch: withoutContent(changes),
  },
  'json-patches-with-204': {
    summary: 'says 204 to a JSON patch alone',
    patch: inJsonPatch(async (_, request, next) => {
      const answer = await next(request);
      return answer.responseKind === 'served' ? bare('served', 204) : answer;
    }),
  },
  'json-patches-refused-with-400': {
    summary: 'says 400 to every JSON patch, whose operations it does not know',
    patch: inJsonPatch(() => problem('invalid-content')),
  },
  'json-patches-under-a-condition': {
    summary: 'says 428 to a JSON patch without If-Match',
    patch: inJsonPatch((_, request, next) =>
      fieldValue(request, 'if-match') === undefined
        ? asProblem(428)(problem('precondition-failed'))
        : next(request),
    ),
  },
  'deletes-with-200': {
    summary: 'says 200 to a deletion, with the item as it was',
    patch: aroundHandling(async (request, next, kernel) => {
      if (!removes(request)) return next(request, kernel);
      const before = await next({ ...request, method: 'GET' }, kernel);
      const answer = await next(request, kernel);
      return answer.responseKind === 'served' ? withoutField(before, 'ETag') : answer;
    }),
  },
  'deletes-with-202': {
    summary: 'says 202 to a deletion, which is carried out at once',
    patch: insteadOfServing(removes, () => ({ ...bare('served', 204), status: 202 })),
  },
  'places-items-by-whole-url': {
    summary: 'names the whole URL of a new item',
    patch: placedAt((place, request) => `http://${fieldValue(request, 'host')}${place}`),
  },
  'places-items-by-last-segment': {
    summary: 'names a new item relative to the collection',
    patch: placedAt((place) => `searches/${place.slice(SEARCHES.length + 1)}`),
  },
  'places-items-with-a-query': {
    summary: 'names the representation of a new item by a query behind its path',
    patch: placedAt((place) => `${place}?view=whole`),
  },
  'places-items-by-query': {
    summary: 'names a new item by a query of the collection',
    patch: placedAt((place) => `${SEARCHES}?id=eq.${place.slice(SEARCHES.length + 1)}`),
  },
  'creates-without-location': {
    summary: 'names a new item in the content alone',
    patch: insteadOfServing(creates, lacking('Location')),
  },
  'items-with-weak-etags': {
    summary: 'has weak ETags of its items, which no If-Match takes',
    patch: insteadOfServing(reads, (answer) => {
      const tag = fieldValue(answer, 'etag');
      return tag === undefined || tag.startsWith('W/') ? answer : withField(answer, 'ETag', `W/${tag}`);
    }),
  },
  'total-in-a-header': {
    summary: 'says in X-Total-Count how many items there are',
    patch: withTotal(String),
  },
  'next-page-in-body-too': {
    summary: 'links the next page in the content and in Link',
    patch: insteadOfServing(lists, (answer) => {
      const [, next = null] = /<([^>]+)>/.exec(fieldValue(answer, 'link') ?? '') ?? [];
      return withJson(answer, (list) => ({ ...list, next }));
    }),
  },
  'links-more-than-the-next-page': {
    summary: 'links the first page beside the next one',
    patch: insteadOfServing(lists, (answer) => {
      const next = fieldValue(answer, 'link');
      return withField(answer, 'Link', [`<${SEARCHES}>; rel="first"`, next].filter(Boolean).join(', '));
    }),
  },
  'newest-items-first': {
    summary: 'lists the items that were written last before the others',
    patch: inItem(
      (request) => lists(request) && request.query === null,
      ({ items, ...rest }) => ({ ...rest, items: (items as readonly unknown[]).toReversed() }),
    ),
  },
  'items-link-to-themselves': {
    summary: 'has a link to itself in each item',
    patch: inItem(reads, (item) => ({ ...item, self: `${SEARCHES}/${item.id}` })),
  },
  'answers-writes-unstored': {
    summary: 'forbids to store the answers to writes',
    patch: together(
      insteadOfServing(replaces, having('Cache-Control', 'no-store')),
      onAnswer('served', having('Cache-Control', 'no-store'), changes),
    ),
  },
});

/** Other ways to cancel an export. */
export const CANCELLATION_VARIANTS = tableOf<Variant>(under('exports to cancel', SEARCH), {
  'cancels-too-late-with-409': {
    summary: 'says 409 to the cancellation of an export, which is done',
    patch: beforehand((request) => (cancels(request) ? asProblem(409)(problem('key-reused')) : null)),
  },
  'cancels-nothing-with-404': {
    summary: 'says 404 to the cancellation of an export, of which it knows only the status',
    patch: beforehand((request) => (cancels(request) ? problem('not-found') : null)),
  },
  'cancels-with-202': {
    summary: 'says 202 to the cancellation of an export, which is done before it can be stopped',
    patch: beforehand((request) => (cancels(request) ? { ...bare('served', 204), status: 202 } : null)),
  },
  'forgets-cancelled-jobs': {
    summary: 'says 404 to the status of an export that was cancelled',
    patch: onAnswer(
      'served',
      (answer) => (answer.body.includes('"cancelled"') ? problem('not-found') : answer),
      ({ path }) => path.startsWith(`${JOBS}/`),
    ),
  },
  'is-done-before-it-is-cancelled': {
    summary: 'says 204 to the cancellation of an export that was done by then',
    patch: insteadOfServing(
      ({ path }) => path.startsWith(`${JOBS}/`),
      (answer) => (answer.body.includes('"cancelled"') ? withMembers(answer, { state: 'done' }) : answer),
    ),
  },
});
