import type { Secret } from '../../base/secret.ts';
import type { CredentialUse, EvidenceId } from '../exchange.ts';
import type { Clock } from '../pace/clock.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { FixedHeader } from '../request.ts';
import type { Proxies } from './proxies.ts';
import type { TlsSettings } from './tls.ts';

/** How every socket of a service's run is opened, to whomever it leads. */
export interface Network {
  readonly tls?: TlsSettings | undefined;
  readonly proxies?: Proxies | undefined;
}

/** As the config of the service has it. */
export function networkOf({ tls, proxies }: Network): Network {
  return { tls, proxies };
}

/** What all transports to one service share. Times in ms, sizes in octets. */
export interface TransportOptions extends Network {
  /** Where the service is; its path, if any, comes before every target. */
  readonly baseUrl: string;
  readonly timeouts: Timeouts;
  readonly limits?: Partial<ResponseLimits>;
  readonly redaction: Redaction;
  readonly clock: Clock;
  /** `conform/1.2.3`; the run id is added. */
  readonly userAgent: string;
  readonly runId: string;
  /** Sent with each request, but for those that it has itself. */
  readonly headers?: readonly FixedHeader[] | undefined;
  /** Send credentials over plain http to a host that is not loopback (`safety.plainHttp`). */
  readonly plainHttp?: boolean;
}

export interface Timeouts {
  /** Until the connection stands, TLS included. */
  readonly connectMs: number;
  /** From the standing connection until the response's status line and fields are in. */
  readonly responseMs: number;
  /** From the start until the whole message is in, however it drips; `connectMs + responseMs` when left out. */
  readonly exchangeMs?: number;
}

export interface ResponseLimits {
  /** Content kept of a body; more is not read. 1 MiB when left out. */
  readonly bodyBytes: number;
  /** Status lines and fields of one response together. 64 KiB when left out. */
  readonly fieldBytes: number;
}

const DEFAULT_LIMITS: ResponseLimits = { bodyBytes: 1024 * 1024, fieldBytes: 64 * 1024 };

export function responseLimits(options: TransportOptions): ResponseLimits {
  return { ...DEFAULT_LIMITS, ...options.limits };
}

/** The same to another origin: the headers that are meant for the service do not go there. */
export function transportTo(origin: string, options: TransportOptions): TransportOptions {
  const isOwn = origin === new URL(options.baseUrl).origin;
  return { ...options, baseUrl: origin, ...(isOwn ? {} : { headers: [] }) };
}

/** The longest that one exchange may take, in ms. */
export function exchangeMs(timeouts: Timeouts): number {
  return timeouts.exchangeMs ?? timeouts.connectMs + timeouts.responseMs;
}

/** What a request is, for the evidence. */
export interface About {
  readonly id: EvidenceId;
  /** Shown in the request ledger. */
  readonly purpose: string;
  readonly credential: CredentialUse;
  /**
   * Sees the content of the response, its codings undone, before anything of it is recorded. The secrets that it names
   * are redacted from then on; content that it cannot answer for (null) is not recorded.
   */
  readonly secretsIn?: (content: string) => readonly Secret[] | null;
  /** Ends the attempt; it is then recorded as `not-sent`. */
  readonly signal?: AbortSignal;
}
