import type { HandshakeKeyPlace } from '../config/blocks/websocket.ts';
import type { Credentials, WebSocketConfig } from '../config/service.ts';
import type { HttpRequest } from '../credential/request.ts';
import type { Redaction } from '../evidence/redaction/redaction.ts';
import type { PlacingMoment } from '../transport/credential/credential.ts';
import { type CredentialChoice, placeChoice } from './credential.ts';

/** Carries a key on its way to another place; no service has such a field. */
const STOPOVER = 'X-Conform-Key';
const SUBPROTOCOLS = 'sec-websocket-protocol';

/** The handshake with its credential, in the place that the config names for it. */
export function placeInHandshake(
  bare: HttpRequest,
  choice: CredentialChoice,
  { websocket, credentials, redaction }: Means,
  moment: PlacingMoment,
): HttpRequest {
  const place = websocket.credential;
  const placed = (as: Credentials) => placeChoice(bare, choice, as, redaction, moment);
  // A key that is tried elsewhere on purpose goes where the probe says.
  if (place === undefined || place.in === 'none' || !hasKey(credentials) || isPlaced(choice)) {
    return placed(credentials);
  }
  if (place.in !== 'subprotocol') return placed({ ...credentials, scheme: place.in, name: place.name });
  return inSubprotocol(placed({ ...credentials, scheme: 'header', name: STOPOVER }), place);
}

interface Means {
  readonly websocket: WebSocketConfig;
  readonly credentials: Credentials;
  readonly redaction: Redaction;
}

type KeyCredentials = Extract<Credentials, { readonly scheme: 'bearer' | 'header' | 'query' }>;

function hasKey(credentials: Credentials): credentials is KeyCredentials {
  const { scheme } = credentials;
  return scheme === 'bearer' || scheme === 'header' || scheme === 'query';
}

function isPlaced(choice: CredentialChoice): boolean {
  return typeof choice === 'object' && 'placed' in choice;
}

function inSubprotocol(
  request: HttpRequest,
  { prefix, encoding }: Extract<HandshakeKeyPlace, { readonly in: 'subprotocol' }>,
): HttpRequest {
  const isStopover = ([name]: readonly [string, string]) => name.toLowerCase() === STOPOVER.toLowerCase();
  const key = request.fields.find(isStopover)?.[1];
  const fields = request.fields.filter((field) => !isStopover(field));
  if (key === undefined) return { ...request, fields };
  const carried = `${prefix}${encoding === 'plain' ? key : Buffer.from(key, 'latin1').toString('base64url')}`;
  const offered = fields.findIndex(([name]) => name.toLowerCase() === SUBPROTOCOLS);
  if (offered === -1) return { ...request, fields: [...fields, ['Sec-WebSocket-Protocol', carried]] };
  return {
    ...request,
    fields: fields.map(([name, value], index) => [name, index === offered ? `${value}, ${carried}` : value]),
  };
}
