import type { JsonObject } from '../../base/json-text.ts';

/** What a request asks for; null where it does not say. */
export interface Search {
  readonly text: string | null;
  readonly kind: string | null;
  readonly pageSize: number | null;
}

/** Kinds of resources of all services that share this. */
const KINDS: ReadonlySet<unknown> = new Set([
  'index',
  'indexer',
  'skillset',
  'vector-profile',
  'semantic-configuration',
  'channel',
  'conversation',
]);
const MAX_PAGE_SIZE = 100;
const MAX_TEXT = 100;

/** The search that a query describes; null when a parameter is wrong or repeated. Unknown parameters are ignored. */
export function searchOfQuery(query: URLSearchParams): Search | null {
  const repeated = ['text', 'kind', 'pageSize'].some((name) => query.getAll(name).length > 1);
  if (repeated) return null;
  const pageSize = query.get('pageSize');
  return searchOf({
    text: query.get('text'),
    kind: query.get('kind'),
    // `1e1` and ` 7` are numbers to JavaScript, and no integers to the documentation.
    pageSize: pageSize === null ? null : /^\d{1,9}$/.test(pageSize) ? Number(pageSize) : pageSize,
  });
}

/** The search that a JSON body describes; null when a member is wrong or unknown. */
export function searchOfBody(body: JsonObject): Search | null {
  const { text, kind, pageSize, ...unknown } = body;
  if (Object.keys(unknown).length > 0) return null;
  return searchOf({ text: text ?? null, kind: kind ?? null, pageSize: pageSize ?? null });
}

function searchOf({ text, kind, pageSize }: Readonly<Record<keyof Search, unknown>>): Search | null {
  if (text !== null && (typeof text !== 'string' || text === '' || text.length > MAX_TEXT)) return null;
  if (kind !== null && (typeof kind !== 'string' || !KINDS.has(kind))) return null;
  if (pageSize === null) return { text, kind, pageSize };
  if (typeof pageSize !== 'number' || !Number.isInteger(pageSize)) return null;
  return pageSize >= 1 && pageSize <= MAX_PAGE_SIZE ? { text, kind, pageSize } : null;
}
