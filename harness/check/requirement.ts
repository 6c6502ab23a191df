import type { ServiceConfig } from '../config/service.ts';
import { findClause } from '../contract/clause.ts';

/** Decides from the config and the contract alone whether a check makes sense for a service. */
export interface Condition {
  /** null when it applies, else the reason why it does not. */
  readonly reasonNot: (config: ServiceConfig) => string | null;
}

/** Something without which an applicable check cannot be exercised. */
export interface Need {
  /** null when it is there, else what is missing and how to provide it. */
  readonly missing: (config: ServiceConfig) => string | null;
}

/** The contract states the clause, or the service config fills it in. */
export function settled(key: string): Condition {
  return {
    reasonNot: ({ contract, facts }) => {
      const standing = findClause(contract, key)?.standing ?? 'not-shown';
      return standing !== 'not-shown' || key in facts ? null : `${key} is not shown in the contract`;
    },
  };
}

/** The service demands a credential at all. */
export const credentialed: Condition = {
  reasonNot: ({ credentials }) =>
    credentials.carrier === null ? 'the service config says that no credential is needed' : null,
};

/** The credential goes into the Authorization header field with an authentication scheme. */
export const inAuthorizationField: Condition = {
  reasonNot: ({ credentials }) =>
    credentials.carrier?.word
      ? null
      : `the credential is not sent in Authorization (scheme: ${credentials.scheme.name})`,
};

/** The key travels in a header field, and could be put into the query instead. */
export const keyInField: Condition = {
  reasonNot: ({ credentials: { carrier, scheme } }) =>
    carrier?.bare && carrier.in === 'header'
      ? null
      : `no key is sent in a header field (scheme: ${scheme.name})`,
};

/** The key travels in a header field that HTTP knows nothing of. */
export const keyInOwnField: Condition = {
  reasonNot: ({ credentials: { carrier, scheme } }) =>
    carrier?.in === 'header' && carrier.word === null
      ? null
      : `no key is sent in a field of its own (scheme: ${scheme.name})`,
};

/** Calls beyond the sample are described. */
export const hasOperations: Condition = {
  reasonNot: ({ operations }) =>
    operations.length > 0
      ? null
      : 'no operations are configured for this service (operations: or openapi: in its config)',
};

export const hasWebSocket: Condition = {
  reasonNot: ({ websocket }) => (websocket ? null : 'no websocket is configured for this service'),
};

/** The WebSocket endpoint sends back what it gets. */
export const echoes: Condition = {
  reasonNot: ({ websocket }) =>
    websocket?.echo ? null : 'which messages the service answers is not shown, and websocket.echo is not set',
};

export const pusherDialect: Condition = {
  reasonNot: ({ websocket }) => (websocket?.dialect === 'pusher' ? null : 'websocket.dialect is not pusher'),
};

const NO_SECOND_KEY = 'no second key is configured (credentials.secondKey)';

/** A second working key of another account or quota: what cannot be told without one. */
export const secondKey: Need = {
  missing: ({ credentials }) => (credentials.second === null ? NO_SECOND_KEY : null),
};

/** There is a second key: what is said of it, and of nothing without it. */
export const hasSecondKey: Condition = {
  reasonNot: ({ credentials }) => (credentials.second === null ? NO_SECOND_KEY : null),
};

/** The config allows the rate limit to be exceeded on purpose, and there is a plan to exceed. */
export const limitMayBeExceeded: Condition = {
  reasonNot: ({ plan, safety, service }) => {
    if (!safety.exceedRateLimit) {
      return `the rate limit may not be exceeded here; allow it with "safety: { exceedRateLimit: true }" in the config of ${service}`;
    }
    return plan === null ? 'no plan is known (plan: { requests, window })' : null;
  },
};

/** The config allows requests that are long on purpose. */
export const sizesMayBeFound: Condition = {
  reasonNot: ({ safety, service }) =>
    safety.findSizeLimits
      ? null
      : `sizes may not be tried out here; allow it with "safety: { findSizeLimits: true }" in the config of ${service}`,
};

/** Requests are signed with the application's secret. */
export const signed: Condition = {
  reasonNot: ({ credentials: { carrier, scheme } }) =>
    carrier?.in === 'signature' ? null : `requests are not signed (scheme: ${scheme.name})`,
};

/** A key is configured, and an application that could sign instead. */
export const keyAndApp: Condition = {
  reasonNot: ({ credentials: { app, carrier } }) =>
    app === null || carrier === null || carrier.in === 'signature'
      ? 'there is only one kind of credentials (no key, or no application beside it)'
      : null,
};

/** The credential is a key that could stand in other places as well. */
export const keyed: Condition = {
  reasonNot: ({ credentials: { carrier, scheme } }) =>
    carrier?.bare ? null : `the credential is no key (scheme: ${scheme.name})`,
};

/** Methods that may change something are allowed. */
export const unsafeMethods: Condition = {
  reasonNot: ({ safety, service }) =>
    safety.unsafeMethods
      ? null
      : `unsafe methods may not be sent here; allow them with "safety: { unsafeMethods: true }" in the config of ${service}`,
};

/** Somebody has written down, as a pact, what consumers expect of the service. */
export const hasPacts: Condition = {
  reasonNot: ({ contract, pacts, service }) =>
    pacts
      ? null
      : `no pact is known: none is configured (pacts), and there is no ${[...new Set([service, contract.name])].map((name) => `pacts/${name}.json`).join(' or ')}`,
};

/** All pacts could be read, those of a broker included. */
export const pactsRead: Need = {
  missing: ({ pacts }) => (pacts && pacts.unread.length > 0 ? pacts.unread.join('; ') : null),
};

/** The opening handshake carries the configured credential. */
export const handshakeCredential: Condition = {
  reasonNot: ({ credentials, websocket }) => {
    if (credentials.carrier === null) return 'the service config says that no credential is needed';
    if (websocket?.credential?.in === 'none')
      return 'the handshake carries no credential (websocket.credential)';
    return websocket?.dialect === 'pusher'
      ? 'in the Pusher protocol the application key in the address is all that a handshake carries'
      : null;
  },
};

/** Only pages of one origin may connect. */
export const originPolicy: Condition = {
  reasonNot: ({ websocket }) =>
    websocket?.origin == null ? 'no origin is configured for the websocket (websocket.origin)' : null,
};

/** Subscriptions can be signed. */
export const application: Condition = {
  reasonNot: ({ credentials }) =>
    credentials.app === null ? 'no application is configured (credentials.app)' : null,
};

/** What is spoken is described by a module of the user's. */
export const ownDialect: Condition = {
  reasonNot: ({ websocket }) =>
    websocket?.dialect === 'own' ? null : 'no dialect of its own is configured (websocket.dialect)',
};

/** Messages are configured, and what answers them. */
export const messagePairs: Condition = {
  reasonNot: ({ websocket }) =>
    websocket?.exchange?.length ? null : 'no messages with their answers are configured (websocket.exchange)',
};

/** JSON Schemas are configured for what the service sends. */
export const messageSchemas: Condition = {
  reasonNot: ({ websocket }) =>
    websocket?.messages ? null : 'no JSON Schemas of events are configured (websocket.messages)',
};

/** The handshake carries the key in a header field. */
export const keyInHeader: Condition = {
  reasonNot: ({ credentials, websocket }) => {
    const place = websocket?.credential?.in ?? credentials.carrier?.in ?? 'nowhere';
    return place === 'header' ? null : `the handshake does not carry its key in the header (${place})`;
  },
};

/** The handshake carries the key in the query. */
export const keyInQuery: Condition = {
  reasonNot: ({ credentials, websocket }) => {
    const place = websocket?.credential?.in ?? credentials.carrier?.in ?? 'nowhere';
    return place === 'query' ? null : `the handshake does not carry its key in the query (${place})`;
  },
};

/** Nobody has documented a close code for a bad credential. */
export const noRefusalCode: Condition = {
  reasonNot: ({ websocket }) =>
    websocket?.refusalCode === undefined
      ? null
      : `the config documents the close code ${websocket.refusalCode} for it (websocket.refusalCode)`,
};

export const refusalCode: Condition = {
  reasonNot: ({ websocket }) =>
    websocket?.refusalCode === undefined
      ? 'no close code for a bad credential is documented (websocket.refusalCode)'
      : null,
};

/** How long a silent connection is kept is documented. */
export const keepsIdle: Condition = {
  reasonNot: ({ websocket }) =>
    websocket?.keepsIdleMs === undefined
      ? 'how long a silent connection is kept is not shown (websocket.keepsIdle)'
      : null,
};
