import { isJsonObject } from '../../../harness/base/json-text.ts';
import { numberOf } from '../../../harness/base/text.ts';
import { NotApplicable } from '../../../harness/base/verdict.ts';
import {
  type Facets,
  facetsOf,
  type Input,
  requestOfCall,
} from '../../../harness/config/operation/call/call.ts';
import type { Operation, ServiceConfig } from '../../../harness/config/service.ts';
import { type Port, probe } from '../../../harness/engine/session/probe.ts';
import type { Definitions } from '../../../harness/wire/json/schema.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';
import { listOf, listPlace, NO_LIST, whyNoItems } from './list.ts';
import { isCursorName } from './names.ts';
import { operationCalls } from './operation.ts';
import { orderOf, sendOrder } from './stimulus.ts';
import type { OperationReply } from './trials.ts';

/** Names by which services call the size of a page, the number of items before it, and its own number. */
const SIZE = /^(?:limit|page_?size|per_?page|page_?limit)$/i;
const OFFSET = /^(?:offset|skip)$/i;
const NUMBER = /^(?:page|page_?(?:no|number|index))$/i;
/** Names of members that say where the next page begins, and of those in which such members stand. */
const NEXT = /^(?:next(?:_?(?:page|url|link|uri))?|(?:next_?)?(?:cursor|page_?token)|continuation_?token)$/i;
const ABOUT_PAGES =
  /^_?(?:links?|(?:response_?)?meta(?:data)?|pag(?:e|es|ing|ination)(?:_?info)?|cursors?|next)$/i;
/** Items of a page that is asked for, and of one that is as long as two of them. */
export const SHORT = 2;
/** Links to a next page that are followed. */
const MOST_FOLLOWED = 4;
/** Lists of a service that are turned over. */
const MOST_LISTS = 2;

/** Requests to each: two pages one way and the other, and those that links lead to. */
const PAGED_COST = 4 + MOST_FOLLOWED;

/** The lists that are turned over, if they are called. */
export function pagedLists(config: ServiceConfig): readonly Paged[] {
  return pagedIn(config).slice(0, MOST_LISTS);
}

/** An operation as a list in pages; null if its document says nothing of pages. */
export function pagedOf(config: ServiceConfig, operation: Operation): Paged | null {
  return pagedIn(config).find((each) => each.operation === operation) ?? null;
}

/** A list that comes in pages, as the documents describe it. */
export interface Paged {
  readonly operation: Operation;
  readonly size: Input;
  /** Where a page begins, and that of the first page of `SHORT` items and of the second one; null where only a page tells. */
  readonly place: { readonly input: Input; readonly first: number; readonly second: number } | null;
  /** As `listPlace` has it. */
  readonly list: string | null;
  /** Its documents name where an answer says that the next page is. */
  readonly namesNext: boolean;
}

/** The same list in pages: two short ones, and one that is as long as both. */
export interface Pages {
  readonly paged: Paged;
  readonly first: OperationReply;
  /** The second one; where only pages tell where the next one is, as many as have the items of the long one, or none. */
  readonly behind: readonly OperationReply[];
  readonly both: OperationReply;
  /** Where each page says that the next one is, from the first one on. */
  readonly followed: readonly OperationReply[];
  /** Why the second page is unknown; null if it is known, or the first one has all items. */
  readonly unbehind: string | null;
}

/** @throws NotApplicable where no list is documented with both parameters. */
export const pages = probe<readonly Pages[]>(
  'operation-pages',
  { needs: [operationCalls], cost: (config) => PAGED_COST * pagedLists(config).length },
  async (port) => {
    const lists = pagedIn(port.config);
    if (lists.length === 0)
      throw new NotApplicable(
        'no list is documented with a size of pages and a cursor, an offset, or a number whose first value is documented',
      );
    const { all } = await port.ask(operationCalls);
    // A page that breaks off is named by what judges it.
    const begun = new Set(all.flatMap(({ operation, expected }) => (expected === null ? [] : [operation])));
    const turned: Pages[] = [];
    for (const list of lists.filter(({ operation }) => begun.has(operation)).slice(0, MOST_LISTS)) {
      const call = all.find(({ operation }) => operation === list.operation);
      // No list comes of the documented call either.
      if (call?.served && whyNoItems(call, list.list) === NO_LIST) continue;
      turned.push(await turn(list, port));
    }
    return turned;
  },
);

/** Refused by every list whose cursors say anything; it sorts behind most identifiers. */
const NO_CURSOR = '~conform-no-cursor';

/** A list asked for what is behind a cursor that it has never given, beside its first page. */
export const unknownCursors = probe<
  readonly { readonly reply: OperationReply; readonly first: OperationReply; readonly list: string | null }[]
>(
  'unknown-cursors',
  { needs: [pages], cost: (config) => pagedLists(config).length },
  async ({ ask, http }) => {
    const found = [];
    for (const { paged, first } of await ask(pages)) {
      const { operation, size } = paged;
      // `after` may be the name of an item, behind which a list goes on whether it is there or not.
      const cursor = operation.call.inputs.find((input) => isCursor(input) && !/^after$/i.test(input.name));
      if (cursor === undefined) continue;
      const inputs = operation.call.inputs.map((input) => ({
        ...input,
        value: input === size ? SHORT : input === cursor ? NO_CURSOR : input.value,
      }));
      const what = `with a ${cursor.name} that it has never given`;
      const order = orderOf(operation, requestOfCall({ ...operation.call, inputs }), what);
      found.push({ reply: await sendOrder({ http }, order), first, list: paged.list });
    }
    return found;
  },
);

/** Names of parameters with a text that is sought. */
const SOUGHT = /^(?:q|query|search(?:_?(?:term|text|query))?|term|text|keywords?)$/i;
/** Nothing has it, in letters and with a space, as people write it. */
const WITHOUT_HITS = 'qxzv jkwq';

/** Searches for what is nowhere. */
export const hitlessSearches = probe<readonly OperationReply[]>(
  'hitless-searches',
  { needs: [operationCalls], cost: (config) => searchesIn(config).length },
  async ({ ask, http, config }) => {
    const { all } = await ask(operationCalls);
    const replies: OperationReply[] = [];
    for (const { operation, input } of searchesIn(config)) {
      if (!all.some((call) => call.operation === operation && call.served)) continue;
      const inputs = operation.call.inputs.map((each) =>
        each === input ? { ...each, value: WITHOUT_HITS } : each,
      );
      const order = orderOf(
        operation,
        requestOfCall({ ...operation.call, inputs }),
        `with "${WITHOUT_HITS}" for ${input.name}`,
      );
      replies.push(await sendOrder({ http }, order));
    }
    return replies;
  },
);

/** Lists with one parameter for free text. */
function searchesIn({ operations, definitions = {} }: ServiceConfig) {
  const isFree = ({ in: place, name, schema }: Input) => {
    const { type, keywords } = facetsOf(schema, definitions);
    const isBound = ['enum', 'const', 'pattern', 'format'].some((keyword) => keyword in keywords);
    const fits = Number(keywords.maxLength ?? WITHOUT_HITS.length) >= WITHOUT_HITS.length;
    return place === 'query' && SOUGHT.test(name) && type === 'string' && !isBound && fits;
  };
  return operations
    .filter(({ method, uncallable }) => method === 'GET' && uncallable === null)
    .flatMap((operation) => {
      const [input, ...more] = operation.call.inputs.filter(isFree);
      return input === undefined || more.length > 0 ? [] : [{ operation, input }];
    })
    .slice(0, MOST_LISTS);
}

function pagedIn({ operations, definitions = {} }: ServiceConfig): readonly Paged[] {
  return operations.flatMap((operation): Paged[] => {
    const { inputs } = operation.call;
    const ofQuery = (isMeant: (name: string) => boolean, wanted: 'integer' | 'string') =>
      inputs.filter((input) => {
        const { type, keywords } = facetsOf(input.schema, definitions);
        const least = typeof keywords.minimum === 'number' ? keywords.minimum : 0;
        return input.in === 'query' && isMeant(input.name) && type === wanted && least <= SHORT;
      });
    const [size, ...sizes] = ofQuery((name) => SIZE.test(name), 'integer');
    const [offset, number, cursor] = [
      ofQuery((name) => OFFSET.test(name), 'integer'),
      ofQuery((name) => NUMBER.test(name), 'integer'),
      ofQuery(isCursorName, 'string').filter(({ required }) => !required),
    ];
    const [input, ...inputsMore] = [...offset, ...number, ...cursor];
    const isClear = operation.method === 'GET' && operation.uncallable === null && sizes.length === 0;
    if (!isClear || size === undefined || input === undefined || inputsMore.length > 0) return [];
    if (!takesShort(facetsOf(size.schema, definitions))) return [];
    const known = {
      operation,
      size,
      list: listPlace(operation, definitions),
      namesNext: namesNext(operation, definitions),
    };
    if (cursor.includes(input)) return [{ ...known, place: null }];
    if (offset.includes(input)) return [{ ...known, place: { input, first: 0, second: SHORT } }];
    const first = firstNumber(facetsOf(input.schema, definitions));
    return first === null ? [] : [{ ...known, place: { input, first, second: first + 1 } }];
  });
}

/** Whether pages of both lengths are documented. */
function takesShort({ keywords: { enum: values, maximum, exclusiveMaximum, multipleOf } }: Facets): boolean {
  return [SHORT, 2 * SHORT].every(
    (items) =>
      (!Array.isArray(values) || values.includes(items)) &&
      (typeof maximum !== 'number' || items <= maximum) &&
      (typeof exclusiveMaximum !== 'number' || items < exclusiveMaximum) &&
      (typeof multipleOf !== 'number' || items % multipleOf === 0),
  );
}

/** Whether the documented answer has a member, or the field Link, for the place of the next page. */
function namesNext({ answers, response: { schema } }: Operation, definitions: Definitions): boolean {
  const { properties } = facetsOf(schema, definitions);
  const isNamed = (name: string) =>
    NEXT.test(name) ||
    (ABOUT_PAGES.test(name) &&
      Object.keys(facetsOf(properties[name], definitions).properties).some((inner) => NEXT.test(inner)));
  const hasLink = answers.some(({ headers }) => headers.some(({ name }) => /^link$/i.test(name)));
  return hasLink || Object.keys(properties).some(isNamed);
}

/** Some count pages from 0 and some from 1: null where the documents do not say. */
function firstNumber({ keywords }: Facets): number | null {
  const told = [keywords.default, keywords.minimum].find((value) => value === 0 || value === 1);
  return typeof told === 'number' ? told : null;
}

async function turn(paged: Paged, port: Pick<Port, 'http'>): Promise<Pages> {
  const { operation, size, place } = paged;
  const send = (items: number, at: number | null, what: string) => {
    const values = new Map<Input, number>([
      [size, items],
      ...(place && at !== null ? [[place.input, at] as const] : []),
    ]);
    const inputs = operation.call.inputs.map((input) => ({
      ...input,
      value: values.get(input) ?? (isCursor(input) ? undefined : input.value),
    }));
    return sendOrder(port, orderOf(operation, requestOfCall({ ...operation.call, inputs }), what));
  };
  const start = place?.first ?? null;
  const both = await send(2 * SHORT, start, `for its first ${2 * SHORT} items`);
  const first = await send(SHORT, start, `for its first ${SHORT} items`);
  const second = place && (await send(SHORT, place.second, `for the ${SHORT} items behind them`));
  const followed: OperationReply[] = [];
  for (let next = nextOf(first); next !== null && followed.length < MOST_FOLLOWED; ) {
    const path = pathOfNext(next, first);
    const what = 'where the page before links to the next one';
    const reply = await sendOrder(port, orderOf(operation, { ...operation, path }, what));
    followed.push(reply);
    next = nextOf(reply);
  }
  const known = { paged, first, both, followed };
  const behind = second === null ? behindOf(known) : [second];
  return { ...known, behind, unbehind: behind.length > 0 ? null : whyNotBehind(known) };
}

type Turning = Omit<Pages, 'behind' | 'unbehind'>;

const countOn = (list: string | null, all: readonly OperationReply[]): number =>
  all.flatMap((page) => listOf(page, list) ?? []).length;

/** A page may have fewer items than were asked for, or none, and lead on. */
function behindOf({ paged: { list }, first, both, followed }: Turning): readonly OperationReply[] {
  const wanted = countOn(list, [both]) - countOn(list, [first]);
  const enough = followed.findIndex((_, at) => countOn(list, followed.slice(0, at + 1)) >= wanted);
  if (enough !== -1) return followed.slice(0, enough + 1);
  const last = followed.at(-1);
  return last !== undefined && nextOf(last) === null ? followed : [];
}

/** Where only pages say where the next one is; null where nothing shows how they do. */
function whyNotBehind({ paged: { list, namesNext }, first, both, followed }: Turning): string | null {
  if (countOn(list, [both]) <= countOn(list, [first])) return null;
  if (followed.length > 0)
    return `its next ${numberOf(followed.length, 'page holds', 'pages hold')} too few items`;
  const isKnown = namesNext || nextOf(both) !== null;
  return whyElsewhere(first) ?? (isKnown ? 'it names no next page, although the list goes on' : null);
}

/** Names the page of these that does not show its items; null if each does. */
export function whyUnturned(
  { paged }: Pick<Pages, 'paged'>,
  pages: readonly OperationReply[],
): string | null {
  const page = pages.find((each) => whyNoItems(each, paged.list) !== null);
  return page === undefined ? null : `${page.to} shows no items (${whyNoItems(page, paged.list)})`;
}

export const isCursor = (input: Input): boolean => input.in === 'query' && isCursorName(input.name);

/** Where a page says that the next one is, wherever that is; null for nowhere. */
function placeOfNext(page: OperationReply): URL | null {
  if (!page.served) return null;
  // RFC 8288 §3.3.
  const link = page.response.link.links.find(({ relations }) => relations.includes('next'));
  const told = link?.target ?? (page.response.unreadJson === null ? nextIn(page.response.json.value) : null);
  if (told === null) return null;
  const isAddress = link !== undefined || isReference(told);
  return isAddress ? URL.parse(told, page.exchange.request.url) : withCursor(page, told);
}

/** The same at the service itself, which its public address leads to with the same path; null for nowhere there. */
export function nextOf(page: OperationReply): URL | null {
  const here = new URL(page.exchange.request.url);
  const next = placeOfNext(page);
  if (next === null || next.origin === here.origin) return next;
  return next.pathname === here.pathname ? new URL(`${next.pathname}${next.search}`, here) : null;
}

/** Why the next page of a page is not asked for; null if it is, or there is none. */
export function whyElsewhere(page: OperationReply): string | null {
  const next = nextOf(page) === null ? placeOfNext(page) : null;
  return next && `its next page is at another address (${visible(`${next.origin}${next.pathname}`, 80)})`;
}

/** Below the base URL, as another page of the same list was asked for. */
export function pathOfNext({ pathname, search }: URL, { operation, exchange }: OperationReply): string {
  const own = (operation.path.split('?', 1)[0] ?? '').length;
  const base = new URL(exchange.request.url).pathname.slice(0, -own);
  return `${pathname.slice(base.length)}${search}`;
}

/** A member of the body that says where the next page begins, at the top or among what is said of pages. */
function nextIn(body: unknown): string | null {
  if (!isJsonObject(body)) return null;
  for (const [name, value] of Object.entries(body)) {
    if (NEXT.test(name) && typeof value === 'string' && value !== '') return value;
  }
  for (const [name, value] of Object.entries(body)) {
    if (!ABOUT_PAGES.test(name) || !isJsonObject(value)) continue;
    const told = typeof value.href === 'string' && /^next$/i.test(name) ? value.href : nextIn(value);
    if (told !== null) return told;
  }
  return null;
}

const isReference = (text: string): boolean => /^(?:https?:\/\/|[/?])/i.test(text);

/** The same page, from the cursor on; null where no parameter is documented for it. */
function withCursor({ operation, exchange }: OperationReply, cursor: string): URL | null {
  const input = operation.call.inputs.find(isCursor);
  if (input === undefined) return null;
  const url = new URL(exchange.request.url);
  url.searchParams.set(input.name, cursor);
  return url;
}

/** Names of members with the number of all items, or of those of the page. */
const TOTAL = /^total(?:_?(?:count|items|results|records|elements))?$/i;
const COUNT = /^(?:count|num_?(?:items|results|found))$/i;

/** The total of a page; null if it names none. */
export function totalOf(page: OperationReply): number | null {
  return numbersIn(page, TOTAL)[0] ?? null;
}

/** The number that may be that of all items, or that of the page; null if it names none. */
export function countOf(page: OperationReply): number | null {
  return numbersIn(page, COUNT)[0] ?? null;
}

/** The whole numbers that a page names beside its items. */
export function numbersIn({ served, response }: OperationReply, meant = /^/): readonly number[] {
  const { value } = response.json;
  if (!served || !isJsonObject(value)) return [];
  const about = Object.entries(value).flatMap(([name, inner]) =>
    ABOUT_PAGES.test(name) && isJsonObject(inner) ? [inner] : [],
  );
  return [value, ...about]
    .flatMap((object) => Object.entries(object))
    .flatMap(([name, each]) => (meant.test(name) && Number.isInteger(each) ? [Number(each)] : []));
}

/** Whether a page that was asked for from the beginning has all items: it has fewer than were asked for, and no next one. */
export function isWhole(page: OperationReply, list: string | null): boolean {
  return nextOf(page) === null && (listOf(page, list)?.length ?? Number.POSITIVE_INFINITY) < 2 * SHORT;
}
