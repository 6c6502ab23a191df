import { isJsonObject } from '../../base/json-text.ts';
import { NotApplicable } from '../../base/verdict.ts';
import { type Input, requestOfCall } from '../../config/operation/call/call.ts';
import { facetsOf } from '../../config/operation/call/facets.ts';
import type { Operation, ServiceConfig } from '../../config/service.ts';
import { type Port, type Probe, probe } from '../../session/probe.ts';
import { operationCalls } from './operation.ts';
import type { Order } from './plan.ts';
import { orderOf } from './removal.ts';
import { stimulusOf } from './stimulus.ts';
import { OperationReply } from './trials.ts';

/** Names by which services call the size of a page, and how many items come before it. */
const SIZE = /^(?:limit|page_?size|per_?page|page_?limit)$/i;
const OFFSET = /^(?:offset|skip)$/i;
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
  readonly offset: Input;
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
  if (lists.length === 0) throw new NotApplicable('no list is documented with a size of pages and an offset');
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
    const [[size, ...sizes], [offset, ...offsets]] = [ofQuery(SIZE), ofQuery(OFFSET)];
    const isClear =
      operation.method === 'GET' && operation.uncallable === null && sizes.length + offsets.length === 0;
    return isClear && size && offset ? [{ operation, size, offset }] : [];
  });
}

async function turn({ operation, size, offset }: Paged, { http }: Pick<Port, 'http'>): Promise<Pages> {
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
      [offset, 0],
    ]),
    `for its first ${2 * SHORT} items`,
  );
  const first = await send(
    new Map([
      [size, SHORT],
      [offset, 0],
    ]),
    `for its first ${SHORT} items`,
  );
  const second = await send(
    new Map([
      [size, SHORT],
      [offset, SHORT],
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
