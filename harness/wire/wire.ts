import type { EvidenceId } from './exchange.ts';
import { openHttp } from './http/http-client.ts';
import { sendRaw } from './http/raw.ts';
import { openReceiver } from './http/webhook-receiver.ts';
import { openConnection } from './websocket/connection.ts';

/** Where a session meets the outside: whatever it sends or receives goes through here, and nothing else opens a socket. */
export interface Wire {
  readonly openHttp: typeof openHttp;
  readonly sendRaw: typeof sendRaw;
  readonly openConnection: typeof openConnection;
  readonly openReceiver: typeof openReceiver;
  /** The id of a burst for this purpose, which is made of what was sent here; `fresh` where it has none yet. */
  readonly idOfBurst: (purpose: string, fresh: EvidenceId) => EvidenceId;
  /** Why nobody can tell what came without being asked for; null where that is heard. */
  readonly deafness: string | null;
}

/** Sockets. */
export const liveWire: Wire = {
  openHttp,
  sendRaw,
  openConnection,
  openReceiver,
  idOfBurst: (_purpose, fresh) => fresh,
  deafness: null,
};
