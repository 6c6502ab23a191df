import { type ClauseValue, documentedSample } from '../base/clause.ts';
import { Secret } from '../base/secret.ts';
import type { ClauseKey } from '../base/vocabulary.ts';
import { type Heartbeat, heartbeatOfSubprotocols } from '../config/blocks/dialect.ts';
import type { WebSocketConfig } from '../config/blocks/websocket.ts';
import { type Scheme, shippedApp, shippedKey } from '../config/credential/scheme.ts';
import { bearer } from '../config/credential/schemes.ts';
import { type EventSchemeName, eventScheme } from '../config/credential/signing/event-signature.ts';
import type { VerificationKey } from '../config/credential/signing/verification-key.ts';
import type { Plan, ReferenceName, ServiceConfig } from '../config/service.ts';
import { exampleToken } from '../reference/credentials.ts';

/** Changes the shipped config. */
export type Adapt = (config: ServiceConfig) => ServiceConfig;

/** The config under which a case is judged; what concerns one way of calling is seen only by those who call so. */
export interface CaseSetting {
  readonly name: string;
  /** What the service config says otherwise than the shipped one; null where it says the same. */
  readonly words: string | null;
  readonly adapt: Adapt;
  /** Path of the base URL below which the service is called; the root when left out. */
  readonly mount?: string;
  /** It is called over TLS. */
  readonly overTls?: true;
  /** An AsyncAPI document says what goes over its WebSocket. */
  readonly talks?: true;
  /** The operations are those by which clients create and remove their own items, or streams. */
  readonly operations?: 'stored' | 'streamed';
  /** How many requests more it takes than the shipped one, at the most. Default: none. */
  readonly moreRequests?: number;
  /** A refusal comes otherwise under it, so that defects of the way in trip something else. */
  readonly isRefusedOtherwise?: true;
  /** The services that conform under it as they are; none where that takes a variant. */
  readonly conforming: readonly ReferenceName[];
}

const SAMPLE = 'endpoint.sample';

export const byScheme =
  ({ of, proof }: Scheme): Adapt =>
  (config) => ({ ...config, credentials: of(proof.values(config.credentials)) });

/** A token that says this, signed with a secret unknown to the service. */
export const withToken =
  (claims: object): Adapt =>
  (config) => {
    const key = new Secret('EXAMPLE_TOKEN', exampleToken(claims));
    return { ...config, credentials: bearer.of({ ...shippedKey(config.credentials), key }) };
  };

/** The config knows one key more, which must be refused. */
export const refusing =
  (key: string, because: string): Adapt =>
  (config) => {
    const refused = [{ key: new Secret('EXAMPLE_REFUSED_KEY', key), because, position: 1 }];
    return { ...config, credentials: bearer.of({ ...shippedKey(config.credentials), refused }) };
  };

/** Of a client of the search service. */
export const CLAIMS = { iss: 'https://login.example/', sub: 'client', aud: 'search' };

export function pusher(config: ServiceConfig): ServiceConfig {
  const { websocket } = config;
  if (websocket === null) throw new Error(`${config.service} has no WebSocket`);
  const url = `/app/${shippedApp(config.credentials).key}?protocol=7`;
  const { exchange: _, ...endpoint } = websocket;
  const established = { required: ['socket_id', 'activity_timeout'] };
  const messages = { 'pusher:connection_established': established };
  return { ...config, websocket: { ...endpoint, url, dialect: 'pusher', echo: false, messages } };
}

export const signingEvents =
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
export const documenting =
  (key: ClauseKey, value: ClauseValue): Adapt =>
  (config) => ({ ...config, facts: { ...config.facts, [key]: { value, origin: 'the proof' } } });

/** All that is documented lies below this path; pacts, which name paths of their own, are left out. */
export const documentedBelow =
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
      operations: config.operations.map((operation) => ({
        ...operation,
        path: `${path}${operation.path}`,
        call: { ...operation.call, template: `${path}${operation.call.template}` },
      })),
    });
  };

export const withQuota =
  (change: (plan: Plan) => Plan): Adapt =>
  ({ plan, ...config }) => ({ ...config, plan: plan && change(plan) });

/** Further limits beside that of the plan. */
export const withFurther = (further: (plan: Plan) => NonNullable<Plan['further']>): Adapt =>
  withQuota((plan) => ({ ...plan, further: further(plan) }));

/** The documented request is this one; pacts, which name the shipped one, are left out. */
export const sampling =
  (value: ClauseValue): Adapt =>
  ({ pacts: _, ...config }) => {
    const clauses = config.contract.clauses.map((each) => (each.key === SAMPLE ? { ...each, value } : each));
    return { ...config, contract: { ...config.contract, clauses } };
  };

/** The removal of a saved search, as that of an export. */
export function withCancellation(config: ServiceConfig): ServiceConfig {
  const cancellations = config.operations
    .filter(({ id }) => id === 'removeSearch')
    .map((removal) => {
      const template = '/v1/jobs/{id}';
      const at = { template, path: removal.path.replace('/v1/searches/', '/v1/jobs/') };
      return { ...removal, ...at, id: 'cancelExport', call: { ...removal.call, template } };
    });
  return { ...config, operations: [...config.operations, ...cancellations] };
}

export function withoutMessages({ exchange: _, ...endpoint }: WebSocketConfig): WebSocketConfig {
  return { ...endpoint, echo: false };
}

export const inWebSocket =
  (change: Partial<WebSocketConfig>): Adapt =>
  ({ websocket, ...config }) => ({ ...config, websocket: websocket && { ...websocket, ...change } });

const SUBPROTOCOLS = ['graphql-transport-ws'];
export const GRAPHQL = {
  subprotocols: SUBPROTOCOLS,
  keepsIdleMs: 1_200,
  ...withHeartbeat(heartbeatOfSubprotocols(SUBPROTOCOLS)),
};

function withHeartbeat(heartbeat: Heartbeat | null): Pick<WebSocketConfig, 'heartbeat'> {
  return heartbeat === null ? {} : { heartbeat };
}

/** A JSON object with this type. */
export function ofType(type: string): object {
  return { type: 'object', properties: { type: { const: type } }, required: ['type'] };
}
