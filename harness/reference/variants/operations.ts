import { parseJson } from '../../base/json-text.ts';
import { REST, SEARCH, tableOf, under, type Variant } from '../behavior/deviation.ts';
import {
  aroundHandling,
  insteadOfServing,
  onAnswer,
  onReceipt,
  type Patch,
  remembering,
  slowed,
  together,
} from '../behavior/patches/patch.ts';
import { entityTagOf } from '../behavior/preconditions.ts';
import { bare, type ProblemName, problem, served } from '../http/answer.ts';
import { asProblem, having, lacking, withJson } from '../http/answer-changes.ts';
import {
  fieldValue,
  queryParameters,
  type RequestCondition,
  sending,
  withField,
  withQuery,
} from '../http/message.ts';
import {
  afterFailure,
  atOnce,
  atRepetition,
  creates,
  exports,
  inJsonPatch,
  isTo,
  lists,
  onceDone,
  ownItems,
  removes,
  shownLater,
  untilDone,
} from '../services/item-patches.ts';
import {
  behindCursor,
  EXPORTS,
  isItem,
  isOfStarters,
  pageOfStarters,
  SEARCHES,
  STARTERS,
} from '../services/saved-searches.ts';

const JSON_TYPE = /^application\/(?:[a-z.-]+\+)?json *(?:;|$)/i;

const isPosted: RequestCondition = ({ method, path }) => method === 'POST' && path === '/v1/matches';

const refusing = (when: RequestCondition, responseKind: ProblemName): Patch =>
  onAnswer(
    ['served', 'invalid-content'],
    () => problem(responseKind),
    (request) => isPosted(request) && when(request),
  );

/** What parsers make of JSON that they need not take. */
const readingLeniently = (text: string): string =>
  text
    .replace(/^\ufeff/, '')
    .replace(/,"conform":(?:NaN|1e99999)/, '')
    .replaceAll(/\\ud800|\\u0000|\ufffd/g, '');

/** Other ways to take the bodies of requests. */
export const BODY_VARIANTS = tableOf<Variant>(REST, {
  'demands-json-type': {
    summary: 'says 415 to a body that does not call itself JSON, and to any content coding',
    changes: ['operations.body-as-text'],
    patch: refusing(
      (request) => !sending('content-type', JSON_TYPE)(request) || sending('content-encoding')(request),
      'unsupported-media-type',
    ),
  },
  'takes-lenient-json': {
    summary: 'takes JSON with a byte order mark, NaN, numbers of any size and text that is none',
    patch: onReceipt((request) =>
      isPosted(request) && parseJson(request.body.toString('utf8').replace('NaN', '0')) !== null
        ? { ...request, body: Buffer.from(readingLeniently(request.body.toString('utf8'))) }
        : request,
    ),
  },
  'takes-small-bodies': {
    summary: 'says 413 to a body of more than 8 KiB',
    patch: refusing(({ body }) => body.length > 8_192, 'content-too-large'),
  },
});

const asksFor: RequestCondition = ({ path }) => path === '/v1/matches';
const soughtBy = (query: string | null): string => queryParameters(query).get('text') ?? '';

/** Other ways to take unusual values. */
export const INPUT_VARIANTS = tableOf<Variant>(REST, {
  'normalises-text': {
    summary: 'searches for text in normal form C, and trims it',
    patch: onReceipt((request) =>
      asksFor(request) && soughtBy(request.query) !== ''
        ? withQuery(request, (query) => query.set('text', soughtBy(request.query).normalize('NFC').trim()))
        : request,
    ),
  },
  'refuses-emoji': {
    summary: 'says 400 to a search for an emoji, of which it knows nothing',
    patch: insteadOfServing(
      (request) => asksFor(request) && /\p{Emoji_Presentation}/u.test(soughtBy(request.query)),
      () => problem('invalid-parameter'),
    ),
  },
  'finds-similar-things': {
    summary: 'finds what is similar where nothing is the same',
    patch: onReceipt((request) =>
      asksFor(request) && soughtBy(request.query).startsWith('qxzv')
        ? withQuery(request, (query) => query.set('text', 'article'))
        : request,
    ),
  },
  'finds-nothing-with-404': {
    summary: 'says 404 where a search for the longest text finds nothing',
    patch: insteadOfServing(
      (request) => asksFor(request) && soughtBy(request.query).length === 100,
      () => problem('not-found'),
    ),
  },
});

/** Other ways to keep a documented time. */
export const SPEED_VARIANTS = tableOf<Variant>(under('response time', SEARCH), {
  'starts-cold': {
    summary: 'takes 3 s for its first answer',
    patch: remembering(
      () => ({ isWarm: false }),
      (memory) =>
        slowed(() => {
          const wasCold = !memory.isWarm;
          memory.isWarm = true;
          return wasCold;
        }, 3_000),
    ),
  },
  'takes-nearly-its-time': {
    summary: 'takes nearly all of the time that its document grants',
    patch: slowed(asksFor, 700),
  },
});

/** Other ways to let clients create, change and remove their items. */
export const LIFECYCLE_VARIANTS = tableOf<Variant>(under('saved searches', SEARCH), {
  'job-is-gone-after-its-end': {
    summary: 'says 404 to a job whose end was read',
    patch: remembering(
      () => ({ reads: 0 }),
      (memory) =>
        onceDone((answer) => {
          memory.reads += 1;
          return memory.reads > 1 ? problem('not-found') : answer;
        }),
    ),
  },
  'job-redirects-to-its-result': {
    summary: 'redirects from a finished job to its result',
    patch: onceDone((answer) => ({ ...withField(answer, 'Location', SEARCHES), status: 303 })),
  },
  'job-never-ends': {
    summary: 'has a job that runs longer than anybody waits',
    patch: onceDone((answer) => withJson(answer, ({ id }) => ({ id, state: 'running' }))),
  },
  'job-fails': {
    summary: 'says of a job that it has failed, and what its result would have been',
    patch: onceDone((answer) =>
      withJson(answer, (job) => ({ ...job, state: 'failed', result: '/v1/results/none' })),
    ),
  },
  'job-by-operation-location': {
    summary: 'names the status of a job in Operation-Location, and when to ask for it in Retry-After',
    patch: insteadOfServing(exports, (answer) =>
      withField(
        withField(answer, 'Operation-Location', fieldValue(answer, 'location') ?? ''),
        'Retry-After',
        '1',
      ),
    ),
  },
  'job-runs-with-202': {
    summary: 'says 202 to a job until it is done, with no word of its state',
    patch: untilDone((answer) => ({ ...withJson(answer, ({ id }) => ({ id })), status: 202 })),
  },
  'location-of-what-is-to-come': {
    summary: 'names in the Location of a 202 the export itself, which is not there yet',
    patch: insteadOfServing(exports, having('Location', `${EXPORTS}/next`)),
  },
  'job-of-another-host': {
    summary: 'leaves the status of its jobs to another service',
    patch: insteadOfServing(exports, having('Location', 'https://jobs.example/last')),
  },
  'stores-text-in-normal-form': {
    summary: 'gives text back in normal form C',
    patch: insteadOfServing(isItem, (answer, { method }) =>
      method === 'GET'
        ? withJson(answer, ({ name, ...item }) => ({ ...item, name: String(name).normalize('NFC') }))
        : answer,
    ),
  },
  'refuses-emoji-in-items': {
    summary: 'says 422 to a name with an emoji',
    patch: insteadOfServing(
      ({ method, path, body }) =>
        method === 'POST' && path === '/v1/searches' && /\p{Emoji_Presentation}/u.test(body.toString('utf8')),
      asProblem(422, 'Unprocessable Content'),
    ),
  },
  'deleted-items-are-410': {
    summary: 'remembers what was deleted, and says 410',
    patch: onAnswer('not-found', asProblem(410), isItem),
  },
  'deletes-again-with-204': {
    summary: 'says 204 to a deletion of what is not there',
    patch: onAnswer('not-found', () => bare('not-found', 204), removes),
  },
  'hides-items-with-404': {
    summary: 'says 404 for items to whoever has no credential',
    patch: onAnswer('unauthenticated', () => problem('not-found'), isItem),
  },
  'items-without-etags': {
    summary: 'has no ETags, and heeds no If-Match',
    patch: together(onReceipt(lacking('If-Match')), onAnswer('served', lacking('ETag'))),
  },
  'refuses-unknown-members-of-items': {
    summary: 'says 422 to members that only it may set',
    patch: onAnswer('invalid-content', asProblem(422, 'Unprocessable Content')),
  },
  'writes-with-etags': {
    summary: 'sends the ETag of the item with the answer to each write',
    patch: insteadOfServing(
      ({ method, path }) => ['POST', 'PUT', 'PATCH'].includes(method) && path.startsWith('/v1/searches'),
      (answer) => withField(answer, 'ETag', entityTagOf(answer.body)),
    ),
  },
  'writes-with-weak-etags': {
    summary: 'sends the same weak ETag with each answer to PUT and PATCH',
    patch: insteadOfServing(
      ({ method, path }) => ['PUT', 'PATCH'].includes(method) && path.startsWith('/v1/searches'),
      (answer) => withField(answer, 'ETag', 'W/"0"'),
    ),
  },
  'removed-members-are-null': {
    summary: 'shows members that an item does not have as null',
    patch: insteadOfServing(
      ({ method, path }) => method === 'GET' && path.startsWith('/v1/searches/'),
      (answer) => withJson(answer, (item) => ({ note: null, ...item })),
    ),
  },
  'refuses-null-in-changes': {
    summary: 'says 422 to a change that would remove a member',
    patch: onAnswer(
      ['served'],
      asProblem(422, 'Unprocessable Content'),
      (request) => isTo('PATCH', isItem)(request) && /"(?!note)\w+":null/.test(request.body.toString('utf8')),
    ),
  },
  'ignores-id-in-body': {
    summary: 'leaves out of what it is sent what only it may set',
    patch: aroundHandling((request, next, kernel) => {
      if (!isTo('PATCH', isItem)(request)) return next(request, kernel);
      const text = request.body.toString('utf8').replace(/"(?:id|createdAt)":"[^"]*",?/, '');
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
  'sorts-equal-items-anyhow': {
    summary: 'puts items of the same rank in another order each time',
    patch: remembering(
      () => ({ turn: 1 }),
      (memory) =>
        insteadOfServing(isOfStarters, (answer, { query }) => {
          memory.turn *= -1;
          const page = pageOfStarters(queryParameters(query), (a, b, name) =>
            a[name] === b[name] ? memory.turn : a[name] < b[name] ? -1 : 1,
          );
          return withJson(answer, (before) => page ?? before);
        }),
    ),
  },
  'sorts-capitals-first': {
    summary: 'has names with a capital letter, which come before all others',
    patch: insteadOfServing(isOfStarters, (answer, { query }) => {
      const capital = (id: string) => id.replace(/^[ps]/, (letter) => letter.toUpperCase());
      const page = pageOfStarters(queryParameters(query), (a, b, name) =>
        name === 'id' ? (capital(a.id) < capital(b.id) ? -1 : 1) : a.rank - b.rank,
      );
      return withJson(answer, (before) => {
        const items = ((page ?? before).items ?? []) as readonly { readonly id: string }[];
        return { ...(page ?? before), items: items.map((item) => ({ ...item, id: capital(item.id) })) };
      });
    }),
  },
  'sorts-absent-values-last': {
    summary: 'has an item without a rank, which is the last one whichever way a list is sorted',
    patch: insteadOfServing(isOfStarters, (answer, { query }) => {
      const isUnranked = ({ id }: { readonly id: string }) => id === 'prices';
      const asked = queryParameters(query);
      const sign = asked.get('sort')?.startsWith('-') ? -1 : 1;
      const page = pageOfStarters(asked, (a, b, name) => {
        if (name === 'rank' && isUnranked(a) !== isUnranked(b)) return isUnranked(a) ? sign : -sign;
        return a[name] < b[name] ? -1 : 1;
      });
      return withJson(answer, (before) => {
        const items = ((page ?? before).items ?? []) as readonly { readonly id: string }[];
        return {
          ...(page ?? before),
          items: items.map((item) => (isUnranked(item) ? { ...item, rank: null } : item)),
        };
      });
    }),
  },
  'cursor-carries-sort': {
    summary: 'says 400 to an order beside a cursor, which carries it',
    patch: insteadOfServing(
      ({ path, query }) => path === STARTERS && /cursor=/.test(query ?? '') && /sort=/.test(query ?? ''),
      () => problem('invalid-parameter'),
    ),
  },
  'counts-items-of-the-page': {
    summary: 'says of each page how many items it has, and on the first one how many there are',
    patch: insteadOfServing(isOfStarters, (answer, { query }) =>
      withJson(answer, ({ items, total, ...page }) => {
        const isFirst = !queryParameters(query).has('cursor');
        const meta = { count: (items as readonly unknown[]).length, ...(isFirst && { total }) };
        return { ...page, items, meta };
      }),
    ),
  },
  'counts-with-and-without-filter': {
    summary: 'says how many items there are, and how many of them the filter lets through',
    patch: insteadOfServing(isOfStarters, (answer) =>
      withJson(answer, ({ total, ...page }) => ({ ...page, total: 5, matching: total })),
    ),
  },
  'says-no-total': {
    summary: 'never says how many items there are',
    patch: insteadOfServing(isOfStarters, (answer) => withJson(answer, ({ total: _, ...page }) => page)),
  },
  'unknown-cursor-is-the-end': {
    summary: 'has nothing behind a cursor that it has never given',
    patch: onAnswer(
      'invalid-parameter',
      () => served({ items: [], nextCursor: null }),
      ({ query }) => /cursor=[^&]*conform/.test(query ?? ''),
    ),
  },
  'pages-may-be-empty': {
    summary: 'has an empty page between two others, which names the next one',
    patch: insteadOfServing(isOfStarters, (answer, { query }) => {
      const cursor = queryParameters(query).get('cursor');
      const isFirstTime = cursor !== null && !cursor.endsWith('.');
      return isFirstTime ? withJson(answer, () => ({ items: [], nextCursor: `${cursor}.` })) : answer;
    }),
  },
  'reads-from-a-replica': {
    summary: 'shows for a second what was there before a write',
    changes: ['operations.write-delay'],
    patch: shownLater(() => true, 1_000),
  },
  'lists-from-a-replica': {
    summary: 'lists for two seconds what was there before a write',
    changes: ['operations.write-delay'],
    patch: shownLater(lists, 2_000),
  },
  'second-key-at-once-is-409': {
    summary: 'says 409 to a request under an Idempotency-Key whose first request is still at work',
    patch: atOnce(() => asProblem(409)(problem('key-reused'))),
  },
  'second-key-at-once-is-422': {
    summary: 'says 422 to a request under an Idempotency-Key whose first request is still at work',
    patch: atOnce(() => problem('key-reused')),
  },
  'second-key-at-once-waits': {
    summary: 'lets a request wait for the first one under its Idempotency-Key, and answers both alike',
    patch: remembering(
      () => new Map<string, Promise<unknown>>(),
      (atWork) =>
        aroundHandling(async (request, next, kernel) => {
          const key = fieldValue(request, 'idempotency-key');
          if (key === undefined) return next(request, kernel);
          const before = atWork.get(key) ?? kernel.clock.sleep(200);
          const answer = before.then(() => next(request, kernel));
          atWork.set(key, answer);
          return answer;
        }),
    ),
  },
  'failed-key-is-used-up': {
    summary: 'says 422 to whatever comes under the Idempotency-Key of a request that was refused',
    patch: afterFailure(() => problem('key-reused')),
  },
  'json-patch-refused-with-409': {
    summary: 'says 409 to a JSON patch whose test fails',
    patch: inJsonPatch(async (_, request, next) => {
      const answer = await next(request);
      return answer.responseKind === 'invalid-content' ? asProblem(409)(problem('key-reused')) : answer;
    }),
  },
  'json-patch-refused-with-422': {
    summary: 'says 422 to a JSON patch whose test fails',
    patch: inJsonPatch(async (_, request, next) => {
      const answer = await next(request);
      return answer.responseKind === 'invalid-content' ? problem('key-reused') : answer;
    }),
  },
  'json-patches-need-a-permission': {
    summary: 'says 403 to every JSON patch',
    patch: inJsonPatch(() => asProblem(403)(problem('not-found'))),
  },
  'key-comes-once': {
    summary: 'says 409 to whatever comes again under an Idempotency-Key',
    patch: together(
      atRepetition(
        creates,
        (request) => fieldValue(request, 'idempotency-key'),
        () => asProblem(409)(problem('key-reused')),
      ),
      afterFailure(() => asProblem(409)(problem('key-reused'))),
    ),
  },
  'failed-key-tells-that-it-repeats': {
    summary: 'marks what it says again of a request that was refused under an Idempotency-Key',
    patch: afterFailure(async (request, next) =>
      withField(await next(request), 'Idempotency-Replayed', 'true'),
    ),
  },
});

/** Other ways to keep a documented time until a write shows. */
export const DELAY_VARIANTS = tableOf<Variant>(under('late writes documented', SEARCH), {
  'shows-writes-in-time': {
    summary: 'shows each write after most of the time that its documents name',
    changes: ['operations.write-delay'],
    patch: shownLater(() => true, 7_000),
  },
  'lists-new-items-in-time': {
    summary: 'lists a new item after most of the time that its documents name',
    changes: ['operations.write-delay'],
    patch: shownLater(lists, 7_500),
  },
});

/** Other ways to keep the items of one account from others. */
export const ACCOUNT_VARIANTS = tableOf<Variant>(under('own searches', SEARCH), {
  'hides-items-of-others': {
    summary: 'says of the items of other accounts that they are not there',
    patch: ownItems(),
  },
  'keeps-items-apart-undocumented': {
    setting: 'saved searches',
    summary: 'hides the items of other accounts, and no document says so',
    changes: ['operations.items-of-others'],
    patch: ownItems(),
  },
  'forbids-items-of-others': {
    summary: 'says 403 for the items of other accounts',
    patch: ownItems({ refusal: 'forbidden' }),
  },
  'deletes-nothing-of-others-with-204': {
    summary: 'says 204 to the deletion of an item of another account, and keeps it',
    patch: ownItems({ refusal: 'already gone' }),
  },
});
