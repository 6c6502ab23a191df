import type { EvidenceId } from './exchange.ts';
import { openHttp } from './http/http-client.ts';
import { sendRaw } from './http/raw.ts';
import { openReceiver } from './http/webhook-receiver.ts';
import { detectHttp2 } from './http2/http2-client.ts';
import { openConnection } from './websocket/connection.ts';

/** Where a session meets the outside: whatever it sends or receives goes through here, and nothing else opens a socket. */
export interface Wire {
  readonly openHttp: typeof openHttp;
  readonly sendRaw: typeof sendRaw;
  readonly detectHttp2: typeof detectHttp2;
  readonly openConnection: typeof openConnection;
  readonly openReceiver: typeof openReceiver;
  /** The id of a burst for this purpose, which is made of requests that were sent here; `fresh` where it has none yet. */
  readonly idOfBurst: (purpose: string, fresh: EvidenceId) => EvidenceId;
  /** Why unasked octets cannot be heard; null if they are. */
  readonly deafness: string | null;
}

/** Sockets. */
export const liveWire: Wire = {
  openHttp,
  sendRaw,
  detectHttp2,
  openConnection,
  openReceiver,
  idOfBurst: (_purpose, fresh) => fresh,
  deafness: null,
};
