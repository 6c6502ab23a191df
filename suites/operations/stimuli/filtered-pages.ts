import { isJsonObject, type JsonObject } from '../../../harness/base/json-text.ts';
import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import { facetsOf, type Input, requestOfCall } from '../../../harness/config/operation/call/call.ts';
import { type Port, probe } from '../../../harness/engine/session/probe.ts';
import type { Definitions } from '../../../harness/wire/json/schema.ts';
import {
  listOf,
  nextOf,
  type Paged,
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

/** Requests to each list: two kinds, the first item of one, and the next page of it twice. */
const FILTERED_COST = 5;

/** @throws NotApplicable where no list in pages is seen to obey a parameter. */
export const filteredPages = probe<readonly FilteredPages[]>(
  'filtered-pages',
  { needs: [pages], cost: (config) => FILTERED_COST * pagedLists(config).length },
  async (port) => {
    const found: FilteredPages[] = [];
    for (const turned of await port.ask(pages)) {
      const { paged, both, first } = turned;
      const unread = whyUnturned(turned);
      if (unread !== null) throw new Blocked(unread);
      if (nextOf(first) === null) continue;
      const filtered = await filter(paged, both, port);
      if (filtered !== null) found.push(filtered);
    }
    if (found.length === 0)
      throw new NotApplicable(
        'no list in pages has a parameter that says which items are in it, and more than one page of them',
      );
    return found;
  },
);

async function filter(
  { operation, size }: Paged,
  both: OperationReply,
  port: Pick<Port, 'http' | 'config'>,
): Promise<FilteredPages | null> {
  const input = operation.call.inputs.find((each) => isChoice(each, port.config.definitions ?? {}));
  if (input === undefined) return null;
  const [kept, other] = kindsIn(both, input.name);
  if (kept === undefined || other === undefined) return null;
  const sent = (path: string, what: string) =>
    sendOrder(port, orderOf(operation, { ...operation, path }, what));
  const list = (items: number, kind: unknown) => {
    const inputs = operation.call.inputs.map((each) => ({
      ...each,
      value: each === size ? items : each === input ? kind : each.value,
    }));
    return sent(
      requestOfCall({ ...operation.call, inputs }).path,
      `for ${items} items with ${input.name} ${kind}`,
    );
  };
  for (const kind of [kept, other]) {
    const page = readable(await list(ENOUGH, kind));
    const kinds = kindsIn(page, input.name);
    if (kinds.length !== 1 || kinds[0] !== kind) return null;
  }
  const place = nextOf(readable(await list(1, kept)));
  if (place === null) return null;
  const next = await sent(pathOfNext(place, both), `behind the first item with ${input.name} ${kept}`);
  const elsewhere = new URL(place);
  elsewhere.searchParams.set(input.name, String(other));
  const crossed = await sent(
    pathOfNext(elsewhere, both),
    `behind the first item with ${input.name} ${kept}, under ${input.name} ${other}`,
  );
  return { name: input.name, kept, other, next, crossed };
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
