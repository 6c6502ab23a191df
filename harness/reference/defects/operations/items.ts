import type { JsonObject } from '../../../base/json-text.ts';
import { type Defect, tableOf, under } from '../../behavior/deviation.ts';
import { admitting } from '../../behavior/patches/parts.ts';
import {
  aroundHandling,
  beforehand,
  insteadOfServing,
  onAnswer,
  onReceipt,
  type Patch,
  remembering,
  together,
} from '../../behavior/patches/patch.ts';
import { entityTagOf } from '../../behavior/preconditions.ts';
import { bare, type HttpAnswer, problem, served } from '../../http/answer.ts';
import {
  asProblem,
  failed,
  having,
  lacking,
  withContent,
  withMembers,
  writtenAs,
} from '../../http/answer-changes.ts';
import {
  fieldValue,
  objectIn,
  type ReceivedRequest,
  sending,
  withField,
  withoutField,
} from '../../http/message.ts';
import {
  afterFailure,
  atOnce,
  atRepetition,
  creates,
  inBody,
  inItem,
  inJsonPatch,
  inList,
  isTo,
  lists,
  ownItems,
  reads,
  removes,
  shownLater,
} from '../../services/item-patches.ts';
import { isItem, SEARCHES } from '../../services/saved-searches.ts';

const without = (members: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([each]) => each !== name));

/** Lists keep what was deleted, and have this number of further items. */
const keepingItems = (others: number): Patch =>
  remembering(
    () => new Map<unknown, JsonObject>(),
    (known) =>
      inList((items) => {
        for (const item of items) known.set(item.id, item);
        const more = Array.from({ length: others }, (_, at) => ({ ...items[0], id: `other-${at}` }));
        return [...known.values(), ...more];
      }),
  );

/** A JSON patch with other operations. */
const withSteps = (request: ReceivedRequest, steps: readonly JsonObject[]): ReceivedRequest => ({
  ...request,
  body: Buffer.from(JSON.stringify(steps)),
});

export const LIFECYCLE_DEFECTS = tableOf<Defect>(under('saved searches'), {
  'item-texts-cut-off': {
    cause: 'A text is cut off after 64 bytes',
    fails: ['operations.text-kept'],
    patch: inItem(reads, (item) => ({
      ...item,
      name: Buffer.from(String(item.name)).subarray(0, 64).toString('utf8'),
    })),
  },
  'item-texts-garbled': {
    cause: 'A text is decoded in another character set',
    fails: ['operations.text-kept'],
    patch: inItem(reads, (item) => ({ ...item, name: Buffer.from(String(item.name)).toString('latin1') })),
  },
  'creation-says-nothing': {
    cause: 'The answer to a creation says neither by Location nor by an id where the item is',
    fails: ['operations.created-says-where'],
    alsoFails: { 'operations.schema': 'the documents promise the item' },
    patch: insteadOfServing(creates, (answer) =>
      withContent(withoutField(answer, 'Location'), 'application/json', '{"created":true}'),
    ),
  },
  'location-points-nowhere': {
    cause: 'There is nothing where the Location of a new item points',
    fails: ['operations.created-place'],
    patch: insteadOfServing(creates, (answer) =>
      withField(answer, 'Location', (fieldValue(answer, 'location') ?? '').replace('/v1', '')),
    ),
  },
  'location-is-collection-of-other-name': {
    cause: 'The Location of a new item is answered {status:404}',
    fails: ['operations.created-place'],
    patch: insteadOfServing(creates, (answer) =>
      withField(answer, 'Location', (fieldValue(answer, 'location') ?? '').replace('searches', 'search')),
    ),
  },
  'creation-drops-optional-member': {
    cause: 'A member of a new item is not stored',
    fails: ['operations.read-back'],
    patch: inItem(reads, (item) => without(item, 'pageSize')),
  },
  'creation-cuts-text': {
    cause: 'A text is stored without its end',
    fails: ['operations.read-back'],
    patch: inItem(reads, (item) => ({ ...item, text: String(item.text).slice(0, 5) })),
  },
  'creation-stores-false-as-true': {
    cause: 'A flag is not read as it was written',
    fails: ['operations.read-back'],
    patch: inItem(reads, (item) => ({ ...item, shared: false })),
  },
  'new-item-is-404': {
    cause: 'An item that was just created is answered {status:404}',
    fails: ['operations.read-back'],
    alsoFails: {
      'operations.status': 'an item of the run is called as documented',
    },
    patch: insteadOfServing(reads, () => problem('not-found')),
  },
  'cache-forgets-id': {
    cause: 'Another item comes than the one that was asked for',
    fails: ['operations.item-asked-for'],
    patch: remembering(
      () => ({ last: null as HttpAnswer | null, isOn: false }),
      (cache) =>
        aroundHandling(async (request, next, kernel) => {
          const kept = cache.last;
          cache.isOn ||= creates(request);
          if (!creates(request) && !reads(request)) cache.last = null;
          const answer = await next(request, kernel);
          if (!cache.isOn || !reads(request) || answer.responseKind !== 'served') return answer;
          cache.last ??= answer;
          return kept ?? answer;
        }),
    ),
  },
  'new-item-gets-known-id': {
    cause: 'Two new items have the same id',
    fails: ['operations.unique-ids'],
    alsoFails: {
      'operations.text-kept': 'removing its twin removes the item',
    },
    patch: remembering(
      () => ({ id: '', isOn: false }),
      (memory) =>
        insteadOfServing(
          (request) => creates(request) || reads(request),
          (answer, request) => {
            memory.isOn ||= creates(request);
            if (reads(request) && memory.isOn) memory.id = request.path.split('/').at(-1) ?? '';
            if (reads(request) || memory.id === '') return answer;
            const { id } = memory;
            memory.id = '';
            return withMembers(withField(answer, 'Location', `${SEARCHES}/${id}`), { id });
          },
        ),
    ),
  },
  'list-lacks-new-item': {
    cause: 'The list lacks an item that was just created',
    fails: ['operations.list-has-new'],
    patch: inList(() => []),
  },
  'update-is-ignored': {
    cause: 'A change that was accepted is not stored',
    fails: ['operations.update-applied'],
    alsoFails: {
      'operations.negative-type': 'what is not read is not refused',
      'operations.negative-format': 'what is not read is not refused',
      'operations.negative-range': 'what is not read is not refused',
      'operations.negative-surplus': 'what is not read is not refused',
    },
    patch: inBody(isTo('PATCH', isItem), () => ({})),
  },
  'update-replaces-all': {
    // RFC 5789 §2
    cause: 'A partial update deletes what it does not name',
    fails: ['operations.update-keeps-rest'],
    patch: inBody(isTo('PATCH', isItem), (members) => ({
      text: 'none',
      pageSize: 100,
      shared: true,
      ...members,
    })),
  },
  'replacement-is-ignored': {
    cause: 'What was put is not stored',
    fails: ['operations.replace-applied'],
    alsoFails: {
      'operations.negative-type': 'what is not read is not refused',
      'operations.negative-format': 'what is not read is not refused',
      'operations.negative-missing': 'what is not read is not refused',
      'operations.negative-range': 'what is not read is not refused',
      'operations.negative-surplus': 'what is not read is not refused',
    },
    patch: aroundHandling((request, next, kernel) =>
      isTo('PUT', isItem)(request) ? next({ ...request, method: 'GET' }, kernel) : next(request, kernel),
    ),
  },
  'second-put-is-500': {
    cause: 'The same PUT, sent again, is answered {status:500}, a server error',
    fails: ['operations.replace-again'],
    patch: atRepetition(isTo('PUT', isItem), ({ body }) => body.toString('utf8'), failed),
  },
  'second-put-is-409': {
    cause: 'The same PUT, sent again, is answered {status:409}',
    fails: ['operations.replace-again'],
    alsoFails: {
      'json.problem-details': 'the content still names the status that it should have',
    },
    patch: atRepetition(
      isTo('PUT', isItem),
      ({ body }) => body.toString('utf8'),
      () => ({ ...problem('invalid-content'), status: 409 }),
    ),
  },
  'updates-despite-if-match': {
    cause: 'A change under an ETag that is out of date is carried out',
    fails: ['operations.lost-update'],
    patch: onReceipt(lacking('If-Match')),
  },
  'if-match-never-matches': {
    cause: 'A change under the current ETag is answered {status:412}',
    fails: ['operations.current-etag', 'caching.if-match'],
    patch: onReceipt(having('If-Match', '"none"'), sending('if-match')),
  },
  'client-renames-item': {
    cause: 'A client can give an item another id',
    fails: ['operations.id-kept'],
    patch: remembering(
      () => new Set<string>(),
      (renamed) =>
        aroundHandling((request, next, kernel) => {
          const body = isTo('PATCH', isItem)(request) ? objectIn(request) : null;
          if (body !== null && 'id' in body) {
            renamed.add(request.path);
            return next({ ...request, method: 'GET' }, kernel);
          }
          return renamed.has(request.path) && request.method === 'GET'
            ? problem('not-found')
            : next(request, kernel);
        }),
    ),
  },
  'secret-is-read-back': {
    cause: 'A member that is marked writeOnly is sent back',
    fails: ['operations.write-only'],
    patch: inItem(reads, (item) => ({ ...item, token: 'conform' })),
  },
  'deletion-is-ignored': {
    cause: 'An item is still there after it was deleted',
    fails: ['operations.delete-applied'],
    patch: aroundHandling(async (request, next, kernel) => {
      if (!removes(request)) return next(request, kernel);
      const answer = await next({ ...request, method: 'GET' }, kernel);
      return answer.responseKind === 'served' ? bare('served', 204) : answer;
    }),
  },
  'deleted-item-is-500': {
    cause: 'An item that was deleted is answered {status:500}, a server error',
    fails: ['operations.delete-applied'],
    alsoFails: {
      'operations.path-value': 'no item has that name either',
    },
    patch: onAnswer('not-found', failed, reads),
  },
  'list-keeps-deleted-item': {
    cause: 'The list still has an item that was deleted',
    fails: ['operations.list-forgets'],
    patch: keepingItems(0),
  },
  'long-list-keeps-deleted-item': {
    cause: 'A list of many items still has one that was deleted',
    fails: ['operations.list-forgets'],
    patch: keepingItems(12),
  },
  'item-keeps-its-etag': {
    cause: 'An item keeps its strong ETag when it changes',
    fails: ['caching.etag-changes'],
    patch: onAnswer('served', (answer, { path }) => withField(answer, 'ETag', `"${path.length}"`), reads),
  },
  'list-shows-item-twice': {
    cause: 'A list has the same item twice',
    fails: ['operations.created-once'],
    patch: inList((items) => [...items, ...items.slice(-1), ...items.slice(-2)]),
  },
  'creation-runs-twice': {
    cause: 'A creation is carried out twice',
    fails: ['operations.created-once'],
    patch: aroundHandling(async (request, next, kernel) => {
      if (creates(request) && /"name":"[^"]* conform"/.test(request.body.toString('utf8')))
        await next(request, kernel);
      return next(request, kernel);
    }),
  },
  'put-of-item-is-201': {
    cause: 'PUT of an item that is there is answered {status:201}',
    fails: ['operations.replace-status'],
    alsoFails: {
      'operations.status': 'the document names 200 alone',
      'operations.answer-status': 'the document names no 201',
    },
    patch: insteadOfServing(isTo('PUT', isItem), (answer) => ({ ...answer, status: 201 })),
  },
  'put-has-etag-of-request': {
    cause: 'The answer to PUT has another ETag than the item',
    fails: ['operations.written-etag'],
    patch: insteadOfServing(isTo('PUT', isItem), (answer, { body }) =>
      withField(answer, 'ETag', entityTagOf(body)),
    ),
  },
  'creation-has-old-etag': {
    cause: 'The answer to a creation has another ETag than the item',
    fails: ['operations.written-etag'],
    patch: insteadOfServing(creates, (answer) => withField(answer, 'ETag', '"0"')),
  },
  'overwrites-despite-if-none-match': {
    cause: 'PUT with If-None-Match: * overwrites an item',
    fails: ['operations.if-none-match'],
    patch: onReceipt(lacking('If-None-Match'), isTo('PUT', isItem)),
  },
  'refused-change-is-half-stored': {
    cause: 'A change that is refused is carried out in part',
    fails: ['operations.refused-change'],
    patch: aroundHandling(async (request, next, kernel) => {
      const answer = await next(request, kernel);
      const members = isTo('PATCH', isItem)(request) ? objectIn(request) : null;
      if (members === null || answer.responseKind !== 'invalid-content') return answer;
      for (const [name, value] of Object.entries(members)) {
        await next({ ...request, body: Buffer.from(JSON.stringify({ [name]: value })) }, kernel);
      }
      return answer;
    }),
  },
  'client-sets-time-of-creation': {
    cause: 'A client can set a member that is readOnly',
    fails: ['operations.read-only-kept'],
    alsoFails: { 'caching.etag-changes': 'the tag is that of the item without it' },
    patch: remembering(
      () => new Map<string, unknown>(),
      (stamps) =>
        together(
          onReceipt((request) => {
            const { createdAt, ...members } = objectIn(request) ?? {};
            if (!isTo('PATCH', isItem)(request) || createdAt === undefined) return request;
            stamps.set(request.path, createdAt);
            return { ...request, body: Buffer.from(JSON.stringify(members)) };
          }),
          insteadOfServing(reads, (answer, { path }) =>
            stamps.has(path) ? withMembers(answer, { createdAt: stamps.get(path) }) : answer,
          ),
        ),
    ),
  },
  'put-merges': {
    cause: 'PUT leaves what it does not name as it was',
    fails: ['operations.replace-drops-rest'],
    patch: aroundHandling(async (request, next, kernel) => {
      const members = isTo('PUT', isItem)(request) ? objectIn(request) : null;
      if (members === null || !('name' in members && 'text' in members)) return next(request, kernel);
      const known = await next({ ...request, method: 'GET' }, kernel);
      if (known.responseKind !== 'served') return next(request, kernel);
      const { id: _, createdAt: __, ...kept } = JSON.parse(known.body.toString('utf8'));
      return next({ ...request, body: Buffer.from(JSON.stringify({ ...kept, ...members })) }, kernel);
    }),
  },
  'merge-patch-passes-over-null': {
    cause: 'A merge patch with null does not remove the member',
    fails: ['operations.merge-patch-null'],
    patch: inBody(isTo('PATCH', isItem), (members) =>
      Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)),
    ),
  },
  'json-patch-is-415': {
    cause: 'A documented JSON patch is answered {status:415}',
    fails: ['operations.json-patch-taken'],
    patch: inJsonPatch(() => problem('unsupported-media-type')),
  },
  'json-patch-is-ignored': {
    cause: 'A JSON patch that was accepted is not stored',
    fails: ['operations.json-patch-applied'],
    patch: inJsonPatch((_, request, next) => next({ ...request, method: 'GET' })),
  },
  'json-patch-passes-over-test': {
    cause: 'A JSON patch is carried out although its test fails',
    fails: ['operations.json-patch-test'],
    patch: inJsonPatch((steps, request, next) =>
      next(
        withSteps(
          request,
          steps.filter(({ op }) => op !== 'test'),
        ),
      ),
    ),
  },
  'json-patch-test-is-500': {
    cause: 'A JSON patch whose test fails is answered {status:500}, a server error',
    fails: ['operations.json-patch-test'],
    patch: inJsonPatch(async (steps, request, next) => {
      const answer = await next(request);
      return steps.length > 1 ? failed(answer) : answer;
    }),
  },
  'json-patch-is-half-stored': {
    cause: 'A JSON patch whose test fails is carried out up to the test',
    fails: ['operations.json-patch-atomic'],
    patch: inJsonPatch(async (steps, request, next) => {
      const end = steps.findIndex(({ op }) => op === 'test');
      if (end > 0) await next(withSteps(request, steps.slice(0, end)));
      return next(request);
    }),
  },
  'second-deletion-is-500': {
    cause: 'Deleting an item a second time is answered {status:500}, a server error',
    fails: ['operations.delete-again'],
    patch: onAnswer('not-found', failed, removes),
  },
  'deletion-deletes-all': {
    cause: 'Deleting one item deletes the others',
    fails: ['operations.others-untouched'],
    patch: remembering(
      () => ({ isEmpty: false }),
      (memory) =>
        beforehand((request) => {
          if (removes(request)) memory.isEmpty = true;
          if (creates(request)) memory.isEmpty = false;
          return memory.isEmpty && reads(request) ? problem('not-found') : null;
        }),
    ),
  },
  'update-changes-others': {
    cause: 'Changing one item changes the others',
    fails: ['operations.others-untouched'],
    alsoFails: { 'caching.etag-changes': 'the tag is that of the item before' },
    patch: remembering(
      () => ({ name: '', there: new Set<unknown>(), changed: new Set<unknown>() }),
      (memory) =>
        together(
          inItem(creates, (item) => {
            memory.there.add(item.id);
            return item;
          }),
          inItem(isTo('PUT', isItem), (item) => {
            memory.name = String(item.name);
            memory.changed = new Set([...memory.there].filter((id) => id !== item.id));
            return item;
          }),
          inItem(reads, (item) => (memory.changed.has(item.id) ? { ...item, name: memory.name } : item)),
        ),
    ),
  },
  'deletion-has-content': {
    cause: 'The 204 to a deletion comes with a body',
    fails: ['operations.delete-no-content'],
    alsoFails: { 'status.no-content': 'any 204 with content breaks that rule' },
    patch: insteadOfServing(
      removes,
      writtenAs((head) =>
        Buffer.from(`${head.toString('latin1').trimEnd()}\r\nContent-Length: 2\r\n\r\n{}`, 'latin1'),
      ),
    ),
  },
  'ignores-idempotency-key': {
    cause: 'The same Idempotency-Key creates a second item',
    fails: ['operations.idempotency-key'],
    alsoFails: { 'operations.idempotency-key-reused': 'the key is never looked at' },
    patch: onReceipt(lacking('Idempotency-Key')),
  },
  'second-use-of-idempotency-key-500': {
    cause: 'An Idempotency-Key that comes again is answered {status:500}, a server error',
    fails: ['operations.idempotency-key'],
    patch: atRepetition(creates, (request) => fieldValue(request, 'idempotency-key'), failed),
  },
  'idempotency-key-races': {
    cause: 'Two requests at once under one Idempotency-Key create two items',
    fails: ['operations.idempotency-key-at-once'],
    patch: atOnce((request, next) => next(lacking('Idempotency-Key')(request))),
  },
  'idempotency-key-at-once-500': {
    cause:
      'The second of two requests at once under one Idempotency-Key is answered {status:500}, a server error',
    fails: ['operations.idempotency-key-at-once'],
    patch: atOnce(async (request, next) => failed(await next(request))),
  },
  'failed-idempotency-key-stays-locked': {
    cause: 'The Idempotency-Key of a request that was refused is locked',
    fails: ['operations.idempotency-key-after-failure'],
    patch: afterFailure(() => asProblem(409)(problem('key-reused'))),
  },
  'failed-idempotency-key-is-500': {
    cause: 'The Idempotency-Key of a request that was refused is answered {status:500}, a server error',
    fails: ['operations.idempotency-key-after-failure'],
    patch: afterFailure(() => failed(problem('invalid-content'))),
  },
  'failed-idempotency-key-is-served': {
    cause: 'A request that was refused is carried out when it comes again under its Idempotency-Key',
    fails: ['operations.idempotency-key-after-failure'],
    patch: afterFailure((request, next) => {
      const { pageSize: _, shared: __, ...members } = objectIn(request) ?? {};
      return next({ ...request, body: Buffer.from(JSON.stringify(members)) });
    }),
  },
  'idempotency-key-hides-other-content': {
    cause: 'An Idempotency-Key that was used for something else is served',
    fails: ['operations.idempotency-key-reused'],
    alsoFails: {
      'operations.schema': 'the item that is served lacks what the schema demands',
    },
    patch: onAnswer('key-reused', () => ({ ...served({ id: 'first' }), status: 201 })),
  },
  'deletion-skips-auth': {
    cause: 'Anyone can delete an item without a credential',
    fails: ['operations.item-auth'],
    alsoFails: {
      'operations.auth-required': 'the operation is called without a credential as well',
    },
    patch: admitting(removes),
  },
  'item-skips-auth': {
    cause: 'An item can be read without a credential',
    fails: ['operations.item-auth'],
    alsoFails: {
      'operations.auth-required': 'the operation is called without a credential as well',
    },
    patch: admitting(reads),
  },
  'update-skips-auth': {
    cause: 'Anyone can change an item without a credential',
    fails: ['operations.item-auth'],
    alsoFails: {
      'operations.auth-required': 'the operation is called without a credential as well',
    },
    patch: admitting(isTo('PATCH', isItem)),
  },
});

/** Of a service whose documents name the time after which a write shows. */
export const DELAY_DEFECTS = tableOf<Defect>(under('late writes documented'), {
  'list-is-later-than-documented': {
    cause: 'A new item is in the list later than documented',
    fails: ['operations.list-has-new'],
    patch: shownLater(lists, 10_000),
  },
  'items-are-later-than-documented': {
    cause: 'A new item can be read later than documented',
    fails: ['operations.read-back'],
    patch: shownLater(reads, 10_000),
  },
});

export const ACCOUNT_DEFECTS = tableOf<Defect>(under('own searches'), {
  'items-open-to-other-accounts': {
    cause: 'Any account can read the items of others',
    fails: ['operations.item-of-another'],
    patch: ownItems({ open: ['GET'] }),
  },
  'lists-items-of-all-accounts': {
    cause: 'The list has the items of other accounts',
    fails: ['operations.list-of-another'],
    patch: ownItems({ listsAll: true }),
  },
  'other-accounts-change-items': {
    cause: 'Any account can change the items of others',
    fails: ['operations.other-account-writes'],
    patch: ownItems({ open: ['PATCH'] }),
  },
  'other-accounts-delete-items': {
    cause: 'Any account can delete the items of others',
    fails: ['operations.other-account-writes'],
    patch: ownItems({ open: ['DELETE'] }),
  },
  'idempotency-keys-of-all-accounts': {
    cause: 'An account gets the item of another one by its Idempotency-Key',
    fails: ['operations.idempotency-key-of-another'],
    patch: ownItems({ sharesKeys: true }),
  },
  'items-known-by-id-alone': {
    cause: 'Any account can read, change and delete the items of others',
    fails: ['operations.item-of-another', 'operations.other-account-writes'],
    patch: ownItems({ open: ['GET', 'PUT', 'PATCH', 'DELETE'] }),
  },
});
