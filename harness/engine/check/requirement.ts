import { documentedSample, findClause } from '../../base/clause.ts';
import type { ClauseKey } from '../../base/vocabulary.ts';
import { whyKeyless } from '../../config/blocks/websocket.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { documentedValue, isCredentialOptional } from '../../config/service.ts';

/**
 * Decides from the config and the contract alone whether a check makes sense for a service: null when it does, else
 * the reason why it does not.
 */
export type Condition = (config: ServiceConfig) => string | null;

/** Whether that without which an applicable check cannot be exercised is there: null, else what is missing and how to provide it. */
export type Need = (config: ServiceConfig) => string | null;

/** Where the config is like that; `otherwise` completes "it does not apply, for …". */
export function when(
  holds: (config: ServiceConfig) => unknown,
  otherwise: string | ((config: ServiceConfig) => string),
): Condition {
  return (config) => {
    if (holds(config)) return null;
    return typeof otherwise === 'string' ? otherwise : otherwise(config);
  };
}

/** The contract states the clause, or the service config fills it in. */
export function settled(key: string): Condition {
  return when(
    ({ contract, facts }) =>
      key in facts || (findClause(contract, key)?.standing ?? 'not-shown') !== 'not-shown',
    `${key} is not shown in the contract`,
  );
}

// --- credentials ---

/** The service demands a credential at all. */
export const credentialed = when(
  ({ credentials }) => credentials.carrier,
  ({ credentials: { scheme } }) =>
    scheme.byCertificate
      ? 'the client certificate of the connection is all that lets a client in'
      : 'the service config says that no credential is needed',
);

/** Who has no credential is refused. */
export const credentialDemanded: Condition = (config) =>
  isCredentialOptional(config)
    ? 'the documents say that the service answers without a credential as well (auth.optional)'
    : credentialed(config);

/** The documents say that the credential may be left out. */
export const credentialOptional = when(
  isCredentialOptional,
  'the documents do not say that the credential may be left out (auth.optional)',
);

/** The credential goes into the Authorization header field with an authentication scheme. */
export const inAuthorizationField = when(
  ({ credentials }) => credentials.carrier?.word,
  ({ credentials: { scheme } }) => `the credential is not sent in Authorization (scheme: ${scheme.name})`,
);

/** The credential travels in a header field. */
export const credentialInField = when(
  ({ credentials: { carrier } }) => carrier?.in === 'header',
  ({ credentials: { scheme } }) => `no credential is sent in a header (scheme: ${scheme.name})`,
);

/** The key travels in a header field, and could be put into the query instead. */
export const keyInField = when(
  ({ credentials: { carrier } }) => carrier?.bare && carrier.in === 'header',
  ({ credentials: { scheme } }) => `no key is sent in a header (scheme: ${scheme.name})`,
);

/** Nobody documents the query as a place of the key. A clause that leaves open which place applies documents none. */
export const noQueryKey = when(({ contract, facts }) => {
  const clause = findClause(contract, 'auth.placement');
  const value = facts['auth.placement']?.value ?? (clause?.question === undefined ? clause?.value : null);
  return ![value].flat().includes('query');
}, 'the query is a documented place of the key (auth.placement)');

/** The key travels in a header field that HTTP knows nothing of. */
export const keyInOwnField = when(
  ({ credentials: { carrier } }) => carrier?.in === 'header' && carrier.word === null,
  ({ credentials: { scheme } }) => `no key is sent in a header of its own (scheme: ${scheme.name})`,
);

/** The credential is a key that could stand in other places as well. */
export const keyed = when(
  ({ credentials }) => credentials.carrier?.bare,
  ({ credentials: { scheme } }) => `the credential is no key (scheme: ${scheme.name})`,
);

/** Requests are signed with the application's secret. */
export const signed = when(
  ({ credentials }) => credentials.carrier?.in === 'signature',
  ({ credentials: { scheme } }) => `requests are not signed (scheme: ${scheme.name})`,
);

/** A key is configured, and an application that could sign instead. */
export const keyAndApp = when(
  ({ credentials: { app, carrier } }) => app !== null && carrier !== null && carrier.in !== 'signature',
  'there is only one kind of credentials (no key, or no application beside it)',
);

/**
 * A second working key of another account or quota. Without one there is nothing to be said of it (`applies`), and what
 * it would tell cannot be told (`needs`).
 */
export const secondKey = when(
  ({ credentials }) => credentials.second,
  'no second key is configured (credentials.secondKey)',
);

// --- the format of what is answered ---

/** The first of these clauses that the contract states or advises, or the config fills in; '' for none. */
function format(config: ServiceConfig, keys: readonly ClauseKey[]): string {
  for (const key of keys) {
    const value = documentedValue(config, key);
    if (value !== null) return JSON.stringify(value);
  }
  return '';
}

/** Errors are documented as JSON. */
export const jsonErrors = when(
  (config) => /json/i.test(format(config, ['errors.format'])),
  'the contract does not show that errors are JSON (errors.format)',
);

/** What is served is documented as JSON. */
export const jsonResponses = when(
  (config) => /json/i.test(format(config, ['responses.format', 'endpoint.sample'])),
  'the contract does not show that the documented response is JSON (responses.format, endpoint.sample)',
);

/** The documented request says of itself that it is JSON. */
export const jsonTypeSent = when(
  ({ contract }) =>
    Object.entries(documentedSample(contract)?.fields ?? {}).some(
      ([name, value]) => name.toLowerCase() === 'content-type' && /^application\/json/i.test(value),
    ),
  'the documented request has no Content-Type: application/json',
);

/** What an account creates is for itself alone. */
export const ownedByAccount = when(
  (config) => documentedValue(config, 'resources.owner') === 'account',
  'the documents do not say that what a client creates is for its account alone (resources.owner)',
);

// --- the documented limit ---

/** A burst is documented beside the rate. */
export const burstStated = when(
  ({ plan }) => plan?.rate,
  'no burst is documented beside the rate (plan: { burst }, limits.rate)',
);

/** Several limits are documented. */
export const furtherStated = when(
  ({ plan }) => plan?.further,
  'no further limit is documented (plan: { further }, limits.rate)',
);

/** The documents say of a further limit whose requests are counted together. */
export const furtherScopeStated = when(
  ({ plan }) => plan?.further?.some(({ per }) => per),
  'the documents do not say of a further limit whose requests are counted together (plan: { further: [{ per }] }, limits.rate)',
);

/** The documents say whose requests are counted together. */
export const scopeStated = when(
  ({ plan }) => plan?.per,
  'the documents do not say whose requests are counted together (plan: { per }, limits.rate)',
);

/** It is not said, so that practice is what counts. */
export const scopeOpen = when(
  ({ plan }) => !plan?.per,
  'the documents say whose requests are counted together: limits.scope holds it to that',
);

/** Requests from one address are not documented to be counted together. */
export const countedByKey = when(
  ({ plan }) => plan?.per !== 'address',
  'the documents say that requests are counted by address, whatever key they have',
);

// --- the documented request ---

/** What holds of GET alone: conditions, ranges, a HEAD beside it, content without a meaning. */
export const getDocumented = when(
  ({ contract }) => (documentedSample(contract)?.method ?? 'GET') === 'GET',
  'the documented request is no GET',
);

/** Nothing is sent with the documented request. */
export const documentedWithoutBody = when(
  ({ contract }) => (documentedSample(contract)?.body ?? null) === null,
  'the documented request has a body',
);

// --- what the config allows ---

const allowed = (what: string, by: string) => (config: ServiceConfig) =>
  `${what} with "safety: { ${by}: true }" in the config of ${config.service}`;

/** The config allows the rate limit to be exceeded on purpose, and there is a plan to exceed. */
export const limitMayBeExceeded = when(
  ({ safety, plan }) => safety.exceedRateLimit && plan !== null,
  (config) =>
    config.safety.exceedRateLimit
      ? 'no plan is known (plan: { requests, window })'
      : allowed('the rate limit may not be exceeded here; allow it', 'exceedRateLimit')(config),
);

/** The config allows requests that are long on purpose. */
export const sizesMayBeFound = when(
  ({ safety }) => safety.findSizeLimits,
  allowed('sizes may not be tried out here; allow it', 'findSizeLimits'),
);

/** Methods that may change something are allowed. */
export const unsafeMethods = when(
  ({ safety }) => safety.unsafeMethods,
  allowed('unsafe methods may not be sent here; allow them', 'unsafeMethods'),
);

// --- what is configured ---

/** Calls beyond the sample are described. */
export const hasOperations = when(
  ({ operations }) => operations.length > 0,
  'no operations are configured for this service (operations: or openapi: in its config)',
);

/** It is known where the service says which version of it is deployed. */
export const versionReported = when(
  ({ deployedVersion }) => deployedVersion,
  'nothing says where its version stands (deployedVersion)',
);

/** Somebody has written down, as a pact, what consumers expect of the service. */
export const hasPacts = when(
  ({ pacts }) => pacts,
  ({ contract, service }) => {
    const files = [...new Set([service, contract.name])].map((name) => `pacts/${name}.json`).join(' or ');
    return `no pact is known: none is configured (pacts), and there is no ${files}`;
  },
);

/** All pacts could be read, those of a broker included. */
export const pactsRead: Need = ({ pacts }) => (pacts?.unread.length ? pacts.unread.join('; ') : null);

// --- WebSocket ---

export const hasWebSocket = when(({ websocket }) => websocket, 'no websocket is configured for this service');

/** The WebSocket endpoint sends back what it gets. */
export const echoes = when(
  ({ websocket }) => websocket?.echo,
  'nothing shows which messages the service answers, and websocket.echo is not set',
);

export const pusherDialect = when(
  ({ websocket }) => websocket?.dialect === 'pusher',
  'websocket.dialect is not pusher',
);

/** More is known of what is spoken than that there are messages. */
export const spokenDialect = when(
  ({ websocket }) => websocket !== null && websocket.dialect !== 'raw',
  'no dialect is configured that has a heartbeat of its clients (websocket.dialect)',
);

/** What is spoken is described by a module of the user's. */
export const ownDialect = when(
  ({ websocket }) => websocket?.dialect === 'own',
  'no dialect of its own is configured (websocket.dialect)',
);

/** The opening handshake carries the configured credential. */
export const handshakeCredential: Condition = (config) => {
  if (!config.credentials.carrier) return credentialed(config);
  return config.websocket && whyKeyless(config.websocket);
};

/** Where the handshake carries its key. */
function keyPlace({ credentials, websocket }: ServiceConfig): string {
  return websocket?.credential?.in ?? credentials.carrier?.in ?? 'nowhere';
}

/** The handshake carries the key in a header field. */
export const keyInHeader = when(
  (config) => keyPlace(config) === 'header',
  (config) => `the handshake does not carry its key in the header (${keyPlace(config)})`,
);

/** The handshake carries the key in the query. */
export const keyInQuery = when(
  (config) => keyPlace(config) === 'query',
  (config) => `the handshake does not carry its key in the query (${keyPlace(config)})`,
);

/** Nobody has documented a close code for a bad credential. */
export const noRefusalCode = when(
  ({ websocket }) => websocket?.refusalCode === undefined,
  ({ websocket }) =>
    `the config documents the close code ${websocket?.refusalCode} for it (websocket.refusalCode)`,
);

export const refusalCode = when(
  ({ websocket }) => websocket?.refusalCode !== undefined,
  'no close code for a bad credential is documented (websocket.refusalCode)',
);

/** Only pages of one origin may connect. */
export const originPolicy = when(
  ({ websocket }) => websocket?.origin != null,
  'no origin is configured for the websocket (websocket.origin)',
);

/** Subscriptions can be signed. */
export const application = when(
  ({ credentials }) => credentials.app,
  'no application is configured (credentials.app)',
);

/** Messages are configured, and what answers them. */
export const messagePairs = when(
  ({ websocket }) => websocket?.exchange?.length,
  'no messages with their answers are configured (websocket.exchange)',
);

/** Clients log in with a message. */
export const loginConfigured = when(
  ({ websocket }) => websocket?.login,
  'no login is configured (websocket.login)',
);

/** JSON Schemas are configured for what the service sends. */
export const messageSchemas = when(
  ({ websocket }) => websocket?.messages,
  'no JSON Schemas of events are configured (websocket.messages)',
);

/** How long a silent connection is kept is documented. */
export const keepsIdle = when(
  ({ websocket }) => websocket?.keepsIdleMs !== undefined,
  'nothing says how long a silent connection is kept (websocket.keepsIdle)',
);
