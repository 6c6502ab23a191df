import { documentedSample, findClause } from '../../base/clause.ts';
import type { ClauseKey } from '../../base/vocabulary.ts';
import { whyKeyless } from '../../config/blocks/websocket.ts';
import type { Carrier } from '../../config/credential/carrier.ts';
import { documentedValue, isCredentialOptional, type ServiceConfig } from '../../config/service.ts';

/** Decides by config and contract whether a check applies to a service: null, else the reason why not. */
export type Condition = (config: ServiceConfig) => string | null;

/** Whether an applicable check can be exercised: null, else what it lacks and how to provide it. */
export type Need = (config: ServiceConfig) => string | null;

/** `otherwise` completes "it does not apply, for …". */
export function when(
  holds: (config: ServiceConfig) => unknown,
  otherwise: string | ((config: ServiceConfig) => string),
): Condition {
  return (config) => {
    if (holds(config)) return null;
    return typeof otherwise === 'string' ? otherwise : otherwise(config);
  };
}

export function settled(key: string): Condition {
  return when(
    ({ contract, facts }) =>
      key in facts || (findClause(contract, key)?.standing ?? 'not-shown') !== 'not-shown',
    `${key} is not shown in the contract`,
  );
}

export const servesHttp = when(
  ({ contract, websocket }) => websocket === null || documentedSample(contract) !== null,
  'the contract shows a WebSocket endpoint and no HTTP request (endpoint.sample)',
);

export const streamed = when(
  ({ operations }) => operations.some(({ stream }) => stream !== undefined),
  'no operation is documented that answers with a stream alone',
);

export const spokenOverHttp2 = when(
  ({ http2 }) => http2,
  'the service config does not say that it speaks HTTP/2 (http2: true)',
);

// --- credentials ---

export const credentialed = when(
  ({ credentials }) => credentials.carrier,
  ({ credentials: { scheme } }) =>
    scheme.byCertificate
      ? 'the client certificate of the connection is all that lets a client in'
      : 'the service config says that no credential is needed',
);

export const credentialDemanded: Condition = (config) =>
  isCredentialOptional(config)
    ? 'the documents say that the service answers without a credential as well (auth.optional)'
    : credentialed(config);

export const credentialOptional = when(
  isCredentialOptional,
  'the documents do not say that the credential may be left out (auth.optional)',
);

/** `otherwise` is followed by the name of the scheme. */
function whenCarrier(holds: (carrier: Carrier | null) => unknown, otherwise: string): Condition {
  return when(
    ({ credentials }) => holds(credentials.carrier),
    ({ credentials: { scheme } }) => `${otherwise} (scheme: ${scheme.name})`,
  );
}

export const inAuthorizationField = whenCarrier(
  (carrier) => carrier?.word,
  'the credential is not sent in Authorization',
);

export const credentialInField = whenCarrier(
  (carrier) => carrier?.in === 'header',
  'no credential is sent in a header',
);

export const keyInField = whenCarrier(
  (carrier) => carrier?.bare && carrier.in === 'header',
  'no key is sent in a header',
);

/** A clause that leaves the place open documents none. */
export const noQueryKey = when(({ contract, facts }) => {
  const clause = findClause(contract, 'auth.placement');
  const value = facts['auth.placement']?.value ?? (clause?.question === undefined ? clause?.value : null);
  return ![value].flat().includes('query');
}, 'the query is a documented place of the key (auth.placement)');

export const keyInOwnField = whenCarrier(
  (carrier) => carrier?.in === 'header' && carrier.word === null,
  'no key is sent in a header of its own',
);

export const keyed = whenCarrier((carrier) => carrier?.bare, 'the credential is no key');

export const signed = whenCarrier((carrier) => carrier?.in === 'signature', 'requests are not signed');

export const keyAndApp = when(
  ({ credentials: { app, carrier } }) => app !== null && carrier !== null && carrier.in !== 'signature',
  'there is only one kind of credentials (no key, or no application beside it)',
);

/** A second working key of another account or quota. As `applies` or as `needs`. */
export const secondKey = when(
  ({ credentials }) => credentials.second,
  'no second key is configured (credentials.secondKey)',
);

// --- the format of responses ---

/** The first of these that the contract or the config answers, as JSON; '' for none. */
function format(config: ServiceConfig, keys: readonly ClauseKey[]): string {
  for (const key of keys) {
    const value = documentedValue(config, key);
    if (value !== null) return JSON.stringify(value);
  }
  return '';
}

export const jsonErrors = when(
  (config) => /json/i.test(format(config, ['errors.format'])),
  'the contract does not show that errors are JSON (errors.format)',
);

export const jsonResponses = when(
  (config) => /json/i.test(format(config, ['responses.format', 'endpoint.sample'])),
  'the contract does not show that the documented response is JSON (responses.format, endpoint.sample)',
);

export const jsonTypeSent = when(
  ({ contract }) =>
    Object.entries(documentedSample(contract)?.fields ?? {}).some(
      ([name, value]) => name.toLowerCase() === 'content-type' && /^application\/json/i.test(value),
    ),
  'the documented request has no Content-Type: application/json',
);

export const ownedByAccount = when(
  (config) => documentedValue(config, 'resources.owner') === 'account',
  'the documents do not say that what a client creates is for its account alone (resources.owner)',
);

// --- the documented limit ---

export const burstStated = when(
  ({ plan }) => plan?.rate,
  'no burst is documented beside the rate (plan: { burst }, limits.rate)',
);

export const furtherStated = when(
  ({ plan }) => plan?.further,
  'no further limit is documented (plan: { further }, limits.rate)',
);

export const furtherScopeStated = when(
  ({ plan }) => plan?.further?.some(({ per }) => per),
  'the documents do not say of a further limit whose requests are counted together (plan: { further: [{ per }] }, limits.rate)',
);

export const scopeStated = when(
  ({ plan }) => plan?.per,
  'the documents do not say whose requests are counted together (plan: { per }, limits.rate)',
);

/** Practice decides then. */
export const scopeOpen = when(
  ({ plan }) => !plan?.per,
  'the documents say whose requests are counted together: limits.scope holds it to that',
);

export const countedByKey = when(
  ({ plan }) => plan?.per !== 'address',
  'the documents say that requests are counted by address, whatever key they have',
);

// --- the documented request ---

/** Conditions, ranges and an empty body have a meaning for GET alone. */
export const getDocumented = when(
  ({ contract }) => (documentedSample(contract)?.method ?? 'GET') === 'GET',
  'the documented request is no GET',
);

export const marked = when(
  ({ headers = [] }) => headers.every(([name]) => name.toLowerCase() !== 'user-agent'),
  'the run is disguised by a User-Agent of the config',
);

export const documentedWithoutBody = when(
  ({ contract }) => (documentedSample(contract)?.body ?? null) === null,
  'the documented request has a body',
);

// --- what the config allows ---

const allowed = (what: string, by: string) => (config: ServiceConfig) =>
  `${what} with "safety: { ${by}: true }" in the config of ${config.service}`;

/** Also needs a plan to exceed. */
export const limitMayBeExceeded = when(
  ({ safety, plan }) => safety.exceedRateLimit && plan !== null,
  (config) =>
    config.safety.exceedRateLimit
      ? 'no plan is known (plan: { requests, window })'
      : allowed('the rate limit may not be exceeded here; allow it', 'exceedRateLimit')(config),
);

export const sizesMayBeFound = when(
  ({ safety }) => safety.findSizeLimits,
  allowed('sizes may not be tried out here; allow it', 'findSizeLimits'),
);

export const unsafeMethods = when(
  ({ safety }) => safety.unsafeMethods,
  allowed('unsafe methods may not be sent here; allow them', 'unsafeMethods'),
);

// --- the config ---

export const hasOperations = when(
  ({ operations }) => operations.length > 0,
  'no operations are configured for this service (operations: or openapi: in its config)',
);

export const versionReported = when(
  ({ deployedVersion }) => deployedVersion,
  'nothing says where its version stands (deployedVersion)',
);

/** Pacts state the expectations of consumers. */
export const hasPacts = when(
  ({ pacts }) => pacts,
  ({ contract, service }) => {
    const files = [...new Set([service, contract.name])].map((name) => `pacts/${name}.json`).join(' or ');
    return `no pact is known: none is configured (pacts), and there is no ${files}`;
  },
);

export const pactsRead: Need = ({ pacts }) => (pacts?.unread.length ? pacts.unread.join('; ') : null);

// --- WebSocket ---

export const hasWebSocket = when(({ websocket }) => websocket, 'no websocket is configured for this service');

export const echoes = when(
  ({ websocket }) => websocket?.echo,
  'nothing shows which messages the service answers, and websocket.echo is not set',
);

export const pusherDialect = when(
  ({ websocket }) => websocket?.dialect === 'pusher',
  'websocket.dialect is not pusher',
);

/** Its messages have a known meaning. */
export const spokenDialect = when(
  ({ websocket }) => websocket !== null && websocket.dialect !== 'raw',
  'no dialect is configured that has a heartbeat of its clients (websocket.dialect)',
);

export const ownDialect = when(
  ({ websocket }) => websocket?.dialect === 'own',
  'no dialect of its own is configured (websocket.dialect)',
);

export const handshakeCredential: Condition = (config) => {
  if (!config.credentials.carrier) return credentialed(config);
  return config.websocket && whyKeyless(config.websocket);
};

function keyPlace({ credentials, websocket }: ServiceConfig): string {
  return websocket?.credential?.in ?? credentials.carrier?.in ?? 'nowhere';
}

export const keyInHeader = when(
  (config) => keyPlace(config) === 'header',
  (config) => `the handshake does not carry its key in the header (${keyPlace(config)})`,
);

export const keyInQuery = when(
  (config) => keyPlace(config) === 'query',
  (config) => `the handshake does not carry its key in the query (${keyPlace(config)})`,
);

/** No document names a close code for a bad credential. */
export const noRefusalCode = when(
  ({ websocket }) => websocket?.refusalCode === undefined,
  ({ websocket }) =>
    `the config documents the close code ${websocket?.refusalCode} for it (websocket.refusalCode)`,
);

export const refusalCode = when(
  ({ websocket }) => websocket?.refusalCode !== undefined,
  'no close code for a bad credential is documented (websocket.refusalCode)',
);

export const subprotocolsNamed = when(
  ({ websocket }) => (websocket?.subprotocols.length ?? 0) > 0,
  'no subprotocols are configured for the websocket (websocket.subprotocols)',
);

export const originPolicy = when(
  ({ websocket }) => websocket?.origin != null,
  'no origin is configured for the websocket (websocket.origin)',
);

export const application = when(
  ({ credentials }) => credentials.app,
  'no application is configured (credentials.app)',
);

export const messagePairs = when(
  ({ websocket }) => websocket?.exchange?.length,
  'no messages with their answers are configured (websocket.exchange)',
);

export const loginConfigured = when(
  ({ websocket }) => websocket?.login,
  'no login is configured (websocket.login)',
);

export const documentedMessages = when(
  ({ websocket }) => websocket?.documented,
  'no AsyncAPI document describes its messages (asyncapi)',
);

export const messageSchemas = when(
  ({ websocket }) => websocket?.messages,
  'no JSON Schemas of events are configured (websocket.messages)',
);

export const keepsIdle = when(
  ({ websocket }) => websocket?.keepsIdleMs !== undefined,
  'nothing says how long a silent connection is kept (websocket.keepsIdle)',
);
