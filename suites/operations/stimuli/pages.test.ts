import { describe, expect, it } from 'vitest';
import { described, inJson } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import { received } from './fixtures/documented.ts';
import {
  countOf,
  isWhole,
  nextOf,
  numbersIn,
  pagedLists,
  pathOfNext,
  totalOf,
  whyElsewhere,
} from './pages.ts';
import { orderOf } from './stimulus.ts';
import { OperationReply } from './trials.ts';

const integer = { type: 'integer' };
const parameter = (name: string, schema: object = integer) => ({ name, in: 'query', schema });
const LIST = { type: 'object', properties: { items: { type: 'array', items: {} } } };

const serviceWith = (parameters: readonly object[], schema: object = LIST) =>
  described({
    openapi: '3.1.0',
    paths: { '/things': { get: { parameters, responses: { 200: inJson(schema) } } } },
  });

const config = await serviceWith([parameter('limit'), parameter('cursor', { type: 'string' })]);
const [operation] = config.operations;
if (operation === undefined) throw new Error('the document has an operation');
const order = orderOf(operation, operation, 'as documented');

const URL_OF_PAGE = 'http://127.0.0.1:8080/v1/things?limit=2';

/** A page with this body. */
const page = (value: unknown, { link, status = 200 }: { link?: string; status?: number } = {}) =>
  new OperationReply(
    order,
    received({
      status,
      text: JSON.stringify(value),
      fields: link === undefined ? [] : [['Link', link]],
      request: { url: URL_OF_PAGE, target: '/v1/things?limit=2' },
    }),
  );

describe('the next page', () => {
  const next = (...asked: Parameters<typeof page>) => nextOf(page(...asked))?.href ?? null;

  // RFC 8288 §3.
  it('is where the field Link leads, below the address of the page', () => {
    expect(next({}, { link: '</v1/things?at=2>; rel="next"' })).toBe('http://127.0.0.1:8080/v1/things?at=2');
    expect(next({}, { link: '<?at=2>; rel="prev next"' })).toBe('http://127.0.0.1:8080/v1/things?at=2');
    expect(next({}, { link: '<?at=1>; rel=prev, <?at=3>; rel=next' })).toBe(
      'http://127.0.0.1:8080/v1/things?at=3',
    );
    expect(next({ next: '?at=9' }, { link: '<?at=2>; rel=next' })).toContain('at=2');
  });

  it.each([
    [{ next: '/v1/things?at=2' }],
    [{ next_url: 'http://127.0.0.1:8080/v1/things?at=2' }],
    [{ links: { next: '?at=2' } }],
    [{ _links: { next: { href: '?at=2' } } }],
    [{ meta: { pagination: { nextPage: '?at=2' } } }],
    [{ items: [], paging: { next: '', cursors: {} }, next: '?at=2' }],
  ])('is where a member leads: %j', (body) => {
    expect(next(body)).toBe('http://127.0.0.1:8080/v1/things?at=2');
  });

  it.each([
    [{ next_cursor: 'a b' }],
    [{ nextPageToken: 'a b' }],
    [{ continuationToken: 'a b' }],
    [{ cursors: { cursor: 'a b' } }],
  ])('is behind the cursor that a member names: %j', (body) => {
    expect(next(body)).toBe('http://127.0.0.1:8080/v1/things?limit=2&cursor=a+b');
  });

  it.each([
    [{}],
    [[{ next: '?at=2' }]],
    [{ next: null }],
    [{ next: '' }],
    [{ next: 2 }],
    [{ previous: '?at=2' }],
    [{ nextVisit: '?at=2' }],
    [{ owner: { next: '?at=2' } }],
    [{ links: { self: { href: '?at=2' } } }],
    [{ links: [{ next: '?at=2' }] }],
  ])('is not there if no member names it: %j', (body) => {
    expect(next(body)).toBeNull();
  });

  it('is not there if the page is refused', () => {
    expect(next({ next: '?at=2' }, { status: 400 })).toBeNull();
  });

  it('is asked for at the service if its public address has the same path', () => {
    expect(next({ next: 'https://api.example/v1/things?at=2' })).toBe('http://127.0.0.1:8080/v1/things?at=2');
    expect(whyElsewhere(page({ next: 'https://api.example/v1/things?at=2' }))).toBeNull();
  });

  it('is not asked for at another address, which the reason names', () => {
    const elsewhere = { next: 'https://api.example/other?at=2' };
    expect(next(elsewhere)).toBeNull();
    expect(whyElsewhere(page(elsewhere))).toBe(
      'its next page is at another address (https://api.example/other)',
    );
    expect(whyElsewhere(page({}))).toBeNull();
  });

  it('is asked for below the base address', () => {
    const url = new URL('http://127.0.0.1:8080/v1/things?at=2');
    expect(pathOfNext(url, page({}))).toBe('/things?at=2');
  });
});

describe('the numbers of a page', () => {
  it.each<[object, number | null]>([
    [{ total: 7 }, 7],
    [{ totalCount: 7 }, 7],
    [{ total_items: 7 }, 7],
    [{ meta: { total: 7 } }, 7],
    [{ pagination: { totalRecords: 0 } }, 0],
    [{ total: '7' }, null],
    [{ total: 7.5 }, null],
    [{ subtotal: 7 }, null],
    [{ totalPrice: 7 }, null],
    [{ owner: { total: 7 } }, null],
    [[7], null],
  ])('hold the total: %j', (body, total) => {
    expect(totalOf(page(body))).toBe(total);
  });

  it.each<[object, number | null]>([
    [{ count: 7 }, 7],
    [{ numItems: 7 }, 7],
    [{ num_found: 7 }, 7],
    [{ accounts: 7 }, null],
    [{ countdown: 7 }, null],
  ])('hold a count: %j', (body, count) => {
    expect(countOf(page(body))).toBe(count);
  });

  it('are whole numbers of an answer', () => {
    expect(numbersIn(page({ a: 1, b: 1.5, meta: { c: 2 }, other: { d: 3 } }))).toEqual([1, 2]);
    expect(numbersIn(page({ a: 1 }, { status: 500 }))).toEqual([]);
  });
});

it('a list has all items if it has fewer than were asked for, and no next page', () => {
  const items = [1, 2, 3, 4];
  const whole = (body: unknown) => isWhole(page(body), 'items');
  expect(whole({ items: items.slice(0, 3) })).toBe(true);
  expect(whole({ items: [] })).toBe(true);
  expect(whole({ items })).toBe(false);
  expect(whole({ items: [1], next: '?at=2' })).toBe(false);
  expect(whole({})).toBe(false);
});

describe('a list in pages', () => {
  const string = { type: 'string' };
  const placesOf = async (...parameters: readonly object[]) =>
    pagedLists(await serviceWith(parameters)).map(({ size, place, list }) => [
      size.name,
      place && [place.input.name, place.first, place.second],
      list,
    ]);

  it.each([
    ['limit', 'cursor'],
    ['page_size', 'pageToken'],
    ['perPage', 'after'],
  ])('is turned over by size and cursor: %s and %s', async (size, cursor) => {
    expect(await placesOf(parameter(size), parameter(cursor, string))).toEqual([[size, null, 'items']]);
  });

  it('is turned over by size and offset', async () => {
    expect(await placesOf(parameter('limit'), parameter('offset'))).toEqual([
      ['limit', ['offset', 0, 2], 'items'],
    ]);
    expect(await placesOf(parameter('limit'), parameter('skip'))).toEqual([
      ['limit', ['skip', 0, 2], 'items'],
    ]);
  });

  it.each<[object, number]>([
    [{ minimum: 1 }, 1],
    [{ default: 0 }, 0],
    [{ minimum: 0, default: 1 }, 1],
  ])('is turned over by the number of a page if the first one is documented: %j', async (schema, first) => {
    for (const name of ['page', 'page_number', 'pageNo', 'pageIndex'])
      expect(await placesOf(parameter('limit'), parameter(name, { ...integer, ...schema }))).toEqual([
        ['limit', [name, first, first + 1], 'items'],
      ]);
  });

  it.each<[string, readonly object[]]>([
    ['no size', [parameter('offset')]],
    ['a size alone', [parameter('limit')]],
    ['two sizes', [parameter('limit'), parameter('page_size'), parameter('offset')]],
    ['an offset and a number', [parameter('limit'), parameter('offset'), parameter('page')]],
    ['a number whose first value is not documented', [parameter('limit'), parameter('page')]],
    ['a number of another kind', [parameter('limit'), parameter('pages', { ...integer, minimum: 1 })]],
    ['a size of text', [parameter('limit', string), parameter('offset')]],
    ['an offset of text', [parameter('limit'), parameter('offset', string)]],
    ['pages of three and more', [parameter('limit', { ...integer, minimum: 3 }), parameter('offset')]],
    ['pages of three at most', [parameter('limit', { ...integer, maximum: 3 }), parameter('offset')]],
    ['pages under four', [parameter('limit', { ...integer, exclusiveMaximum: 4 }), parameter('offset')]],
    ['pages of tens', [parameter('limit', { ...integer, multipleOf: 10 }), parameter('offset')]],
    ['pages of 2 or 10', [parameter('limit', { ...integer, enum: [2, 10] }), parameter('offset')]],
    ['a cursor that must be sent', [parameter('limit'), { ...parameter('cursor', string), required: true }]],
  ])('is not turned over if its document has %s', async (_, parameters) => {
    expect(await placesOf(...parameters)).toEqual([]);
  });

  it.each<[object]>([
    [{ minimum: 2, maximum: 4 }],
    [{ exclusiveMaximum: 5 }],
    [{ multipleOf: 2 }],
    [{ enum: [2, 4] }],
  ])('is turned over with the least pages that its document allows: %j', async (schema) => {
    expect(await placesOf(parameter('limit', { ...integer, ...schema }), parameter('offset'))).toHaveLength(
      1,
    );
  });

  it.each<[boolean, object]>([
    [true, { next: string }],
    [true, { meta: { type: 'object', properties: { next_cursor: string } } }],
    [false, { owner: { type: 'object', properties: { next: string } } }],
    [false, { meta: { type: 'object', properties: { version: string } } }],
    [false, {}],
  ])('names its next page (%s) by its documented members: %j', async (names, properties) => {
    const schema = { ...LIST, properties: { ...LIST.properties, ...properties } };
    const [list] = pagedLists(await serviceWith([parameter('limit'), parameter('cursor', string)], schema));
    expect(list?.namesNext).toBe(names);
  });
});
