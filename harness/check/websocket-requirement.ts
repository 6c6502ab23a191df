import type { Condition } from './requirement.ts';

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
