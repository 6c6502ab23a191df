import { isJsonObject } from '../../../harness/base/json-text.ts';
import { facetsOf } from '../../../harness/config/operation/call/call.ts';
import type { Operation } from '../../../harness/config/service.ts';
import type { Definitions } from '../../../harness/wire/json/schema.ts';
import { type OperationReply, whyUndecided } from './trials.ts';

/** Where the documented answer has its one list: the name of a member, '' for the answer itself; null if it has none, or several. */
export function listPlace({ response: { schema } }: Operation, definitions: Definitions): string | null {
  const { type, properties } = facetsOf(schema, definitions);
  if (type === 'array') return '';
  const [name, ...more] = Object.keys(properties).filter(
    (each) => facetsOf(properties[each], definitions).type === 'array',
  );
  return more.length === 0 ? (name ?? null) : null;
}

/** The items of a page, at `place` if they are there; null where the answer has no one list. */
export function listOf(
  { served, response }: OperationReply,
  place: string | null = null,
): readonly unknown[] | null {
  if (!served) return null;
  const { value } = response.json;
  const members = isJsonObject(value) ? value : {};
  const named = place !== null && Object.hasOwn(members, place) ? members[place] : null;
  if (Array.isArray(named)) return named;
  const lists = Array.isArray(value) ? [value] : Object.values(members).filter(Array.isArray);
  const [list, ...more] = lists;
  return list === undefined || more.length > 0 ? null : list;
}

/** Items of a list that may be a page of a longer one. */
const OF_A_PAGE = 10;

/** The same of a list that is the whole of it; null where there is none, it may go on, or says so. */
export function wholeListOf(reply: OperationReply): readonly unknown[] | null {
  const list = listOf(reply);
  const goesOn = reply.response.link.links.some(({ relations }) => relations.includes('next'));
  return list === null || goesOn || list.length >= OF_A_PAGE ? null : list;
}

/** The items of a page, each as it can be told from others. */
export function itemsOf(page: OperationReply, place: string | null = null): readonly string[] | null {
  const told = (item: unknown) => JSON.stringify(isJsonObject(item) && 'id' in item ? item.id : item);
  return listOf(page, place)?.map(told) ?? null;
}

/** Why an answer does not show its items, although it is no refusal; null if it does. */
export function whyUnread(page: OperationReply): string | null {
  if (page.exchange.response === null) return 'it got no response';
  return page.served ? page.response.unreadJson : whyUndecided(page);
}

/** A readable answer without a list of items. */
export const NO_LIST = 'it holds no one list of items';

/** Why an answer shows no items, as a refusal of the documented parameters does; null if it shows them. */
export function whyNoItems(page: OperationReply, place: string | null = null): string | null {
  const unread = whyUnread(page) ?? (page.served ? null : `its status is ${page.status}`);
  return unread ?? (listOf(page, place) === null ? NO_LIST : null);
}
