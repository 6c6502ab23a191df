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

/**
 * The keys that contracts share, so that a check can appeal to a clause without knowing whose contract it is.
 * Where a check computes with the value its schema is exact; elsewhere it only keeps the value tidy.
 */
const TABLE = {
  'service.scope': {
    meaning: 'what the document covers, and what it has nothing to do with',
    value: record({ covers: text, means: texts, apartFrom: texts }, ['covers']),
    example: { covers: 'the orders API', apartFrom: ['billing'] },
  },
  'service.purpose': {
    meaning: 'what the service does',
    value: record({ does: text, with: texts }, ['does']),
    example: { does: 'takes and tracks orders' },
  },
  'service.category': { meaning: 'the category it is filed under', value: text, example: 'commerce' },
  'service.tags': { meaning: 'the tags it is filed under', value: texts, example: ['orders', 'shop'] },
  'service.style': { meaning: 'architectural style of the interface', value: text, example: 'REST' },
  'service.pricing': {
    meaning: 'how its use is paid for',
    value: record({ model: text, free: text }, ['model']),
    example: { model: 'per request', free: '1000 requests a month' },
  },
  'service.operations': {
    meaning: 'the operations it offers',
    value: texts,
    example: ['list orders', 'place an order'],
  },
  'responses.format': { meaning: 'format of response bodies', value: text, example: 'JSON' },
  'responses.status-codes': {
    meaning: 'which status codes responses carry',
    value: text,
    example: 'standard HTTP status codes',
  },
  'responses.validation': {
    meaning: 'what clients do with a response before they rely on it',
    value: text,
    example: 'clients check the shape of a response before they use it',
  },
  'resources.fields': {
    meaning: 'the resources and the fields they have',
    value: anything,
    example: { order: ['id', 'total'] },
  },
  'states.transitions': {
    meaning: 'the states of a resource and how it passes between them',
    value: anything,
    example: { placed: ['paid', 'cancelled'] },
  },
  'endpoint.base': {
    meaning: 'the address that every path is relative to',
    value: text,
    example: 'https://api.orders.example',
  },
  'endpoint.sample': {
    meaning: 'the documented sample request and what answers it',
    value: record(
      {
        method: { type: 'string', pattern: '^[A-Z]+$' },
        path: { type: 'string', pattern: '^/' },
        fields: { ...fieldValues, description: 'header values sent beside the credential' },
        credentialField: { ...text, description: 'the header that carries the credential in the sample' },
        payload: text,
        response: text,
      },
      ['method', 'path', 'fields', 'response'],
    ),
    example: { method: 'GET', path: '/v1/orders', fields: {}, response: 'JSON body' },
  },
  'endpoint.sample-nature': {
    meaning: 'how far the sample stands for the interface',
    value: record({ only: { type: 'boolean' }, generic: { type: 'boolean' }, credential: text }, []),
    example: { only: false, generic: false },
  },
  'endpoint.parameters': {
    meaning: 'parameters of the documented request',
    value: anything,
    example: ['limit', 'cursor'],
  },
  'endpoint.response-fields': {
    meaning: 'fields of the documented response',
    value: anything,
    example: ['data', 'next'],
  },
  'endpoint.other-operations': {
    meaning: 'operations beyond the sample',
    value: anything,
    example: ['GET /v1/orders/{id}'],
  },
  'websocket.transport': {
    meaning: 'that the service speaks over WebSocket, and which way',
    value: record({ protocol: text, direction: text }, ['protocol']),
    example: { protocol: 'WebSocket', direction: 'both' },
  },
  'websocket.address': {
    meaning: 'address of the WebSocket endpoint',
    value: text,
    example: 'wss://api.orders.example/live',
  },
  'websocket.messages': {
    meaning: 'format of WebSocket messages, and what answers them',
    value: anything,
    example: 'JSON text messages',
  },
  'auth.scheme': {
    meaning: 'the scheme by which a client is authenticated',
    value: {
      type: ['string', 'object'],
      minLength: 1,
      properties: { kind: text, credentials: texts },
      required: ['kind'],
      additionalProperties: false,
    },
    example: { kind: 'bearer token' },
  },
  'auth.placement': {
    meaning: 'where the credential goes in a request; several where the document leaves it open',
    value: {
      type: 'array',
      items: { enum: ['header', 'query', 'cookie', 'body', 'signature'] },
      minItems: 1,
      uniqueItems: true,
    },
    example: ['header'],
  },
  'auth.sample': {
    meaning: 'the credential as sample requests carry it',
    value: record({ field: text, value: text, beside: fieldValues }, ['field', 'value']),
    example: { field: 'Authorization', value: 'Bearer <API_KEY>' },
  },
  'auth.key-storage': {
    meaning: 'where clients keep their keys, and where not',
    value: record({ keptIn: texts, keptOutOf: texts }, []),
    example: { keptIn: ['environment variables'], keptOutOf: ['version control'] },
  },
  'auth.credential-name': {
    meaning: 'the definitive name of the header field or query parameter',
    value: text,
    example: 'X-API-Key',
  },
  'auth.usage': {
    meaning: 'how the credentials are put to use: signing, names',
    value: text,
    example: 'each request is signed with the secret',
  },
  'events.kinds': {
    meaning: 'the kinds of events the service tells of',
    value: texts,
    example: ['order.paid', 'order.shipped'],
  },
  'events.payloads': {
    meaning: 'what an event carries',
    value: anything,
    example: { 'order.paid': ['id', 'total'] },
  },
  'events.webhooks': {
    meaning: 'whether and for what events are delivered to a webhook',
    value: text,
    example: 'each event is sent to the registered address',
  },
  'events.delivery': {
    meaning: 'delivery rules: order, retries, duplicates, signatures',
    value: anything,
    example: { retries: 3, signature: 'HMAC-SHA256' },
  },
  'errors.format': { meaning: 'format of error bodies', value: text, example: 'JSON' },
  'errors.status-codes': {
    meaning: 'which status codes errors carry',
    value: text,
    example: 'standard HTTP status codes',
  },
  'errors.codes': {
    meaning: 'the status codes per condition: missingCredential, wrongCredential, unknownPath',
    value: anything,
    example: { missingCredential: 401, unknownPath: 404 },
  },
  'errors.shape': { meaning: 'fields of an error body', value: anything, example: ['code', 'message'] },
  'errors.request-id': {
    meaning: 'identifiers by which a request can be traced',
    value: text,
    example: 'each response carries X-Request-Id',
  },
  'limits.rate': {
    meaning: 'how many requests are admitted in which window',
    value: record({ requests: { type: 'integer', minimum: 1 }, window: duration, variesBy: text }, [
      'requests',
      'window',
    ]),
    example: { requests: 100, window: '60s' },
  },
  'limits.other': {
    meaning: 'other limits: sizes, quotas, time-outs',
    value: anything,
    example: { bodyBytes: 1048576 },
  },
  'limits.client-backoff': {
    meaning: 'what clients do when they meet a limit',
    value: record({ respectLimits: { type: 'boolean' }, backoff: text }, []),
    example: { respectLimits: true, backoff: 'exponential' },
  },
  'versioning.prefix': {
    meaning: 'the path prefix that names the version',
    value: {
      type: 'string',
      description: 'one or several path segments such as /v1 or /api/v1',
      pattern: '^(/[^/]+)+$',
    },
    example: '/v1',
  },
  'versioning.policy': {
    meaning: 'what a version promises, and for how long',
    value: textOrTexts,
    example: 'a version is served for two years',
  },
  'versioning.selection': {
    meaning: 'how a client selects a version',
    value: textOrTexts,
    example: 'by the path prefix',
  },
  'consumers.pacts': {
    meaning: 'consumers whose pacts the provider is held to',
    value: texts,
    example: ['web-shop'],
  },
} as const satisfies Record<string, Word>;

export type ClauseKey = keyof typeof TABLE;

export const VOCABULARY: Readonly<Record<ClauseKey, Word>> = TABLE;

export const CLAUSE_KEYS: readonly string[] = Object.keys(VOCABULARY);

export function isClauseKey(key: string): key is ClauseKey {
  return Object.hasOwn(VOCABULARY, key);
}
