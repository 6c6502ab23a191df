import { isJsonObject } from '../../base/json-text.ts';
import { NotApplicable } from '../../base/verdict.ts';
import { type Input, requestOfCall } from '../../config/operation/call/call.ts';
import { type Facets, facetsOf } from '../../config/operation/call/facets.ts';
import type { Operation, ServiceConfig } from '../../config/service.ts';
import { type Port, type Probe, probe } from '../../session/probe.ts';
import { operationCalls } from './operation.ts';
import type { Order } from './plan.ts';
import { orderOf } from './removal.ts';
import { stimulusOf } from './stimulus.ts';
import { OperationReply } from './trials.ts';

/** Names by which services call the size of a page, how many items come before it, and its number. */
const SIZE = /^(?:limit|page_?size|per_?page|page_?limit)$/i;
const OFFSET = /^(?:offset|skip)$/i;
const NUMBER = /^(?:page|page_?(?:no|number|index))$/i;
/** Items of a page that is asked for, and of one that is as long as two of them. */
const SHORT = 2;
/** Links to a next page that are followed. */
const MOST_FOLLOWED = 4;
/** Lists of a service that are turned over. */
const MOST_LISTS = 2;

/** A list that comes in pages, as the documents describe it. */
interface Paged {
  readonly operation: Operation;
  readonly size: Input;
  readonly place: Input;
  /** The place of the first page of `SHORT` items, and of the second one. */
  readonly first: number;
  readonly second: number;
}

/** The same list in pages: two short ones, and one that is as long as both. */
export interface Pages {
  readonly first: OperationReply;
  readonly second: OperationReply;
  readonly both: OperationReply;
  /** Behind links to the next page, from the first one on. */
  readonly followed: readonly OperationReply[];
}

/** @throws NotApplicable where no list is documented with both parameters. */
export const pages: Probe<readonly Pages[]> = probe('operation-pages', async (port) => {
  const lists = pagedIn(port.config);
  if (lists.length === 0)
    throw new NotApplicable(
      'no list is documented with a size of pages and an offset, or a number whose first value is documented',
    );
  const { called } = await port.ask(operationCalls);
  const turned: Pages[] = [];
  for (const list of lists.filter(({ operation }) => called.has(operation)).slice(0, MOST_LISTS)) {
    turned.push(await turn(list, port));
  }
  return turned;
});

function pagedIn({ operations, definitions = {} }: ServiceConfig): readonly Paged[] {
  return operations.flatMap((operation) => {
    const { inputs } = operation.call;
    const ofQuery = (name: RegExp) =>
      inputs.filter((input) => {
        const { type, keywords } = facetsOf(input.schema, definitions);
        const least = typeof keywords.minimum === 'number' ? keywords.minimum : 0;
        return input.in === 'query' && name.test(input.name) && type === 'integer' && least <= SHORT;
      });
    const [[size, ...sizes], [offset, ...offsets], [number, ...numbers]] = [
      ofQuery(SIZE),
      ofQuery(OFFSET),
      ofQuery(NUMBER),
    ];
    const isClear =
      operation.method === 'GET' &&
      operation.uncallable === null &&
      sizes.length + offsets.length + numbers.length === 0;
    if (!isClear || size === undefined || (offset === undefined) === (number === undefined)) return [];
    if (offset !== undefined) return [{ operation, size, place: offset, first: 0, second: SHORT }];
    const first = number && firstNumber(facetsOf(number.schema, definitions));
    return number && first !== null && first !== undefined
      ? [{ operation, size, place: number, first, second: first + 1 }]
      : [];
  });
}

/** Some count pages from 0 and some from 1: null where the documents do not say. */
function firstNumber({ keywords }: Facets): number | null {
  const told = [keywords.default, keywords.minimum].find((value) => value === 0 || value === 1);
  return typeof told === 'number' ? told : null;
}

async function turn(
  { operation, size, place, first: firstPlace, second: secondPlace }: Paged,
  { http }: Pick<Port, 'http'>,
): Promise<Pages> {
  const send = async (values: ReadonlyMap<Input, number>, what: string) => {
    const inputs = operation.call.inputs.map((input) => ({
      ...input,
      value: values.get(input) ?? input.value,
    }));
    return sent(orderOf(operation, requestOfCall({ ...operation.call, inputs }), what));
  };
  const sent = async (order: Order) => new OperationReply(order, await http.send(stimulusOf(order)));
  const both = await send(
    new Map([
      [size, 2 * SHORT],
      [place, firstPlace],
    ]),
    `for its first ${2 * SHORT} items`,
  );
  const first = await send(
    new Map([
      [size, SHORT],
      [place, firstPlace],
    ]),
    `for its first ${SHORT} items`,
  );
  const second = await send(
    new Map([
      [size, SHORT],
      [place, secondPlace],
    ]),
    `for the ${SHORT} items behind them`,
  );
  const followed: OperationReply[] = [];
  const base = new URL(first.exchange.request.url).pathname.slice(
    0,
    -(operation.path.split('?', 1)[0] ?? '').length,
  );
  for (let next = nextOf(first); next !== null && followed.length < MOST_FOLLOWED; ) {
    const path = `${next.pathname.slice(base.length)}${next.search}`;
    const reply = await sent(
      orderOf(operation, { ...operation, path }, 'where the page before links to the next one'),
    );
    followed.push(reply);
    next = nextOf(reply);
  }
  return { first, second, both, followed };
}

/** Where a page says that the next one is (RFC 8288), at the service itself; null for nowhere. */
export function nextOf({ served, response, exchange }: OperationReply): URL | null {
  if (!served) return null;
  const link = response.links.find(({ relations }) => relations.includes('next'));
  const next = link === undefined ? null : URL.parse(link.target, exchange.request.url);
  return next?.origin === new URL(exchange.request.url).origin ? next : null;
}

/** The items of a page, each as it can be told from others; null where the answer has no one list. */
export function itemsOf({ served, response }: OperationReply): readonly string[] | null {
  if (!served) return null;
  const { value } = response.json;
  const lists = Array.isArray(value)
    ? [value]
    : Object.values(isJsonObject(value) ? value : {}).filter(Array.isArray);
  const [list, ...more] = lists;
  if (list === undefined || more.length > 0) return null;
  return list.map((item: unknown) => JSON.stringify(isJsonObject(item) && 'id' in item ? item.id : item));
}
