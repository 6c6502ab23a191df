import { fileURLToPath } from 'node:url';
import { type ClauseValue, documentedSample } from '../../base/clause.ts';
import { HarnessError } from '../../base/exit.ts';
import { Secret } from '../../base/secret.ts';
import type { ClauseKey } from '../../base/vocabulary.ts';
import { type Scheme, shippedApp, shippedKey } from '../../config/credential/scheme.ts';
import { bearer } from '../../config/credential/schemes/bearer.ts';
import { header } from '../../config/credential/schemes/header.ts';
import { signed } from '../../config/credential/schemes/signed.ts';
import { SCHEMES } from '../../config/credential/schemes.ts';
import {
  type EventSchemeName,
  eventScheme,
  SCHEMES_WITH_HEADER,
} from '../../config/credential/signing/event-signature.ts';
import type { VerificationKey } from '../../config/credential/signing/verification-key.ts';
import type { Plan, ReferenceName, ServiceConfig } from '../../config/service.ts';
import { exampleToken, FOREIGN_TOKEN, REVOKED_KEY } from '../../reference/credentials/access.ts';
import { KEY_ID, PUBLIC_KEY, SHARED_SECRET } from '../../reference/http/signature.ts';
import { MOUNT } from '../../reference/variants/paths.ts';
import type { Adapt, Setting } from './setting.ts';
import { inWebSocket, WEBSOCKET_SETTINGS } from './websocket-settings.ts';

const SAMPLE = 'endpoint.sample';

const byScheme =
  ({ of, proof }: Scheme): Adapt =>
  (config) => ({ ...config, credentials: of(proof.values(config.credentials)) });

/** A token that says this, signed with a secret that nobody knows. */
const withToken =
  (claims: object): Adapt =>
  (config) => {
    const key = new Secret('EXAMPLE_TOKEN', exampleToken(claims));
    return { ...config, credentials: bearer.of({ ...shippedKey(config.credentials), key }) };
  };

/** The config knows one key more, which must be refused. */
const refusing =
  (key: string, because: string): Adapt =>
  (config) => {
    const refused = [{ key: new Secret('EXAMPLE_REFUSED_KEY', key), because, position: 1 }];
    return { ...config, credentials: bearer.of({ ...shippedKey(config.credentials), refused }) };
  };

/** Of a client of the search service. */
const CLAIMS = { iss: 'https://login.example/', sub: 'client', aud: 'search' };

function pusher(config: ServiceConfig): ServiceConfig {
  const { websocket } = config;
  if (websocket === null) throw new Error(`${config.service} has no WebSocket`);
  const url = `/app/${shippedApp(config.credentials).key}?protocol=7`;
  const { exchange: _, ...endpoint } = websocket;
  const established = { required: ['socket_id', 'activity_timeout'] };
  const messages = { 'pusher:connection_established': established };
  return { ...config, websocket: { ...endpoint, url, dialect: 'pusher', echo: false, messages } };
}

const signingEvents =
  (scheme: EventSchemeName, key?: VerificationKey): Adapt =>
  ({ webhooks, ...config }) => {
    if (!webhooks?.signature) throw new Error(`${config.service} signs no events`);
    const header = eventScheme(scheme).header ?? webhooks.signature.header;
    return {
      ...config,
      webhooks: {
        ...webhooks,
        signature: { ...webhooks.signature, ...(key && { key }), header, scheme, prefix: '' },
      },
    };
  };

/** What the documents say otherwise than the shipped ones. */
const documenting =
  (key: ClauseKey, value: ClauseValue): Adapt =>
  (config) => ({ ...config, facts: { ...config.facts, [key]: { value, origin: 'the proof' } } });

/** All that is documented lies below this path; pacts, which name paths of their own, are left out. */
const documentedBelow =
  (path: string): Adapt =>
  ({ pacts: _, ...config }) => {
    const sample = documentedSample(config.contract);
    if (sample === null) throw new Error(`${config.service} has no documented request`);
    const { method, path: resource, fields } = sample;
    const others = config.contract.clauses.filter(({ key }) => key !== SAMPLE);
    const documented = config.contract.clauses.filter(({ key }) => key === SAMPLE);
    const below = documented.map((clause) => ({
      ...clause,
      value: { method, path: `${path}${resource}`, fields, response: 'JSON body' },
    }));
    return documenting(
      'versioning.prefix',
      `${path}/v1`,
    )({
      ...config,
      contract: { ...config.contract, clauses: [...below, ...others] },
      operations: config.operations.map((operation) => ({ ...operation, path: `${path}${operation.path}` })),
    });
  };

const withQuota =
  (change: (plan: Plan) => Plan): Adapt =>
  ({ plan, ...config }) => ({ ...config, plan: plan && change(plan) });

/** The documented request is this one; pacts, which name the shipped one, are left out. */
const sampling =
  (value: ClauseValue): Adapt =>
  ({ pacts: _, ...config }) => {
    const clauses = config.contract.clauses.map((each) => (each.key === SAMPLE ? { ...each, value } : each));
    return { ...config, contract: { ...config.contract, clauses } };
  };

const SEARCH: readonly ReferenceName[] = ['search'];
const REALTIME: readonly ReferenceName[] = ['realtime'];

const SETTINGS: readonly Setting[] = [
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
    // The key is a signed token (RFC 7519), of which anybody can read what it says.
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
      const adapter = fileURLToPath(new URL('../config/own-dialect.ts', import.meta.url));
      return inWebSocket({ dialect: 'own', adapter, credential: { in: 'none' } })(pusher(config));
    },
    conforming: REALTIME,
  },
  {
    // What clients create and remove themselves.
    name: 'saved searches',
    words: 'openapi: ../openapi/saved-searches.yaml',
    adapt: (config) => config,
    stored: true,
    conforming: SEARCH,
  },
  {
    // The same, and each account has its own.
    name: 'own searches',
    words: 'openapi: ../openapi/saved-searches.yaml, and a contract that states resources.owner: account',
    adapt: documenting('resources.owner', 'account'),
    stored: true,
    conforming: [],
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
    adapt: withQuota(({ requests, windowMs, ...plan }) => {
      const shorter = { requests: requests * 0.4, windowMs: windowMs / 60 };
      return { ...plan, requests, windowMs, further: [shorter] };
    }),
    conforming: SEARCH,
  },
  {
    name: 'two limits, the further one longer',
    words: 'plan: { requests: 20, window: 60s, further: [{ requests: 400, window: 1h, per: address }] }',
    adapt: withQuota(({ requests, windowMs, ...plan }) => {
      const longer = { requests: 20 * requests, windowMs: 60 * windowMs, per: 'address' } as const;
      return { ...plan, requests, windowMs, further: [longer] };
    }),
    conforming: SEARCH,
  },
  {
    name: 'two limits, the further one soon spent',
    words: 'plan: { requests: 20, window: 60s, further: [{ requests: 30, window: 4m, per: key }] }',
    adapt: withQuota(({ requests, windowMs, ...plan }) => {
      const longer = { requests: 1.5 * requests, windowMs: 4 * windowMs, per: 'key' } as const;
      return { ...plan, requests, windowMs, further: [longer] };
    }),
    // It is met before the main one is counted, which then must not go on.
    conforming: [],
  },
  {
    name: 'three limits',
    words:
      'plan: { requests: 20, window: 60s, further: [{ requests: 8, window: 1s }, { requests: 12, window: 5s }] }',
    adapt: withQuota(({ requests, windowMs, ...plan }) => {
      const shorter = { requests: requests * 0.4, windowMs: windowMs / 60 };
      const between = { requests: requests * 0.6, windowMs: windowMs / 12 };
      return { ...plan, requests, windowMs, further: [shorter, between] };
    }),
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
    name: 'text errors',
    words: 'contract: one that states errors.format: text',
    adapt: documenting('errors.format', 'text'),
    conforming: SEARCH,
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
    // Pact would have to be told whom to trust.
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
  ...WEBSOCKET_SETTINGS,
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

function conformingOf(settings: readonly Setting[]): readonly (readonly [ReferenceName, string])[] {
  return settings.flatMap(({ name, conforming }) => conforming.map((service) => [service, name] as const));
}

/** That of the shipped config. */
export const SHIPPED = bearer.proof.setting;

/** @throws HarnessError when no setting has that name. */
export function settingNamed(name: string): Setting {
  const found = SETTINGS.find((setting) => setting.name === name);
  if (found === undefined) throw new HarnessError(`the proof has no setting ${JSON.stringify(name)}`);
  return found;
}
