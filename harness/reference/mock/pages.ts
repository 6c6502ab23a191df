import { queryParameters, type ReceivedRequest } from '../http/message.ts';
import type { Item } from './collections.ts';

const PAGE = /^page(?:_?number|\[number\])?$/i;
const OFFSET = /^(?:offset|skip|start|\$skip)$/i;
const NEXT = /next|cursor|^after$|page_?token|has_?more|^last$/i;
const SIZE = /^(?:limit|per_?page|page_?size|page\[size\]|size|max_?results|\$top|take|count)$/i;

/** Whether a member names another page. */
export function isNextPage(name: string): boolean {
  return NEXT.test(name);
}

/** The first items, as many as the query asks for. */
export function pageOf(items: readonly Item[], { query }: ReceivedRequest): readonly Item[] {
  const numbers = [...queryParameters(query)].filter(([, text]) => /^\d{1,6}$/.test(text));
  const of = (names: RegExp) => numbers.find(([name]) => names.test(name))?.[1];
  const size = Number(of(SIZE) ?? items.length);
  const page = Math.max(1, Number(of(PAGE) ?? 1));
  const start = Number(of(OFFSET) ?? (page - 1) * size);
  return items.slice(start, start + size);
}
