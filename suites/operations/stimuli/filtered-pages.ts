import { isJsonObject, type JsonObject } from '../../../harness/base/json-text.ts';
import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import { facetsOf, type Input, requestOfCall } from '../../../harness/config/operation/call/call.ts';
import { type Port, probe } from '../../../harness/engine/session/probe.ts';
import type { Definitions } from '../../../harness/wire/json/schema.ts';
import {
  listOf,
  nextOf,
  type Paged,
  type Pages,
  pagedLists,
  pages,
  pathOfNext,
  whyUnread,
  whyUnturned,
} from './pages.ts';
import { orderOf, sendOrder } from './stimulus.ts';
import type { OperationReply } from './trials.ts';

/** Items by which it is seen that a parameter leaves out all others. */
const ENOUGH = 4;

/** A list that was asked for one kind of items. */
export interface Filtered {
  readonly paged: Paged;
  /** The parameter, and the member of each item that it is about. */
  readonly input: Input;
  /** Two kinds that the list has without the parameter, and the answers to each. */
  readonly kinds: readonly [unknown, unknown];
  readonly pages: readonly [OperationReply, OperationReply];
  readonly both: OperationReply;
}

/** Requests to each list: two kinds. */
const FILTER_COST = 2;

/** Lists in pages with a parameter that says which items are in them, asked for each of two kinds that they have. */
export const filtered = probe<readonly Filtered[]>(
  'filtered',
  { needs: [pages], cost: (config) => FILTER_COST * pagedLists(config).length },
  async (port) => {
    const found: Filtered[] = [];
    for (const turned of await port.ask(pages)) {
      const unread = whyUnturned(turned);
      if (unread !== null) throw new Blocked(unread);
      const each = await filter(turned, port);
      if (each !== null) found.push(each);
    }
    return found;
  },
);

async function filter({ paged, both }: Pages, port: FilterPort): Promise<Filtered | null> {
  const choices = paged.operation.call.inputs.filter((each) => isChoice(each, port.config.definitions ?? {}));
  const input = choices.find(({ name }) => kindsIn(both, name).length > 1);
  if (input === undefined) return null;
  const [kept, other] = kindsIn(both, input.name);
  if (kept === undefined || other === undefined) return null;
  const asked = { paged, input, kinds: [kept, other], both } as const;
  return { ...asked, pages: [await listed(asked, ENOUGH, 0, port), await listed(asked, ENOUGH, 1, port)] };
}

type FilterPort = Pick<Port, 'http' | 'config'>;

function listed(
  { paged: { operation, size }, input, kinds }: Pick<Filtered, 'paged' | 'input' | 'kinds'>,
  items: number,
  kind: 0 | 1,
  port: FilterPort,
): Promise<OperationReply> {
  const inputs = operation.call.inputs.map((each) => ({
    ...each,
    value: each === size ? items : each === input ? kinds[kind] : each.value,
  }));
  const what = `for ${items} items with ${input.name} ${kinds[kind]}`;
  return sendOrder(port, orderOf(operation, requestOfCall({ ...operation.call, inputs }), what));
}

/** A list of one kind of items, gone on with. */
interface FilteredPages {
  /** The parameter, and the member of each item that it is about. */
  readonly name: string;
  /** Of which kind the items of the page were that names the next one, and another kind. */
  readonly kept: unknown;
  readonly other: unknown;
  /** The page behind it, and the same place asked for under the other kind. */
  readonly next: OperationReply;
  readonly crossed: OperationReply;
}

/** Requests to each list: the first item of one kind, and the next page of it twice. */
const FILTERED_COST = 3;

/** @throws NotApplicable where no list in pages is seen to obey a parameter. */
export const filteredPages = probe<readonly FilteredPages[]>(
  'filtered-pages',
  { needs: [filtered], cost: (config) => FILTERED_COST * pagedLists(config).length },
  async (port) => {
    const found: FilteredPages[] = [];
    for (const each of await port.ask(filtered)) {
      const goneOn = await goOn(each, port);
      if (goneOn !== null) found.push(goneOn);
    }
    if (found.length === 0)
      throw new NotApplicable(
        'no list in pages has a parameter that says which items are in it, and more than one page of them',
      );
    return found;
  },
);

async function goOn(asked: Filtered, port: FilterPort): Promise<FilteredPages | null> {
  const { paged, input, kinds, both } = asked;
  const { name } = input;
  const [kept, other] = kinds;
  for (const [at, page] of asked.pages.entries()) {
    const found = kindsIn(readable(page), name);
    if (found.length !== 1 || found[0] !== kinds[at]) return null;
  }
  const place = nextOf(readable(await listed(asked, 1, 0, port)));
  if (place === null) return null;
  const sent = (path: string, what: string) =>
    sendOrder(port, orderOf(paged.operation, { ...paged.operation, path }, what));
  const next = await sent(pathOfNext(place, both), `behind the first item with ${name} ${kept}`);
  const elsewhere = new URL(place);
  elsewhere.searchParams.set(name, String(other));
  const crossed = await sent(
    pathOfNext(elsewhere, both),
    `behind the first item with ${name} ${kept}, under ${name} ${other}`,
  );
  return { name, kept, other, next, crossed };
}

/** @throws Blocked if a page does not show its items, although it is no refusal. */
function readable(page: OperationReply): OperationReply {
  const unread = whyUnread(page);
  if (unread !== null) throw new Blocked(`${page.to} shows no items (${unread})`);
  return page;
}

/** One of a few values, or a flag: other parameters may be ranges, or parts of a text. */
function isChoice(input: Input, definitions: Definitions): boolean {
  const { type, keywords } = facetsOf(input.schema, definitions);
  const isClosed = type === 'boolean' || (type === 'string' && Array.isArray(keywords.enum));
  return input.in === 'query' && isClosed && input.value === undefined;
}

/** What items have as that member, each value once. */
export function kindsIn(page: OperationReply, name: string): readonly unknown[] {
  const items = (listOf(page) ?? []).filter((item): item is JsonObject => isJsonObject(item));
  return [...new Set(items.map((item) => item[name]).filter((kind) => kind !== undefined))];
}
