import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject, parseJson, parseJsonObject } from '../../base/json-text.ts';
import { entityTagOf } from '../behavior/preconditions.ts';
import { bare, type HttpAnswer, problem, served } from '../http/answer.ts';
import {
  fieldValue,
  queryParameters,
  type ReceivedRequest,
  type RequestCondition,
  sending,
} from '../http/message.ts';
import type { Route, RouteCall } from '../http/routes.ts';

export const SEARCHES = '/v1/searches';
export const isItem: RequestCondition = ({ path }) => path.startsWith(`${SEARCHES}/`);
/** The first ones once more, in pages of which each names the next. */
export const STARTERS = '/v1/starters';
export const isOfStarters: RequestCondition = ({ path }) => path === STARTERS;
/** Begins to export them; each export is a job with a status. */
export const EXPORTS = '/v1/exports';
export const JOBS = '/v1/jobs';
/** In place of the number of times that its status was read. */
const CANCELLED = -1;
const MAX_PAGE = 50;

/** What a client may write of a saved search; `token` it never reads. */
const WRITABLE: Readonly<Record<string, (value: unknown) => boolean>> = {
  name: isText(80),
  text: isText(100),
  pageSize: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100,
  shared: (value) => typeof value === 'boolean',
  note: (value) => value === null || isText(200)(value),
  until: (value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)),
  token: isText(80),
};
const REQUIRED = ['name', 'text'];
/** The items before any client saves one, each with its group and its place among the popular ones. */
const FIRST = [
  { id: 'articles', group: 'text', rank: 9 },
  { id: 'prices', group: 'data', rank: 10 },
  { id: 'indexes', group: 'data', rank: 30 },
  { id: 'skills', group: 'text', rank: 3 },
  { id: 'vectors', group: 'data', rank: 30 },
] as const;
type Starter = (typeof FIRST)[number];

/** The order of two starters by one of their members. */
type Compare = (a: Starter, b: Starter, member: 'id' | 'rank') => number;
const byValue: Compare = (a, b, member) => Number(a[member] > b[member]) - Number(a[member] < b[member]);

/** A page of starters, of those that are left by the filter and sorted so; null if the query asks for none. */
export function pageOfStarters(query: URLSearchParams, compare: Compare = byValue): JsonObject | null {
  const limit = numberIn(query, 'limit', MAX_PAGE);
  const [group, sort] = [query.get('group'), query.get('sort')];
  const from = placeIn(query.get('cursor'), group);
  if (limit === null || from === null || limit < 1 || limit > MAX_PAGE) return null;
  if (group !== null && !GROUPS.has(group)) return null;
  const [, sign, member] = /^(-?)(id|rank)$/.exec(sort ?? '') ?? [];
  if (sort !== null && member === undefined) return null;
  const kept = FIRST.filter((starter) => group === null || starter.group === group);
  const all =
    member === 'id' || member === 'rank'
      ? kept.toSorted((a, b) => compare(a, b, member) * (sign === '-' ? -1 : 1))
      : kept;
  const next = from + limit < all.length ? cursorOf(from + limit, group) : null;
  return { items: all.slice(from, from + limit), total: all.length, nextCursor: next };
}

const GROUPS: ReadonlySet<string> = new Set(FIRST.map(({ group }) => group));

function isText(most: number): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && value !== '' && value.length <= most;
}

/** RFC 7396 §2. */
function merged(item: JsonObject, changes: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...item, ...changes }).filter(([, value]) => value !== null));
}

/** The members that a body sets; null where it is no object, holds others, or holds values that they cannot have. */
function membersIn({ method, body }: ReceivedRequest): JsonObject | null {
  const members = parseJsonObject(body.toString('utf8'));
  if (members === null) return null;
  const isRemoval = (name: string, value: unknown) =>
    method === 'PATCH' && value === null && !REQUIRED.includes(name);
  const isFit = ([name, value]: [string, unknown]) =>
    Object.hasOwn(WRITABLE, name) && (WRITABLE[name]?.(value) || isRemoval(name, value));
  return Object.entries(members).every(isFit) ? members : null;
}

/** RFC 6902, of members alone; null if an operation cannot be carried out, or a test fails. */
function patched(item: JsonObject, patch: unknown): JsonObject | null {
  let now: JsonObject = { ...item };
  for (const step of Array.isArray(patch) ? patch : [null]) {
    if (!isJsonObject(step) || typeof step.path !== 'string') return null;
    const name = step.path.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
    if (step.op === 'test' ? now[name] !== step.value : step.op !== 'replace' || !(name in now)) return null;
    now = step.op === 'test' ? now : { ...now, [name]: step.value };
  }
  return Object.entries(now).every(([name, value]) => WRITABLE[name]?.(value)) ? now : null;
}

const shown = ({ token: _, ...item }: JsonObject): JsonObject => item;

/**
 * Searches that clients save: created, read, changed and removed, with ETags, pages and repeatable creation. What one
 * running service holds is its own.
 */
export function savedSearches(): readonly Route[] {
  const items = new Map(
    FIRST.map(({ id }): [string, JsonObject] => [
      `search-${id}`,
      { name: id, text: id, id: `search-${id}`, createdAt: '2026-01-01T00:00:00.000Z' },
    ]),
  );
  const byKey = new Map<string, { readonly text: string; readonly id: string }>();
  const stored = (id: string, members: JsonObject): JsonObject => {
    const item = { ...members, id, createdAt: items.get(id)?.createdAt ?? new Date().toISOString() };
    items.set(id, item);
    return item;
  };
  /** RFC 9110 §13.1.1: no change under a tag that is no longer that of the item. */
  const isOutdated = (request: ReceivedRequest, item: JsonObject): boolean => {
    const wanted = fieldValue(request, 'if-match');
    return wanted !== undefined && wanted !== '*' && wanted !== entityTagOf(served(shown(item)).body);
  };
  /** RFC 9110 §13.1.2: there is one. */
  const isUnwanted = (request: ReceivedRequest): boolean =>
    request.method === 'PUT' && fieldValue(request, 'if-none-match') === '*';
  const withItem =
    (change: (item: JsonObject, call: RouteCall) => HttpAnswer) =>
    (call: RouteCall): HttpAnswer => {
      const item = items.get(call.parameters.id ?? '');
      if (item === undefined) return problem('not-found');
      const isBarred = isOutdated(call.request, item) || isUnwanted(call.request);
      return isBarred ? problem('precondition-failed') : change(item, call);
    };
  const written = (id: string, members: JsonObject) => served(shown(stored(id, members)));
  const withMembers = (request: ReceivedRequest, change: (members: JsonObject) => HttpAnswer | null) => {
    if (!isJson(request)) return problem('unsupported-media-type');
    const members = membersIn(request);
    return (members && change(members)) ?? problem('invalid-content');
  };
  const isWhole = (members: JsonObject) => REQUIRED.every((name) => name in members);

  /** Number of times that the status of each job was read. */
  const jobs = new Map<string, number>();

  return [
    {
      template: EXPORTS,
      methods: {
        POST: () => {
          const id = randomUUID();
          jobs.set(id, 0);
          return { ...served({ id, state: 'queued' }, [['Location', `${JOBS}/${id}`]]), status: 202 };
        },
      },
    },
    {
      template: `${JOBS}/:id`,
      methods: {
        GET: ({ parameters: { id = '' } }) => {
          const reads = jobs.get(id);
          if (reads === undefined) return problem('not-found');
          if (reads === CANCELLED) return served({ id, state: 'cancelled' });
          jobs.set(id, reads + 1);
          return served(reads === 0 ? { id, state: 'running' } : { id, state: 'done', result: SEARCHES });
        },
        DELETE: ({ parameters: { id = '' } }) => {
          if (!jobs.has(id)) return problem('not-found');
          jobs.set(id, CANCELLED);
          return bare('served', 204);
        },
      },
    },
    {
      template: STARTERS,
      methods: {
        GET: ({ request }) => {
          const page = pageOfStarters(queryParameters(request.query));
          return page === null ? problem('invalid-parameter') : served(page);
        },
      },
    },
    {
      template: SEARCHES,
      methods: {
        GET: ({ request }) => {
          const query = queryParameters(request.query);
          const [limit, offset] = [numberIn(query, 'limit', MAX_PAGE), numberIn(query, 'offset', 0)];
          if (limit === null || offset === null || limit < 1 || limit > MAX_PAGE)
            return problem('invalid-parameter');
          const all = [...items.values()].map(shown);
          const next = `${SEARCHES}?limit=${limit}&offset=${offset + limit}`;
          return served(
            { items: all.slice(offset, offset + limit), total: all.length },
            offset + limit < all.length ? [['Link', `<${next}>; rel="next"`]] : [],
          );
        },
        POST: ({ request }) =>
          withMembers(request, (members) => {
            if (!isWhole(members)) return null;
            const key = fieldValue(request, 'idempotency-key');
            const text = request.body.toString('utf8');
            const earlier = key === undefined ? undefined : byKey.get(key);
            // draft-ietf-httpapi-idempotency-key-header-07 §2.7.
            if (earlier !== undefined && earlier.text !== text) return problem('key-reused');
            const id = earlier?.id ?? randomUUID();
            if (key !== undefined) byKey.set(key, { text, id });
            const item = items.get(id) ?? stored(id, members);
            return { ...served(shown(item), [['Location', `${SEARCHES}/${id}`]]), status: 201 };
          }),
      },
    },
    {
      template: `${SEARCHES}/:id`,
      methods: {
        GET: ({ parameters }) => {
          const item = items.get(parameters.id ?? '');
          return item === undefined ? problem('not-found') : served(shown(item));
        },
        PUT: withItem(({ id }, { request }) =>
          withMembers(request, (members) => (isWhole(members) ? written(String(id), members) : null)),
        ),
        PATCH: withItem(({ id, createdAt: _, ...kept }, { request }) => {
          if (!isJsonPatch(request))
            return withMembers(request, (members) => written(String(id), merged(kept, members)));
          const item = patched(kept, parseJson(request.body.toString('utf8')));
          return item === null ? problem('invalid-content') : written(String(id), item);
        }),
        DELETE: withItem((item) => {
          items.delete(String(item.id));
          return bare('served', 204);
        }),
      },
    },
  ];
}

const isJsonPatch = sending('content-type', /^application\/json-patch\+json *(?:;|$)/i);
const isJson = sending('content-type', /^application\/(?:merge-patch\+)?json *(?:;|$)/i);

/** It holds for the list of one group alone, or for that of all. */
export const cursorOf = (from: number, group: string | null = null): string =>
  Buffer.from(group === null ? `from ${from}` : `from ${from} of ${group}`).toString('base64url');

/** Of a cursor of ours: how many items come before, and of which group they are; null where it is none. */
export function placeOf(cursor: string): { readonly from: number; readonly group: string | null } | null {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, from, group = null] = /^from (\d{1,6})(?: of (\w+))?$/.exec(text) ?? [];
  return from === undefined ? null : { from: Number(from), group };
}

/** A request for the page behind a cursor, for that of the list of another group; others stay as they are. */
export function behindCursor(
  request: ReceivedRequest,
  groupOf: (place: { readonly group: string | null }, query: URLSearchParams) => string | null,
): ReceivedRequest {
  const query = queryParameters(request.query);
  const place = placeOf(query.get('cursor') ?? '');
  if (request.path !== STARTERS || place === null) return request;
  const group = groupOf(place, query);
  query.set('cursor', cursorOf(place.from, group));
  if (group === null) query.delete('group');
  else query.set('group', group);
  return { ...request, query: query.toString() };
}

/** How many items come before in the list of that group; null where the cursor is of another list. */
function placeIn(cursor: string | null, group: string | null): number | null {
  if (cursor === null) return 0;
  const place = placeOf(cursor);
  return place?.group === group ? place.from : null;
}

/** null where it is no whole number. */
function numberIn(query: URLSearchParams, name: string, otherwise: number): number | null {
  const value = query.get(name);
  if (value === null) return otherwise;
  return /^\d{1,6}$/.test(value) ? Number(value) : null;
}
