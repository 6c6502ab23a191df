import type { Condition } from './requirement.ts';

/** The opening handshake carries the configured credential. */
export const handshakeCredential: Condition = {
  reasonNot: ({ credentials, websocket }) => {
    if (credentials.scheme === 'none') return 'the service config says that no credential is needed';
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
    credentials.scheme === 'none' || credentials.app === null
      ? 'no application is configured (credentials.app)'
      : null,
};
