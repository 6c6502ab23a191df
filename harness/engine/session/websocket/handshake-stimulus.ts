import type { MessageDialect } from '../../../config/blocks/dialect.ts';
import { whyKeyless } from '../../../config/blocks/websocket.ts';
import { carrierAt } from '../../../config/credential/carrier.ts';
import type { CredentialChoice } from '../../../config/credential/placing.ts';
import type { Credentials } from '../../../config/credential/scheme.ts';
import type { WebSocketConfig } from '../../../config/service.ts';
import type { FieldLine } from '../../../wire/exchange.ts';
import { handshakeRequest } from '../../../wire/http/request.ts';
import type { HttpRequest } from '../../../wire/request.ts';
import type { Opening } from '../../../wire/websocket/connection.ts';

/** An opening handshake as in RFC 6455 §4.1, except for the properties that are named here. */
export interface HandshakeStimulus {
  /** What the connection is for: `a WebSocket with an unmasked frame`. */
  readonly purpose: string;
  readonly method?: string;
  /** Another address than the configured one: a path below the base URL, or a ws or wss URL. */
  readonly endpoint?: string;
  /** Changes the target of the configured endpoint. */
  readonly target?: (target: string) => string;
  /** They replace the handshake's own fields of the same name. */
  readonly fields?: readonly FieldLine[];
  /** Names of fields that are left out, lower-case. */
  readonly without?: readonly string[];
  /** `right` if left out; the Pusher protocol has its key in the address and takes no other. */
  readonly credential?: CredentialChoice;
  /** 1.1 if left out. */
  readonly httpVersion?: '1.0';
  /** Sends the handshake in segments of one octet. */
  readonly octetByOctet?: boolean;
  readonly automatic?: Opening['automatic'];
  /** Takes no place: it is meant to be open beside others. */
  readonly beside?: boolean;
}

/** A purpose alone stands for an ordinary handshake. */
export type Handshake = string | HandshakeStimulus;

export function stimulusOf(handshake: Handshake): HandshakeStimulus {
  return typeof handshake === 'string' ? { purpose: handshake } : handshake;
}

/** Whether it is the handshake of an ordinary client. */
export function isOrdinary(stimulus: HandshakeStimulus): boolean {
  const { method, endpoint, target, fields, without, credential, httpVersion, octetByOctet } = stimulus;
  if (httpVersion || endpoint !== undefined) return false;
  return !method && !target && !fields && !without && !credential && !octetByOctet;
}

/** The right one by default; none if the service takes none in its handshakes. */
export function credentialOf(stimulus: HandshakeStimulus, websocket: WebSocketConfig): CredentialChoice {
  return stimulus.credential ?? (whyKeyless(websocket) === null ? 'right' : 'none');
}

interface Endpoint {
  readonly websocket: WebSocketConfig;
  readonly dialect: MessageDialect;
  /** Of the configured endpoint, complete. */
  readonly target: string;
  /** `conform/1.2.3`. */
  readonly userAgent: string;
}

/** The credentials of handshakes: a key goes where the config says. */
export function inHandshakes(credentials: Credentials, { credential: place }: WebSocketConfig): Credentials {
  if (place === undefined || place.in === 'none' || !credentials.carrier?.bare) return credentials;
  return { ...credentials, carrier: carrierAt(place) };
}

/** The request of a stimulus before its credential is placed. */
export function openingRequest(
  stimulus: HandshakeStimulus,
  { websocket, dialect, target, userAgent }: Endpoint,
): HttpRequest {
  const version = userAgent.split('/')[1] ?? '0.0.0';
  const configured = dialect.target?.(target, { version }) ?? target;
  const whole = handshakeRequest({
    target: stimulus.target ? stimulus.target(configured) : configured,
    origin: websocket.origin,
    subprotocols: websocket.subprotocols,
  });
  const named = (fields: readonly FieldLine[]) => fields.map(([name]) => name.toLowerCase());
  const given = stimulus.fields ?? [];
  const always = (websocket.fields ?? []).filter(([name]) => !named(given).includes(name.toLowerCase()));
  const own = [...always, ...given];
  const replaced = named(own);
  const gone = new Set([...replaced, ...(stimulus.without ?? [])]);
  return {
    method: stimulus.method ?? whole.method,
    target: whole.target,
    fields: [...whole.fields.filter(([name]) => !gone.has(name.toLowerCase())), ...own],
  };
}
