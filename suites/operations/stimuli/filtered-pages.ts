import { isJsonObject, type JsonObject } from '../../../harness/base/json-text.ts';
import { facetsOf, type Input, requestOfCall } from '../../../harness/config/operation/call/call.ts';
import { type Port, probe, type Selected } from '../../../harness/engine/session/probe.ts';
import type { Definitions } from '../../../harness/wire/json/schema.ts';
import { listOf } from './list.ts';
import {
  nextOf,
  type Paged,
  type Pages,
  pagedLists,
  pages,
  pathOfNext,
  whyElsewhere,
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
export const filtered = probe<Selected<Filtered>>(
  'filtered',
  { needs: [pages], cost: (config) => FILTER_COST * pagedLists(config).length },
  async (port) => {
    const found: Filtered[] = [];
    let unread: string | null = null;
    for (const turned of await port.ask(pages)) {
      unread ??= choicesOf(turned.paged, port).length > 0 ? whyUnturned(turned, [turned.both]) : null;
      const each = await filter(turned, port);
      if (each !== null) found.push(each);
    }
    return { all: found, shortfall: unread === null ? null : { end: 'blocked', reason: unread } };
  },
);

const choicesOf = ({ operation }: Paged, { config }: Pick<Port, 'config'>): readonly Input[] =>
  operation.call.inputs.filter((each) => isChoice(each, config.definitions ?? {}));

async function filter({ paged, both }: Pages, port: FilterPort): Promise<Filtered | null> {
  const { list } = paged;
  const input = choicesOf(paged, port).find(({ name }) => kindsIn(both, name, list).length > 1);
  if (input === undefined) return null;
  const [kept, other] = kindsIn(both, input.name, list);
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
  /** As `listPlace` has it. */
  readonly list: string | null;
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
/** Empty pages of each that are passed over. */
const MOST_EMPTY = 2;

export const NO_FILTERED_PAGES =
  'no list in pages has a parameter that says which items are in it, and more than one page of them';

/** The lists in pages that are seen to obey a parameter. */
export const filteredPages = probe<Selected<FilteredPages>>(
  'filtered-pages',
  {
    needs: [filtered],
    cost: (config) => (FILTERED_COST + MOST_EMPTY) * pagedLists(config).length,
    usualCost: (config) => FILTERED_COST * pagedLists(config).length,
  },
  async (port) => {
    const { all, shortfall } = await port.ask(filtered);
    const found: FilteredPages[] = [];
    let unread = shortfall?.reason ?? null;
    for (const each of all) {
      const goneOn = await goOn(each, port);
      if (typeof goneOn === 'string') unread ??= goneOn;
      else if (goneOn !== null) found.push(goneOn);
    }
    return { all: found, shortfall: unread === null ? null : { end: 'blocked', reason: unread } };
  },
);

/** The reason if the list should go on and is not seen to; null if it need not. */
async function goOn(asked: Filtered, port: FilterPort): Promise<FilteredPages | string | null> {
  const { paged, input, kinds, both } = asked;
  const { list } = paged;
  const { name } = input;
  const [kept, other] = kinds;
  const unread = whyUnturned({ paged }, asked.pages);
  if (unread !== null) return unread;
  for (const [at, page] of asked.pages.entries()) {
    const found = kindsIn(page, name, list);
    // What is obeyed, and what a filter without items is, another check judges.
    if (found.length !== 1 || found[0] !== kinds[at]) return null;
  }
  // Behind a single item there is nothing.
  if ((listOf(asked.pages[0], list) ?? []).length < 2) return null;
  const page = await listed(asked, 1, 0, port);
  const place = nextOf(page);
  if (place === null) {
    const isKnown = paged.place === null && (paged.namesNext || nextOf(asked.pages[0]) !== null);
    const why = whyElsewhere(page) ?? (isKnown ? 'it names no next page, although the list goes on' : null);
    return whyUnturned({ paged }, [page]) ?? (why && `${page.to} cannot be followed: ${why}`);
  }
  const sent = (path: string, what: string) =>
    sendOrder(port, orderOf(paged.operation, { ...paged.operation, path }, what));
  let next = await sent(pathOfNext(place, both), `behind the first item with ${name} ${kept}`);
  for (let count = 0; count < MOST_EMPTY; count += 1) {
    const further = listOf(next, list)?.length === 0 ? nextOf(next) : null;
    if (further === null) break;
    next = await sent(pathOfNext(further, both), 'where the empty page before links to the next one');
  }
  const elsewhere = new URL(place);
  elsewhere.searchParams.set(name, String(other));
  const crossed = await sent(
    pathOfNext(elsewhere, both),
    `behind the first item with ${name} ${kept}, under ${name} ${other}`,
  );
  return { list, name, kept, other, next, crossed };
}

/** One of a few values, or a flag: other parameters may be ranges, or parts of a text. */
function isChoice(input: Input, definitions: Definitions): boolean {
  const { type, keywords } = facetsOf(input.schema, definitions);
  const isClosed = type === 'boolean' || (type === 'string' && Array.isArray(keywords.enum));
  return input.in === 'query' && isClosed && input.value === undefined;
}

/** What items have as that member, each value once. */
export function kindsIn(page: OperationReply, name: string, list: string | null): readonly unknown[] {
  const items = (listOf(page, list) ?? []).filter((item): item is JsonObject => isJsonObject(item));
  return [...new Set(items.map((item) => item[name]).filter((kind) => kind !== undefined))];
}
