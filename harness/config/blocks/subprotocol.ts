import type { Heartbeat } from './heartbeat.ts';

/** What a client has to know of a subprotocol to keep a connection that speaks it. */
interface KnownSubprotocol {
  /** Of the service, which may come at any time. */
  readonly heartbeat: Heartbeat;
  /** With these codes it ends the connection of a client that does not log in, or not as it must. */
  readonly loginCodes: readonly number[];
}

/** By the names under which clients offer them; those that ask nothing of a silent client are not here. */
const KNOWN: Readonly<Record<string, KnownSubprotocol>> = {
  // GraphQL over WebSocket: ping and connection_init, of the protocol document of graphql-ws.
  'graphql-transport-ws': {
    heartbeat: { receive: { type: 'ping' }, answer: '{"type":"pong"}' },
    loginCodes: [4401, 4403, 4408],
  },
};

function known(name: string): KnownSubprotocol | null {
  return Object.hasOwn(KNOWN, name) ? (KNOWN[name] ?? null) : null;
}

/** That of the first of them that has one; null for none. */
export function heartbeatOfSubprotocols(names: readonly string[]): Heartbeat | null {
  return names.map(known).find((each) => each !== null)?.heartbeat ?? null;
}

/** The subprotocol says so that it waits for a login. */
export function isForLogin(name: string | null, closeCode: number | null): boolean {
  const codes = (name === null ? null : known(name))?.loginCodes ?? [];
  return closeCode !== null && codes.includes(closeCode);
}
