import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../harness/base/json-text.ts';
import { described, inJson } from '../../harness/config/operation/openapi/fixtures/described.ts';
import { operations } from '../operations/operations.suite.ts';
import { judgedServed, saidOf } from './fixtures/judged.ts';

const ITEMS = ['b', 'c', 'd', 'f', 'g', 'h'].map((letter, rank) => ({
  id: `${letter}e`,
  group: rank % 2 === 0 ? 'text' : 'data',
  rank,
}));

const inQuery = (name: string, schema: object) => ({ name, in: 'query', schema });
const CURSOR = inQuery('cursor', { type: 'string' });
const OFFSET = inQuery('offset', { type: 'integer', minimum: 0 });
const BESIDE = [
  inQuery('limit', { type: 'integer', minimum: 1, maximum: 50 }),
  inQuery('group', { type: 'string', enum: ['text', 'data'] }),
  inQuery('sort', { type: 'string', enum: ['rank', '-rank'] }),
];
const SCHEMA = {
  type: 'object',
  required: ['items'],
  properties: {
    items: { type: 'array', items: { type: 'object' } },
    total: { type: 'integer' },
    nextCursor: { type: ['string', 'null'] },
  },
};

interface Answer {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}
/** `right`: the answer of a service without a fault. */
type Dodge = (right: JsonObject, query: URLSearchParams) => Answer;

const asAsked: Dodge = (body) => ({ body });
const refused: Answer = { status: 400, body: { error: 'no' } };

function rightAnswer(query: URLSearchParams): JsonObject {
  const descends = query.get('sort') === '-rank';
  const meant = ITEMS.filter(({ group }) => [null, group].includes(query.get('group')));
  const sorted = descends ? meant.toReversed() : meant;
  const from = Number(query.get('cursor') ?? query.get('offset') ?? 0);
  const to = from + Number(query.get('limit') ?? 50);
  return {
    items: sorted.slice(from, to),
    total: sorted.length,
    nextCursor: to < sorted.length ? String(to) : null,
  };
}

/** Says of a check over a service with one list, whose place is a cursor or an offset. */
async function saidOfList(check: string, dodge: Dodge, place: object = CURSOR, schema: object = SCHEMA) {
  const serve: RequestListener = ({ url = '' }, response) => {
    const { searchParams } = new URL(url, 'http://host');
    const { status = 200, fields = {}, body } = dodge(rightAnswer(searchParams), searchParams);
    response.writeHead(status, { 'Content-Type': 'application/json', ...fields }).end(JSON.stringify(body));
  };
  const get = {
    parameters: [...BESIDE, place],
    responses: { 200: inJson(schema), 400: { description: 'refused' } },
  };
  const document = { openapi: '3.1.0', info: { title: 'List', version: '1' }, paths: { '/things': { get } } };
  return saidOf(await judgedServed(serve, await described(document), [operations]), check);
}

const isShort = (query: URLSearchParams) => query.get('limit') === '2';

/** Everything, whatever was asked for. */
const all = (): JsonObject => ({ items: ITEMS, total: ITEMS.length });

describe('a list in pages', () => {
  it.for([
    'operations.page-size',
    'operations.pages-disjoint',
    'operations.pages-complete',
    'operations.pages-end',
    'operations.filter-applied',
    'operations.pages-filter',
    'operations.sort-applied',
    'operations.sort-over-pages',
  ])('is right for %s', async (check) => {
    expect(await saidOfList(check, asAsked)).toMatch(/^pass/);
  });

  it.for<readonly [what: string, check: string, said: RegExp, dodge: Dodge, place?: object]>([
    [
      'with a second list beside its own',
      'operations.page-size',
      /^fail: .*6 items/,
      () => ({ body: { ...all(), notes: [] } }),
    ],
    [
      'with a second list in its pages alone',
      'operations.page-size',
      /^fail: .*6 items/,
      (right, query) => ({ body: isShort(query) ? { ...all(), notes: [] } : right }),
    ],
    [
      'without its list in its pages',
      'operations.page-size',
      /^blocked: .*holds no one list of items/,
      (right, query) => ({ body: isShort(query) ? { total: 6 } : right }),
    ],
    [
      'whose short pages are refused',
      'operations.page-size',
      /^blocked: .*its status is 400/,
      (right, query) => (isShort(query) ? refused : { body: right }),
    ],
    [
      'whose second page is refused',
      'operations.pages-disjoint',
      /^blocked: .*its status is 400/,
      (right, query) => (query.get('offset') === '2' ? refused : { body: right }),
      OFFSET,
    ],
    [
      'whose longer page is refused, and whose shorter ones overlap',
      'operations.pages-disjoint',
      /^fail: .*again/,
      (right, query) =>
        query.get('limit') === '4'
          ? refused
          : { body: isShort(query) ? { items: ITEMS.slice(0, 2) } : right },
      OFFSET,
    ],
    [
      'whose short page names no next one',
      'operations.pages-complete',
      /^blocked: .*names no next page, although the list goes on/,
      (right, query) => ({ body: isShort(query) ? { ...right, nextCursor: null } : right }),
    ],
    [
      'whose next pages are empty, one after the other',
      'operations.pages-complete',
      /^blocked: .*its next 4 pages hold too few items/,
      (right, query) => ({
        body: query.has('cursor') ? { items: [], nextCursor: `${query.get('cursor')}0` } : right,
      }),
    ],
    [
      'whose next page is another path of another address',
      'operations.pages-end',
      /^blocked: .*its next page is at another address \(http:\/\/other\.example\/elsewhere\)/,
      (right, query) => ({
        fields: isShort(query) ? { Link: '<http://other.example/elsewhere?cursor=2>; rel="next"' } : {},
        body: right,
      }),
    ],
    [
      'whose next page is at its public address, and is the same again',
      'operations.pages-disjoint',
      /^fail: .*again/,
      (right, query) => ({
        fields: isShort(query) ? { Link: '<http://other.example/things?limit=2&cursor=0>; rel="next"' } : {},
        body: right,
      }),
    ],
    [
      'whose filter lists nothing',
      'operations.filter-applied',
      /^blocked: .*shows no item of that kind/,
      (right, query) => ({ body: query.has('group') ? { items: [], total: 0 } : right }),
    ],
    [
      'whose filter is refused',
      'operations.filter-applied',
      /^blocked: .*its status is 400/,
      (right, query) => (query.has('group') ? refused : { body: right }),
    ],
    [
      'whose next page under a filter is refused',
      'operations.pages-filter',
      /^blocked: .*its status is 400/,
      (right, query) => (query.has('group') && query.has('cursor') ? refused : { body: right }),
    ],
    [
      'whose next page under a filter is empty',
      'operations.pages-filter',
      /^blocked: .*shows no item of any kind/,
      (right, query) => ({ body: query.has('group') && query.has('cursor') ? { items: [] } : right }),
    ],
    [
      'whose page under a filter names no next one',
      'operations.pages-filter',
      /^blocked: .*names no next page, although the list goes on/,
      (right, query) => ({ body: query.has('group') ? { ...right, nextCursor: null } : right }),
    ],
    [
      'that refuses one of its orders',
      'operations.sort-applied',
      /^blocked: .*its status is 400/,
      (right, query) => (query.get('sort') === '-rank' ? refused : { body: right }),
    ],
    [
      'that refuses one of its orders, and ignores the other',
      'operations.sort-applied',
      /^fail/,
      (_, query) => (query.get('sort') === '-rank' ? refused : { body: { items: ITEMS.toReversed() } }),
    ],
    [
      'whose sorted page names no next one',
      'operations.sort-over-pages',
      /^blocked: .*names no next page, although the list goes on/,
      (right, query) => ({
        body: query.has('sort') && isShort(query) ? { ...right, nextCursor: null } : right,
      }),
    ],
    [
      'with a second list where it is sorted',
      'operations.sort-applied',
      /^fail/,
      (_, query) => ({ body: { items: query.has('sort') ? ITEMS.toReversed() : ITEMS, notes: [] } }),
    ],
  ])('%s: %s', async ([, check, said, dodge, place]) => {
    expect(await saidOfList(check, dodge, place)).toMatch(said);
  });

  it('with two documented lists is none that is judged', async () => {
    const { properties, ...more } = SCHEMA;
    const schema = { ...more, properties: { ...properties, notes: { type: 'array' } } };
    const twice: Dodge = (right) => ({ body: { ...right, notes: [] } });
    expect(await saidOfList('operations.page-size', twice, CURSOR, schema)).toMatch(/^skipped/);
  });

  it.for<readonly [string, Dodge]>([
    [
      'has its only item of a kind',
      (right, query) => ({ body: query.get('group') === 'text' ? { items: ITEMS.slice(0, 1) } : right }),
    ],
    [
      'is over before a second page',
      (right) => ({ body: { ...right, items: (right.items as unknown[]).slice(0, 1), nextCursor: null } }),
    ],
  ])('may be short, and %s', async ([, dodge]) => {
    for (const check of ['operations.pages-filter', 'operations.pages-complete', 'operations.page-size'])
      expect(await saidOfList(check, dodge)).not.toMatch(/^(?:blocked|fail|warning)/);
  });
});
