import { isJsonObject } from '../../../harness/base/json-text.ts';
import { facetsOf, type Input, requestOfCall } from '../../../harness/config/operation/call/call.ts';
import type { Operation, ServiceConfig } from '../../../harness/config/service.ts';
import { type Port, probe, type Selected } from '../../../harness/engine/session/probe.ts';
import type { Definitions } from '../../../harness/wire/json/schema.ts';
import { listOf, listPlace, whyNoItems, whyUnread } from './list.ts';
import { plain } from './names.ts';
import { operationCalls } from './operation.ts';
import { isCursor, nextOf, type Paged, pagedOf, pathOfNext, SHORT, whyElsewhere } from './pages.ts';
import { orderOf, sendOrder } from './stimulus.ts';
import type { OperationReply } from './trials.ts';

/** Names of the parameter that says how a list is sorted, and of one beside it with the direction. */
const SORT = /^(?:sort|sort_?(?:by|key|field)|order_?by|order|ordering)$/i;
const DIRECTION = /^(?:order|direction|dir|sort_?(?:order|dir(?:ection)?)|order_?dir(?:ection)?)$/i;
/** Lists of a service that are sorted, and requests to each: both ways by each member, and two pages. */
const MOST_LISTS = 2;
const SORTED_COST = 6;
/** Members by which each is sorted. */
const MOST_MEMBERS = 2;

/** The parameters of a list for one order, and the member of its items that it is about. */
interface SortOrder {
  readonly member: string;
  readonly descends: boolean;
  readonly values: ReadonlyMap<Input, string>;
}

/** A list that was asked for in an order. */
export interface SortedPage {
  readonly order: SortOrder;
  /** As `listPlace` has it. */
  readonly list: string | null;
  /** It was asked for over two pages. */
  readonly isInPages: boolean;
  /** One page, or two in turn. */
  readonly pages: readonly [OperationReply, ...OperationReply[]];
  /** Why the second page is unknown; null if it is known, or need not be there. */
  readonly unbehind: string | null;
}

/** Lists whose document names orders, each in both directions, and over two pages. */
export const sortedPages = probe<Selected<SortedPage>>(
  'sorted-pages',
  { needs: [operationCalls], cost: (config) => SORTED_COST * sortedIn(config).length },
  async (port) => {
    const { all } = await port.ask(operationCalls);
    const found: SortedPage[] = [];
    let unread: string | null = null;
    for (const { operation, orders } of sortedIn(port.config)) {
      const call = all.find((each) => each.operation === operation && each.served);
      if (call !== undefined) found.push(...(await sorted(operation, orders, call, port)));
      const why = call === undefined ? null : whyUnread(call);
      if (why !== null) unread ??= `${call?.to} shows no items (${why})`;
    }
    return { all: found, shortfall: unread === null ? null : { end: 'blocked', reason: unread } };
  },
);

function sortedIn({ operations, definitions = {} }: ServiceConfig) {
  return operations
    .filter(({ method, uncallable }) => method === 'GET' && uncallable === null)
    .map((operation) => ({ operation, orders: ordersOf(operation, definitions) }))
    .filter(({ orders }) => orders.length > 0)
    .slice(0, MOST_LISTS);
}

async function sorted(
  operation: Operation,
  orders: readonly SortOrder[],
  call: OperationReply,
  port: Pick<Port, 'http' | 'config'>,
): Promise<readonly SortedPage[]> {
  const list = listPlace(operation, port.config.definitions ?? {});
  const named = orders.flatMap((order) => {
    const member = memberOf(call, order.member, list);
    return member === null ? [] : [{ ...order, member }];
  });
  const members = [...new Set(named.map(({ member }) => member))].slice(0, MOST_MEMBERS);
  const chosen = members.flatMap((member) => named.filter((each) => each.member === member).slice(0, 2));
  const paged = pagedOf(port.config, operation);
  const send = (order: SortOrder, items: number, what: string) => {
    const inputs = operation.call.inputs.map((input) => ({
      ...input,
      value: inputValue(input, order, paged, items),
    }));
    const request = requestOfCall({ ...operation.call, inputs });
    return sendOrder(port, orderOf(operation, request, `${what}by ${textOf(order)}`));
  };
  const found: SortedPage[] = [];
  for (const order of chosen) {
    const page = await send(order, 2 * SHORT, 'sorted ');
    found.push({ order, list, isInPages: false, pages: [page], unbehind: null });
  }
  const [order] = chosen;
  const [whole] = found;
  if (order === undefined || whole === undefined || paged === null) return found;
  const first = await send(order, SHORT, `for its first ${SHORT} items `);
  const inPages = { order, list, isInPages: true, unbehind: null } as const;
  const next = nextOf(first);
  if (next !== null) {
    const request = { ...operation, path: pathOfNext(next, first) };
    const what = `behind the first ${SHORT} items by ${textOf(order)}`;
    return [
      ...found,
      { ...inPages, pages: [first, await sendOrder(port, orderOf(operation, request, what))] },
    ];
  }
  const count = (page: OperationReply) => listOf(page, list)?.length ?? 0;
  const goesOn = count(whole.pages[0]) > count(first);
  const isKnown = paged.place === null && (paged.namesNext || nextOf(whole.pages[0]) !== null);
  const unnamed = goesOn && isKnown ? 'it names no next page, although the list goes on' : null;
  const unbehind = whyNoItems(first, list) ?? whyElsewhere(first) ?? unnamed;
  return unbehind === null ? found : [...found, { ...inPages, pages: [first], unbehind }];
}

function inputValue(input: Input, { values }: SortOrder, paged: Paged | null, items: number): unknown {
  if (input === paged?.size) return items;
  if (input === paged?.place?.input) return paged.place.first;
  return values.get(input) ?? (isCursor(input) ? undefined : input.value);
}

/** `sort=-price`, `sort=price&order=desc` */
export const textOf = ({ values }: SortOrder): string =>
  [...values].map(([{ name }, value]) => `${name}=${value}`).join('&');

/** The name that the member has in items of the list; null unless two of them have values that can be compared. */
function memberOf(page: OperationReply, sought: string, list: string | null): string | null {
  const items = (listOf(page, list) ?? []).filter(isJsonObject);
  const names = new Set(items.flatMap((item) => Object.keys(item)));
  const [name, ...more] = [...names].filter((each) => plain(each) === plain(sought));
  if (name === undefined || more.length > 0) return null;
  return areComparable(items.map((item) => item[name])) ? name : null;
}

/** The orders whose direction is documented; none where one of several parameters may say it. */
function ordersOf({ call }: Operation, definitions: Definitions): readonly SortOrder[] {
  const inQuery = call.inputs.filter(
    (input) => input.in === 'query' && choicesOf(input, definitions).length > 0,
  );
  const ways = inQuery.filter(
    (input) =>
      DIRECTION.test(input.name) && choicesOf(input, definitions).every((each) => directionOf(each) !== null),
  );
  const [sort, ...sorts] = inQuery.filter((input) => SORT.test(input.name) && !ways.includes(input));
  if (sort === undefined || sorts.length > 0 || ways.length > 1) return [];
  const choices = choicesOf(sort, definitions);
  const [way] = ways;
  return choices.flatMap((choice): readonly SortOrder[] => {
    const [, sign, member = ''] = /^([+-]?)([A-Za-z]\w*)$/.exec(choice) ?? [];
    const suffixed = /^([A-Za-z]\w*?)[ :.,_|-](asc|desc)(?:ending)?$/i.exec(choice);
    const one = (name: string, descends: boolean) => [
      { member: name, descends, values: new Map([[sort, choice]]) },
    ];
    if (suffixed) return one(suffixed[1] ?? '', suffixed[2]?.toLowerCase() === 'desc');
    if (sign === '-' || sign === '+') return one(member, sign === '-');
    if (member !== '' && choices.includes(`-${member}`)) return one(member, false);
    if (member === '' || way === undefined) return [];
    return choicesOf(way, definitions).map((direction) => ({
      member,
      descends: directionOf(direction) === 'desc',
      values: new Map([
        [sort, choice],
        [way, direction],
      ]),
    }));
  });
}

function directionOf(text: string): 'asc' | 'desc' | null {
  const [, direction] = /^(asc|desc)(?:ending)?$/i.exec(text) ?? [];
  return direction === undefined ? null : direction.toLowerCase() === 'desc' ? 'desc' : 'asc';
}

/** The values of a closed list of texts. */
function choicesOf({ schema }: Input, definitions: Definitions): readonly string[] {
  const { type, keywords } = facetsOf(schema, definitions);
  const choices = type === 'string' && Array.isArray(keywords.enum) ? keywords.enum : [];
  return choices.filter((each): each is string => typeof each === 'string');
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
/** Two letters that begin a text in every alphabet of the Latin script in this order: no digraph, none that is placed elsewhere. */
const PLAIN = /^(?!aa)(?:[aeiou][b-v]|[b-v][aeiou])/;

/** How a value is compared, whatever the collation: a number, or null if that depends on it. */
function rankOf(value: unknown): readonly [kind: string, rank: number] | null {
  if (typeof value === 'number') return ['number', value];
  if (typeof value !== 'string') return null;
  if (INSTANT.test(value)) return ['instant', Date.parse(value)];
  // By the first letter alone: what follows may be ordered by more than one rule.
  return PLAIN.test(value) ? ['text', value.charCodeAt(0)] : null;
}

/** Two of them have a known order. */
function areComparable(values: readonly unknown[]): boolean {
  const kinds = values.flatMap((value) => rankOf(value)?.[0] ?? []);
  return new Set(kinds).size < kinds.length;
}

/** Why the pages cannot be judged; null if they can, or have no values that can be compared. */
export function whyUnsorted({ list, pages, unbehind }: SortedPage): string | null {
  const reasons = pages.map((page) => whyNoItems(page, list));
  return reasons.find((reason) => reason !== null) ?? unbehind;
}

/** Whether two values on the pages can be compared. */
export function showsOrder({ order, list, pages }: SortedPage): boolean {
  const items = pages.flatMap((page) => listOf(page, list) ?? []).filter(isJsonObject);
  return areComparable(items.map((item) => item[order.member]));
}

/** The first two values that are not in order, of those that every collation orders alike; null if there are none. */
export function disorderIn({ order, list, pages }: SortedPage): readonly [unknown, unknown] | null {
  const values = pages
    .flatMap((page) => listOf(page, list) ?? [])
    .filter(isJsonObject)
    .map((item) => item[order.member])
    .filter((value) => rankOf(value) !== null);
  for (const [at, value] of values.entries()) {
    const [before, now] = [at === 0 ? null : rankOf(values[at - 1]), rankOf(value)];
    if (before === null || now === null || before[0] !== now[0]) continue;
    if (order.descends ? before[1] < now[1] : before[1] > now[1]) return [values[at - 1], value];
  }
  return null;
}
