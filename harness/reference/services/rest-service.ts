import type { JsonObject } from '../../base/json-text.ts';
import type { Service } from '../behavior/behavior.ts';
import { problem, served } from '../http/answer.ts';
import { objectIn, queryParameters } from '../http/message.ts';
import { changes } from './changes.ts';
import { savedSearches } from './saved-searches.ts';

/** One entry of a catalogue of resources; `id` is its last path segment. */
export interface Resource {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly [attribute: string]: unknown;
}

const COLLECTION = '/v1/resources';
const MATCHES = '/v1/matches';

function linked(resource: Resource): object {
  return { ...resource, links: { self: `${COLLECTION}/${resource.id}`, collection: COLLECTION } };
}

/** Those that a search is after; all of them for an empty one. */
function found(
  resources: readonly Resource[],
  { text, kind, pageSize }: ResourceSearch,
): readonly Resource[] {
  return resources
    .filter((resource) => kind === null || resource.type === kind)
    .filter(({ name }) => text === null || name.toLowerCase().includes(text.toLowerCase()))
    .slice(0, pageSize ?? resources.length);
}

/**
 * A service with the one documented request, `GET /v1/resources`, what its links lead to, and a few further
 * operations that `config/openapi/search.yaml` describes: the list takes `kind` and `pageSize`, and `/v1/matches`
 * finds resources by a text, in the query or in a JSON body.
 */
export function restService(name: string, resources: readonly Resource[]): Service {
  const matches = (search: ResourceSearch) =>
    served({ matches: found(resources, search).map(linked), text: search.text, kind: search.kind });
  return {
    name,
    routes: [
      {
        template: COLLECTION,
        methods: {
          GET: ({ request }) => {
            const search = searchOfQuery(queryParameters(request.query));
            if (search === null) return problem('invalid-parameter');
            const listed = found(resources, search);
            return served(
              { resources: listed.map(linked), total: listed.length, links: { self: COLLECTION } },
              [['Link', `<${COLLECTION}>; rel="self"`]],
            );
          },
        },
      },
      {
        template: `${COLLECTION}/:id`,
        methods: {
          GET: ({ parameters }) => {
            const resource = resources.find(({ id }) => id === parameters.id);
            return resource === undefined
              ? problem('not-found')
              : served(linked(resource), [['Link', `<${COLLECTION}>; rel="collection"`]]);
          },
        },
      },
      {
        template: MATCHES,
        methods: {
          GET: ({ request }) => {
            const search = searchOfQuery(queryParameters(request.query));
            return search?.text ? matches(search) : problem('invalid-parameter');
          },
          POST: ({ request }) => {
            const body = objectIn(request);
            const search = body === null ? null : searchOfBody(body);
            return search?.text ? matches(search) : problem('invalid-content');
          },
        },
      },
      ...savedSearches(),
      ...changes(),
    ],
    sockets: [],
  };
}

/** What a request asks for; null where it does not say. */
export interface ResourceSearch {
  readonly text: string | null;
  readonly kind: string | null;
  readonly pageSize: number | null;
}

const MAX_PAGE_SIZE = 100;
const MAX_TEXT = 100;

/** The search that a query describes; null when a parameter is wrong or repeated. Unknown parameters are ignored. */
export function searchOfQuery(query: URLSearchParams): ResourceSearch | null {
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
export function searchOfBody(body: JsonObject): ResourceSearch | null {
  const { text, kind, pageSize, boost, since, fields, ...unknown } = body;
  if (Object.keys(unknown).length > 0) return null;
  if (!isBoost(boost) || !isDate(since) || !areFields(fields)) return null;
  return searchOf({ text: text ?? null, kind: kind ?? null, pageSize: pageSize ?? null });
}

function isBoost(boost: unknown): boolean {
  if (boost === undefined) return true;
  return typeof boost === 'number' && boost >= 0.5 && boost <= 10 && Number.isInteger(boost * 2);
}

export function isDate(since: unknown): boolean {
  if (since === undefined) return true;
  return typeof since === 'string' && /^\d{4}-\d\d-\d\d$/.test(since) && !Number.isNaN(Date.parse(since));
}

const MAX_FIELDS = 4;

function areFields(fields: unknown): boolean {
  if (fields === undefined) return true;
  if (!Array.isArray(fields) || fields.length === 0 || fields.length > MAX_FIELDS) return false;
  return new Set(fields).size === fields.length && fields.every(isFieldName);
}

function isFieldName(field: unknown): boolean {
  return typeof field === 'string' && /^[a-z]+$/.test(field);
}

function searchOf({
  text,
  kind,
  pageSize,
}: Readonly<Record<keyof ResourceSearch, unknown>>): ResourceSearch | null {
  if (text !== null && (typeof text !== 'string' || text === '' || text.length > MAX_TEXT)) return null;
  if (kind !== null && (typeof kind !== 'string' || !KINDS.has(kind))) return null;
  if (pageSize === null) return { text, kind, pageSize };
  if (typeof pageSize !== 'number' || !Number.isInteger(pageSize)) return null;
  return pageSize >= 1 && pageSize <= MAX_PAGE_SIZE ? { text, kind, pageSize } : null;
}

/** What a cloud search account holds: indexes, the skills that enrich them, and how they are filled and ranked. */
export const SEARCH_RESOURCES: readonly Resource[] = [
  resource('index', 'products', 'Products', {
    documents: 48_213,
    fields: ['title', 'description', 'price', 'embedding'],
    updatedAt: '2026-03-02T08:15:00Z',
  }),
  resource('index', 'support-articles', 'Support articles (Français, Español)', {
    documents: 1_904,
    fields: ['title', 'body', 'language', 'embedding'],
    updatedAt: '2026-03-01T21:40:12Z',
  }),
  resource('skillset', 'article-enrichment', 'Article enrichment', {
    skills: ['language-detection', 'key-phrases', 'entity-recognition', 'text-embedding'],
  }),
  resource('vector-profile', 'article-vectors', 'Article vectors', {
    algorithm: 'hnsw',
    dimensions: 1_536,
    metric: 'cosine',
  }),
  resource('semantic-configuration', 'article-ranking', 'Article ranking', {
    prioritizedFields: { title: 'title', content: ['body'], keywords: ['keyPhrases'] },
  }),
  resource('indexer', 'article-indexer', 'Article indexer', {
    target: 'support-articles',
    skillset: 'article-enrichment',
    schedule: 'PT1H',
    status: 'success',
  }),
];

/** What an omnichannel messaging account holds: its channels and some conversations over them. */
export const MESSAGING_RESOURCES: readonly Resource[] = [
  channel('sms-main', 'SMS long code', 'sms', '+15550100'),
  channel('whatsapp-care', 'WhatsApp customer care', 'whatsapp', '+15550101'),
  channel('voice-ivr', 'Voice menu', 'voice', '+15550102'),
  channel('instagram-shop', 'Instagram shop', 'instagram', '@shop.example', 'paused'),
  resource('conversation', 'conversation-1001', 'Order delayed — “when does it arrive?”', {
    channel: 'whatsapp',
    participants: ['+15550123'],
    messages: 6,
    lastMessageAt: '2026-03-02T10:31:07Z',
  }),
  resource('conversation', 'conversation-1002', 'Appointment reminder', {
    channel: 'sms',
    participants: ['+15550124'],
    messages: 2,
    lastMessageAt: '2026-03-02T09:00:00Z',
  }),
];

/** Kinds of resources of all services that share this. */
const KINDS = new Set([...SEARCH_RESOURCES, ...MESSAGING_RESOURCES].map(({ type }) => type));

function channel(id: string, name: string, kind: string, address: string, status = 'active'): Resource {
  return resource('channel', id, name, { channel: kind, address, status });
}

function resource(type: string, id: string, name: string, attributes: object): Resource {
  return { id, type, name, ...attributes };
}
