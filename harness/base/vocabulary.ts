/** A JSON Schema (2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

interface Word {
  /** One line, for a person: what a clause of this key says. */
  readonly meaning: string;
  /** Schema of the value that a stated or advised clause carries; a clause that is not shown carries null. */
  readonly value: JsonSchema;
  /** A value as a contract may state it. */
  readonly example: unknown;
}

const text: JsonSchema = { type: 'string', minLength: 1 };
const texts: JsonSchema = { type: 'array', items: text, minItems: 1, uniqueItems: true };
const textOrTexts: JsonSchema = { ...text, ...texts, type: ['string', 'array'] };
const fieldValues: JsonSchema = { type: 'object', additionalProperties: text };
const anything: JsonSchema = {};

function record(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** As a duration is written everywhere: a number and its unit, `60s`. */
const duration: JsonSchema = {
  type: 'string',
  description: 'a duration such as 60s',
  pattern: '^[0-9]+(\\.[0-9]+)?(ms|s|m|h)$',
};

/** Errors whose status `errors.codes` may name. */
const ERROR_CONDITIONS = [
  'missingCredential',
  'wrongCredential',
  'unknownPath',
  'unservedMethod',
  'rateLimit',
] as const;

/** Of keys whose value has this shape. */
const valued =
  (value: JsonSchema) =>
  (meaning: string, example: unknown): Word => ({ meaning, value, example });
const inWords = valued(text);
const inList = valued(texts);
const inWordsOrList = valued(textOrTexts);
const inAnyForm = valued(anything);

/** Whose requests a limit counts together: those with one key, with the keys of one account, from one address. */
export const LIMIT_SCOPES = ['key', 'account', 'address'] as const;

export type LimitScope = (typeof LIMIT_SCOPES)[number];

export type ErrorCondition = (typeof ERROR_CONDITIONS)[number];

/** An origin (RFC 6454), `*` for every one, or `https://*.shop.example` for those of its sub-domains. */
export const ORIGIN = '^(\\*|[a-z][a-z0-9+.-]*://(\\*\\.)?[^\\s,/?#@*]+)$';

const scope: JsonSchema = { enum: LIMIT_SCOPES, description: 'whose requests are counted together' };

const atLeastOne: JsonSchema = { type: 'integer', minimum: 1 };

const status: JsonSchema = { type: 'integer', minimum: 300, maximum: 599 };
/** One status, or those of which any may come. */
const statuses: JsonSchema = {
  ...status,
  type: ['integer', 'array'],
  items: status,
  minItems: 1,
  uniqueItems: true,
};

/**
 * The keys that contracts share, so that a check can appeal to a clause without knowing whose contract it is.
 * Where a check computes with the value its schema is exact; elsewhere it only keeps the value tidy.
 */
const TABLE = {
  'service.scope': {
    meaning: 'what the document covers, and what it does not',
    value: record({ covers: text, means: texts, apartFrom: texts }, ['covers']),
    example: { covers: 'the orders API', apartFrom: ['billing'] },
  },
  'service.purpose': {
    meaning: 'what the service does',
    value: record({ does: text, with: texts }, ['does']),
    example: { does: 'takes and tracks orders' },
  },
  'service.category': inWords('category of the service in a catalogue', 'commerce'),
  'service.tags': inList('tags of the service in a catalogue', ['orders', 'shop']),
  'service.style': inWords('style of the API, such as REST', 'REST'),
  'service.pricing': {
    meaning: 'how clients pay for the service',
    value: record({ model: text, free: text }, ['model']),
    example: { model: 'per request', free: '1000 requests a month' },
  },
  'service.operations': inList('what clients can do with the service', ['list orders', 'place an order']),
  'responses.format': inWords('format of response bodies', 'JSON'),
  'responses.status-codes': inWords('which status codes responses carry', 'standard HTTP status codes'),
  'responses.validation': inWords(
    'what clients must check in a response before they use it',
    'clients check the shape of a response before they use it',
  ),
  'responses.time': {
    meaning: 'how long responses may take: those of all operations, or of operations by pattern',
    value: {
      ...duration,
      type: ['string', 'object'],
      additionalProperties: duration,
      minProperties: 1,
    },
    example: '800ms',
  },
  'resources.fields': inAnyForm('the resources and the fields they have', { order: ['id', 'total'] }),
  'resources.owner': {
    meaning: 'who sees and changes what a client creates: its account alone, or everyone',
    value: { enum: ['account', 'everyone'] },
    example: 'account',
  },
  'resources.consistency': {
    meaning: 'how long after a write reads and lists may still show the state before it',
    value: duration,
    example: '2s',
  },
  'states.transitions': inAnyForm('the states of a resource, and which follows which', {
    placed: ['paid', 'cancelled'],
  }),
  'endpoint.base': inWords('the base URL of every path', 'https://api.orders.example'),
  'endpoint.sample': {
    meaning: 'the sample request of the document, with its body where it has one, and its response',
    value: record(
      {
        method: { type: 'string', pattern: '^[A-Z]+$' },
        path: { type: 'string', pattern: '^/' },
        fields: { ...fieldValues, description: 'headers beside the credential' },
        credentialField: { ...text, description: 'the header with the credential in the sample request' },
        body: { description: 'request body: JSON, or text that is sent unchanged' },
        payload: text,
        response: text,
      },
      ['method', 'path', 'fields', 'response'],
    ),
    example: { method: 'GET', path: '/v1/orders', fields: {}, response: 'JSON body' },
  },
  'endpoint.sample-nature': {
    meaning: 'what the sample request says about other requests',
    value: record({ only: { type: 'boolean' }, generic: { type: 'boolean' }, credential: text }, []),
    example: { only: false, generic: false },
  },
  'endpoint.parameters': inAnyForm('parameters of the documented request', ['limit', 'cursor']),
  'endpoint.response-fields': inAnyForm('fields of the documented response', ['data', 'next']),
  'endpoint.other-operations': inAnyForm('operations beside the sample request', ['GET /v1/orders/{id}']),
  'websocket.transport': {
    meaning: 'that the service uses WebSocket, and in which direction messages go',
    value: record({ protocol: text, direction: text }, ['protocol']),
    example: { protocol: 'WebSocket', direction: 'both' },
  },
  'websocket.address': inWords('address of the WebSocket endpoint', 'wss://api.orders.example/live'),
  'websocket.messages': inAnyForm('format of WebSocket messages, and of the answers', 'JSON text messages'),
  'auth.scheme': {
    meaning: 'how a client proves who it is',
    value: {
      type: ['string', 'object'],
      minLength: 1,
      properties: { kind: text, credentials: texts },
      required: ['kind'],
      additionalProperties: false,
    },
    example: { kind: 'bearer token' },
  },
  'auth.optional': {
    meaning: 'that the service answers without a credential as well',
    value: { type: 'boolean' },
    example: true,
  },
  'auth.placement': {
    meaning: 'where a request carries the credential; several places where the document leaves it open',
    value: {
      type: 'array',
      items: { enum: ['header', 'query', 'cookie', 'body', 'signature'] },
      minItems: 1,
      uniqueItems: true,
    },
    example: ['header'],
  },
  'auth.sample': {
    meaning: 'the credential in the sample request',
    value: record({ field: text, value: text, beside: fieldValues }, ['field', 'value']),
    example: { field: 'Authorization', value: 'Bearer <API_KEY>' },
  },
  'auth.key-storage': {
    meaning: 'where clients keep their keys, and where not',
    value: record({ keptIn: texts, keptOutOf: texts }, []),
    example: { keptIn: ['environment variables'], keptOutOf: ['version control'] },
  },
  'auth.credential-name': inWords('name of the header or query parameter with the credential', 'X-API-Key'),
  'auth.usage': inWords(
    'how clients use the credentials, such as for signing',
    'each request is signed with the secret',
  ),
  'cors.origins': {
    meaning: 'the origins whose pages may call the service from a browser, and what they may read',
    value: record(
      {
        origins: {
          type: 'array',
          items: { type: 'string', pattern: ORIGIN, description: 'an origin such as https://shop.example' },
          minItems: 1,
          uniqueItems: true,
        },
        credentials: { type: 'boolean', description: 'whether they may send cookies of the browser' },
        exposed: { ...texts, description: 'headers of responses that they may read' },
      },
      ['origins'],
    ),
    example: { origins: ['https://shop.example'], credentials: true, exposed: ['RateLimit', 'Retry-After'] },
  },
  'events.kinds': inList('the kinds of events that the service sends', ['order.paid', 'order.shipped']),
  'events.payloads': inAnyForm('what an event carries', { 'order.paid': ['id', 'total'] }),
  'events.webhooks': inWords(
    'which events the service sends to a webhook',
    'each event is sent to the registered address',
  ),
  'events.delivery': inAnyForm('delivery rules: order, retries, duplicates, signatures', {
    retries: 3,
    signature: 'HMAC-SHA256',
  }),
  'events.streams': inAnyForm('what streams keep to: first event, heartbeats, how they are resumed', {
    heartbeat: '15s',
    resume: true,
  }),
  'errors.format': inWords('format of error bodies', 'JSON'),
  'errors.status-codes': inWords('which status codes errors carry', 'standard HTTP status codes'),
  'errors.codes': {
    meaning: `the status of each error: ${ERROR_CONDITIONS.join(', ')}`,
    value: {
      type: 'object',
      properties: Object.fromEntries(ERROR_CONDITIONS.map((condition) => [condition, statuses])),
    },
    example: { missingCredential: 401, unknownPath: 404, rateLimit: 429 },
  },
  'errors.shape': inAnyForm('fields of an error body', ['code', 'message']),
  'errors.request-id': inWords(
    'ids by which a request can be found again',
    'each response carries X-Request-Id',
  ),
  'limits.rate': {
    meaning: 'how many requests are allowed in how much time, how many at once, to whom; further limits',
    value: record(
      {
        requests: atLeastOne,
        window: duration,
        burst: {
          type: 'integer',
          minimum: 1,
          description: 'number of requests allowed at once; they come back one by one at the rate',
        },
        per: scope,
        further: {
          type: 'array',
          items: record({ requests: atLeastOne, window: duration, per: scope }, ['requests', 'window']),
          minItems: 1,
          description:
            'limits that apply at the same time, such as one for each second beside one for each minute',
        },
        variesBy: text,
      },
      ['requests', 'window'],
    ),
    example: { requests: 100, window: '60s' },
  },
  'limits.other': inAnyForm('other limits: sizes, quotas, time-outs', { bodyBytes: 1048576 }),
  'limits.client-backoff': {
    meaning: 'what clients do when they meet a limit',
    value: record({ respectLimits: { type: 'boolean' }, backoff: text }, []),
    example: { respectLimits: true, backoff: 'exponential' },
  },
  'versioning.prefix': {
    meaning: 'the path prefix of the version, such as /v1',
    value: {
      type: 'string',
      description: 'one or several path segments such as /v1 or /api/v1',
      pattern: '^(/[^/]+)+$',
    },
    example: '/v1',
  },
  'versioning.policy': inWordsOrList(
    'what a version promises, and for how long',
    'a version is served for two years',
  ),
  'versioning.selection': inWordsOrList('how a client selects a version', 'by the path prefix'),
  'consumers.pacts': inList('consumers whose pacts the service must keep', ['web-shop']),
} as const satisfies Record<string, Word>;

export type ClauseKey = keyof typeof TABLE;

export const VOCABULARY: Readonly<Record<ClauseKey, Word>> = TABLE;

export const CLAUSE_KEYS: readonly string[] = Object.keys(VOCABULARY);

export function isClauseKey(key: string): key is ClauseKey {
  return Object.hasOwn(VOCABULARY, key);
}
