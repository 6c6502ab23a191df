import { fileURLToPath } from 'node:url';
import { HarnessError } from '../base/exit.ts';
import { Secret } from '../base/secret.ts';
import { shippedKey } from '../config/credential/scheme.ts';
import { bearer, header, SCHEMES, signed } from '../config/credential/schemes.ts';
import { SCHEMES_WITH_HEADER } from '../config/credential/signing/event-signature.ts';
import type { ReferenceName } from '../config/service.ts';
import { PAGES } from '../reference/behavior/patches/pages.ts';
import { FOREIGN_TOKEN, REVOKED_KEY } from '../reference/credentials.ts';
import { KEY_ID, PUBLIC_KEY, SHARED_SECRET } from '../reference/http/signature.ts';
import { MOUNT } from '../reference/variants/paths.ts';
import {
  byScheme,
  type CaseSetting,
  CLAIMS,
  documentedBelow,
  documenting,
  GRAPHQL,
  inWebSocket,
  ofType,
  pusher,
  refusing,
  sampling,
  signingEvents,
  withCancellation,
  withFurther,
  withoutMessages,
  withQuota,
  withToken,
} from './setting.ts';

const SEARCH: readonly ReferenceName[] = ['search'];
const REALTIME: readonly ReferenceName[] = ['realtime'];

/** Pages of named origins, of the origin null and of look-alikes, an error, a refusal, and preflights. */
const PAGE_REQUESTS = 26;

const SETTINGS: readonly CaseSetting[] = [
  ...SCHEMES.map((scheme) => ({ ...scheme.proof, name: scheme.proof.setting, adapt: byScheme(scheme) })),
  {
    // A token in Authorization with no scheme before it.
    name: 'raw token',
    words: 'credentials: { scheme: header, name: Authorization }',
    adapt: (config) => ({
      ...config,
      credentials: header.of({ ...shippedKey(config.credentials), name: 'Authorization' }),
    }),
    conforming: SEARCH,
  },
  {
    // The key is a signed token (RFC 7519), whose claims any client can read.
    name: 'token',
    words: 'credentials: { scheme: bearer, key: a JSON web token }',
    adapt: withToken(CLAIMS),
    conforming: SEARCH,
    moreRequests: 5,
  },
  {
    name: 'foreign token',
    words: 'credentials: { refused: [{ key: a JSON web token, because: of another audience }] }',
    adapt: (config) => refusing(FOREIGN_TOKEN, 'of another audience')(withToken(CLAIMS)(config)),
    conforming: SEARCH,
    moreRequests: 6,
  },
  {
    name: 'revoked keys',
    words: 'credentials: { refused: [{ key: …, because: revoked }] }',
    adapt: refusing(REVOKED_KEY, 'revoked'),
    conforming: ['search', 'realtime'],
    moreRequests: 1,
  },
  {
    name: 'expired token',
    words: 'credentials: { scheme: bearer, key: a JSON web token that has expired }',
    adapt: withToken({ sub: 'client', exp: 1_600_000_000 }),
    conforming: [],
  },
  {
    // Each request signed by the application, whose WebSocket speaks the Pusher protocol.
    name: 'signed',
    words: 'credentials: { scheme: signed } and websocket: { dialect: pusher }',
    adapt: (config) => byScheme(signed)(pusher(config)),
    conforming: REALTIME,
    isRefusedOtherwise: true,
  },
  { name: 'pusher', words: 'websocket: { dialect: pusher }', adapt: pusher, conforming: REALTIME },
  {
    // The same, as if it were a dialect of the user's.
    name: 'own',
    words: 'websocket: { dialect: a module of your own }',
    adapt: (config) => {
      const adapter = fileURLToPath(new URL('./config/own-dialect.ts', import.meta.url));
      return inWebSocket({ dialect: 'own', adapter, credential: { in: 'none' } })(pusher(config));
    },
    conforming: REALTIME,
  },
  {
    // What clients create and remove themselves.
    name: 'saved searches',
    words: 'openapi: ../openapi/saved-searches.yaml',
    adapt: (config) => config,
    operations: 'stored',
    conforming: SEARCH,
  },
  {
    // Work that is accepted can be cancelled.
    name: 'exports to cancel',
    words: 'openapi: ../openapi/saved-searches.yaml, with DELETE of /v1/jobs/{id}',
    adapt: withCancellation,
    operations: 'stored',
    conforming: SEARCH,
    moreRequests: 5,
  },
  {
    // The same, and each account has its own.
    name: 'own searches',
    words: 'openapi: ../openapi/saved-searches.yaml, and a contract that states resources.owner: account',
    adapt: documenting('resources.owner', 'account'),
    operations: 'stored',
    conforming: [],
  },
  {
    // Writes show later than at once, and the documents say when.
    name: 'late writes documented',
    words: 'openapi: ../openapi/saved-searches.yaml, and a contract that states resources.consistency: 8s',
    adapt: documenting('resources.consistency', '8s'),
    operations: 'stored',
    conforming: SEARCH,
  },
  {
    // What goes on while a client listens.
    name: 'streams',
    words: 'openapi: ../openapi/changes.yaml and events: { firstWithin: 2s, heartbeat: 5s, resume: true }',
    adapt: (config) => config,
    operations: 'streamed',
    conforming: SEARCH,
  },
  {
    // The header and the query are both documented places of the key.
    name: 'query documented',
    words: 'contract: one that states auth.placement: [header, query]',
    adapt: documenting('auth.placement', ['header', 'query']),
    conforming: SEARCH,
  },
  {
    // The documented request is a search whose terms stand in its body.
    name: 'sample with a body',
    words: 'contract: one that states endpoint.sample: { method: POST, body: { … } }',
    adapt: sampling({
      method: 'POST',
      path: '/v1/matches',
      fields: {},
      body: { text: 'article' },
      response: 'JSON body',
    }),
    conforming: SEARCH,
  },
  {
    name: 'burst beside a rate',
    words: 'plan: { requests: 20, window: 60s, burst: 10 }',
    adapt: withQuota(({ requests, windowMs, ...plan }) => ({
      ...plan,
      requests: requests / 2,
      windowMs: windowMs / 2,
      rate: { requests, windowMs },
    })),
    conforming: SEARCH,
  },
  {
    name: 'two limits',
    words: 'plan: { requests: 20, window: 60s, further: [{ requests: 8, window: 1s }] }',
    adapt: withFurther(({ requests, windowMs }) => [{ requests: requests * 0.4, windowMs: windowMs / 60 }]),
    conforming: SEARCH,
  },
  {
    name: 'two limits, the further one longer',
    words: 'plan: { requests: 20, window: 60s, further: [{ requests: 400, window: 1h, per: address }] }',
    adapt: withFurther(({ requests, windowMs }) => [
      { requests: 20 * requests, windowMs: 60 * windowMs, per: 'address' },
    ]),
    conforming: SEARCH,
  },
  {
    name: 'two limits, the further one soon spent',
    words: 'plan: { requests: 20, window: 60s, further: [{ requests: 30, window: 4m, per: key }] }',
    adapt: withFurther(({ requests, windowMs }) => [
      { requests: 1.5 * requests, windowMs: 4 * windowMs, per: 'key' },
    ]),
    // It is met before the main one is counted, which then must not go on.
    conforming: [],
  },
  {
    name: 'three limits',
    words:
      'plan: { requests: 20, window: 60s, further: [{ requests: 8, window: 1s }, { requests: 12, window: 5s }] }',
    adapt: withFurther(({ requests, windowMs }) => [
      { requests: requests * 0.4, windowMs: windowMs / 60 },
      { requests: requests * 0.6, windowMs: windowMs / 12 },
    ]),
    conforming: SEARCH,
  },
  {
    name: 'limit by account',
    words: 'plan: { requests: 20, window: 60s, per: account }',
    adapt: withQuota((plan) => ({ ...plan, per: 'account' })),
    conforming: SEARCH,
  },
  {
    name: 'limit by address',
    words: 'plan: { requests: 20, window: 60s, per: address }',
    adapt: withQuota((plan) => ({ ...plan, per: 'address' })),
    conforming: SEARCH,
  },
  {
    name: 'optional key',
    words: 'contract: one that states auth.optional: true',
    adapt: documenting('auth.optional', true),
    conforming: ['search', 'realtime'],
  },
  {
    name: 'error codes',
    words:
      'contract: one that states errors.codes: { missingCredential: 401, wrongCredential: 401, unknownPath: 404, unservedMethod: 405, rateLimit: 429 }',
    adapt: documenting('errors.codes', {
      missingCredential: 401,
      wrongCredential: 401,
      unknownPath: 404,
      unservedMethod: 405,
      rateLimit: 429,
    }),
    conforming: SEARCH,
  },
  {
    name: 'response time',
    words: 'maxResponse: { listResources: 1s, "*": 800ms }',
    adapt: documenting('responses.time', { listResources: '1s', '*': '800ms' }),
    conforming: SEARCH,
  },
  {
    name: 'text errors',
    words: 'contract: one that states errors.format: text',
    adapt: documenting('errors.format', 'text'),
    conforming: SEARCH,
  },
  // Pages of other origins may call, which takes a service that lets them in.
  {
    name: 'pages of named origins',
    words:
      'cors: { origins: [https://shop.example, https://office.example:8443], credentials: true, exposed: [RateLimit, X-Request-Id] }',
    adapt: documenting('cors.origins', PAGES),
    conforming: [],
    moreRequests: PAGE_REQUESTS,
  },
  {
    name: 'pages without cookies',
    words: 'cors: { origins: [https://shop.example, https://office.example:8443], credentials: false }',
    adapt: documenting('cors.origins', { origins: PAGES.origins, credentials: false }),
    conforming: [],
    moreRequests: PAGE_REQUESTS,
  },
  {
    name: 'pages of every origin',
    words: 'cors: { origins: ["*"] }',
    adapt: documenting('cors.origins', { origins: ['*'] }),
    conforming: [],
    moreRequests: PAGE_REQUESTS,
  },
  {
    name: 'pages of sub-domains',
    words: 'cors: { origins: ["https://*.shop.example"] }',
    adapt: documenting('cors.origins', { origins: ['https://*.shop.example'] }),
    conforming: [],
    moreRequests: PAGE_REQUESTS,
  },
  {
    name: 'saved searches for pages',
    words: 'openapi: ../openapi/saved-searches.yaml, and cors as for named origins',
    adapt: documenting('cors.origins', PAGES),
    operations: 'stored',
    conforming: [],
    moreRequests: PAGE_REQUESTS,
  },
  {
    // Behind a gateway that shares its host with other services.
    name: 'mounted',
    words: `provider: { url: https://host.example${MOUNT} }`,
    adapt: (config) => config,
    mount: MOUNT,
    conforming: [],
  },
  {
    // Pact would need the certificate authority.
    name: 'over TLS',
    words: 'provider: { url: https://host.example }',
    adapt: ({ pacts: _, ...config }) => config,
    overTls: true,
    conforming: SEARCH,
  },
  {
    // It takes a service that signs.
    name: 'signed responses',
    words: 'signatures: { example: ../keys/example.pem }',
    adapt: (config) => ({ ...config, signatures: { [KEY_ID]: { pem: PUBLIC_KEY } } }),
    conforming: [],
  },
  {
    name: 'responses signed by secret',
    words: 'signatures: { example: { secret: …, encoding: base64 } }',
    adapt: (config) => ({
      ...config,
      signatures: { [KEY_ID]: { secret: new Secret('SIGNING_SECRET', SHARED_SECRET), encoding: 'base64' } },
    }),
    conforming: [],
  },
  {
    // The same path, as a part of all that is documented.
    name: 'deep prefix',
    words: `contract: one that states versioning.prefix: ${MOUNT}/v1`,
    adapt: documentedBelow(MOUNT),
    conforming: [],
  },
  // The handshake carries the key elsewhere than other requests do.
  {
    name: 'key in subprotocol',
    words: 'websocket: { credential: { in: subprotocol, prefix: bearer. } }',
    adapt: inWebSocket({
      credential: { in: 'subprotocol', prefix: 'bearer.', encoding: 'base64url' },
      subprotocols: ['echo.v1'],
    }),
    conforming: [],
  },
  {
    name: 'key in token',
    words: 'websocket: { credential: { in: query, name: token } }',
    adapt: inWebSocket({ credential: { in: 'query', name: 'token' }, subprotocols: ['echo.v1'] }),
    conforming: [],
  },
  {
    // Nothing is known of what may be said.
    name: 'no messages',
    words: 'websocket: { echo: false, exchange: null }',
    adapt: ({ websocket, ...config }) => ({ ...config, websocket: websocket && withoutMessages(websocket) }),
    conforming: REALTIME,
  },
  {
    // A schema that takes more than the answer.
    name: 'loose answers',
    words: 'websocket: { echo: false, exchange: [{ send: { ask: conform }, expect: { type: object } }] }',
    adapt: inWebSocket({
      echo: false,
      exchange: [{ send: '{"ask":"conform"}', expect: { type: 'object' } }],
    }),
    conforming: REALTIME,
    moreRequests: 2,
  },
  {
    // Messages that are documented, in place of an echo.
    name: 'documented messages',
    words: 'asyncapi: harness/proof/config/talk.asyncapi.yaml',
    adapt: (config) => config,
    talks: true,
    conforming: [],
    moreRequests: 8,
  },
  {
    // A client logs in before it says anything else.
    name: 'login by message',
    words: 'websocket: { echo: false, login: { send: …, expect: … } }',
    adapt: inWebSocket({
      echo: false,
      login: {
        send: '{"login":"conform"}',
        expect: { type: 'object', properties: { login: { const: 'conform' } }, required: ['login'] },
      },
    }),
    conforming: REALTIME,
  },
  {
    // A bad credential has its own close code.
    name: 'close code',
    words: 'websocket: { refusalCode: 4401 }',
    adapt: inWebSocket({ refusalCode: 4401 }),
    conforming: [],
  },
  {
    // A silent connection must last.
    name: 'idle',
    words: 'websocket: { keepsIdle: 1.2s }',
    adapt: inWebSocket({ keepsIdleMs: 1_200 }),
    conforming: REALTIME,
  },
  {
    // The service sends its own heartbeats.
    name: 'heartbeat',
    words: 'websocket: { heartbeat: { receive: { type: ping }, answer: { type: pong } } }',
    adapt: inWebSocket({ heartbeat: { receive: { type: 'ping' }, answer: '{"type":"pong"}' } }),
    conforming: REALTIME,
  },
  {
    // A subprotocol of which it is known how a client keeps its connection.
    name: 'graphql',
    words:
      'websocket: { echo: false, exchange: null, subprotocols: [graphql-transport-ws], keepsIdle: 1.2s }',
    adapt: ({ websocket, ...config }) => ({
      ...config,
      websocket: websocket && { ...withoutMessages(websocket), ...GRAPHQL },
    }),
    conforming: REALTIME,
  },
  {
    name: 'graphql with login',
    words:
      'websocket: { echo: false, subprotocols: [graphql-transport-ws], keepsIdle: 1.2s, login: { send: { type: connection_init }, expect: … }, exchange: … }',
    adapt: inWebSocket({
      ...GRAPHQL,
      echo: false,
      login: { send: '{"type":"connection_init"}', expect: ofType('connection_ack') },
      exchange: [
        { send: '{"id":"a","type":"subscribe","payload":{"query":"{conform}"}}', expect: ofType('next') },
      ],
    }),
    conforming: [],
  },
  {
    // Pages of one origin alone may connect.
    name: 'origin',
    words: 'websocket: { origin: https://app.example }',
    adapt: inWebSocket({ origin: 'https://app.example' }),
    conforming: REALTIME,
  },
  {
    // One request resets a stream beside it, and one asks whether HTTP/1.1 is spoken.
    name: 'HTTP/2',
    words: 'http2: true',
    adapt: (config) => ({ ...config, http2: true }),
    moreRequests: 12,
    conforming: ['search', 'realtime'],
  },
  // How events are signed takes a service that does it in that way.
  ...SCHEMES_WITH_HEADER.map((scheme) => ({
    name: `${scheme.replace(/-webhooks$/, '')} webhooks`,
    words: `webhooks: { signature: { scheme: ${scheme} } }`,
    adapt: signingEvents(scheme),
    conforming: [],
  })),
  {
    name: 'rfc9421 webhooks by public key',
    words: 'webhooks: { signature: { scheme: rfc9421, key: ../keys/example.pem } }',
    adapt: signingEvents('rfc9421', { pem: PUBLIC_KEY }),
    conforming: [],
  },
];

/** The settings with other refusals, each with a service that conforms under it. */
export const REFUSED_OTHERWISE = conformingOf(
  SETTINGS.filter(({ isRefusedOtherwise }) => isRefusedOtherwise),
);

/** The services as they are, once for each way of calling them. */
export const CONFORMING = conformingOf(SETTINGS);

function conformingOf(settings: readonly CaseSetting[]): readonly (readonly [ReferenceName, string])[] {
  return settings.flatMap(({ name, conforming }) => conforming.map((service) => [service, name] as const));
}

/** That of the shipped config. */
export const SHIPPED = bearer.proof.setting;

/** @throws HarnessError when no setting has that name. */
export function settingNamed(name: string): CaseSetting {
  const found = SETTINGS.find((setting) => setting.name === name);
  if (found === undefined) throw new HarnessError(`the proof has no setting ${JSON.stringify(name)}`);
  return found;
}
