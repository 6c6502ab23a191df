import { isIP } from 'node:net';
import * as tls from 'node:tls';
import type { Secret } from '../../base/secret.ts';
import type { CredentialUse, EvidenceId, FieldLine } from '../exchange.ts';
import type { TlsSetup } from '../forms/curl.ts';
import type { Clock } from '../pace/clock.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { FixedHeader } from '../request.ts';
import type { HttpVersions } from './http-versions.ts';
import type { Proxies } from './proxies.ts';

/** How every socket of a service's run is opened, wherever it leads. */
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
  readonly timeouts: ExchangeTimeouts;
  readonly limits?: Partial<ResponseLimits>;
  readonly redaction: Redaction;
  readonly clock: Clock;
  /** `conform/1.2.3`; the run id is added. */
  readonly userAgent: string;
  readonly runId: string;
  /** Sent with each request, but for those that it has itself. */
  readonly headers?: readonly FixedHeader[] | undefined;
  /** Send secrets over plain http to a host that is not loopback (`safety.plainHttp`). */
  readonly plainHttp?: boolean;
  /** No request has a credential, whatever it is said to have. */
  readonly bare?: boolean;
  /** Which version of HTTP the service is asked in. Default: HTTP/1.1. */
  readonly versions?: HttpVersions | undefined;
}

export interface ExchangeTimeouts {
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
  return { ...options, baseUrl: origin, ...(isOwn ? {} : { headers: [], versions: undefined }) };
}

/** The longest that one exchange may take, in ms. */
export function exchangeMs(timeouts: ExchangeTimeouts): number {
  return timeouts.exchangeMs ?? timeouts.connectMs + timeouts.responseMs;
}

/** What a request is, for the evidence. */
export interface About {
  readonly id: EvidenceId;
  /** Shown in the request ledger. */
  readonly purpose: string;
  readonly credential: CredentialUse;
  /**
   * Sees the response, the codings of its content undone, before anything of it is recorded; '' for unreadable content. The secrets that it names
   * are redacted from then on; content that it cannot answer for (null) is not recorded.
   */
  readonly secretsIn?: (content: string, fields: readonly FieldLine[]) => readonly Secret[] | null;
  /** Ends the attempt; it is then recorded as `not-sent`. */
  readonly signal?: AbortSignal;
}

export interface TlsConfig extends TlsSetup {
  /** Certificates of authorities, in PEM; null where the usual ones will do. */
  readonly ca: string | null;
  /** What this client shows of itself; null for nothing. */
  readonly client: ClientCertificate | null;
}

export interface ClientCertificate {
  /** With those of the authorities between, in PEM. */
  readonly certificate: string;
  /** In PEM, no longer encrypted. */
  readonly key: Secret;
}

/** How TLS is set up on every socket: of HTTP, raw requests and WebSocket alike. */
type TlsSettings = Partial<Omit<TlsConfig, 'files'>>;

/** As ALPN names them (RFC 7301). */
export type AlpnVersion = 'http/1.1' | 'h2';

/** TLS negotiates one version alone: HTTP/1.1, the only one whose octets we judge, unless HTTP/2 is meant. */
export function tlsOptions(
  host: string,
  settings: TlsSettings = {},
  version: AlpnVersion = 'http/1.1',
): tls.ConnectionOptions {
  const { ca = null, client = null, insecure = false } = settings;
  return {
    ALPNProtocols: [version],
    // The name in the certificate; over an open socket Node would take the name to which that leads.
    host,
    // RFC 6066 §3: the server name is never an IP address.
    ...(isIP(host) ? {} : { servername: host }),
    ...(ca === null && client === null ? {} : { secureContext: contextOf(settings) }),
    ...(insecure ? { rejectUnauthorized: false } : {}),
  };
}

/** To read all the authorities takes longer than a connection does: once for all of them. */
const contexts = new WeakMap<TlsSettings, tls.SecureContext>();

function contextOf(settings: TlsSettings): tls.SecureContext {
  const { ca = null, client = null } = settings;
  const context =
    contexts.get(settings) ??
    tls.createSecureContext({
      ...(ca === null ? {} : { ca: [...usualAuthorities(), ca] }),
      ...(client === null ? {} : { cert: client.certificate, key: client.key.reveal() }),
    });
  contexts.set(settings, context);
  return context;
}

/** With a proxy: the client certificate and the leave to show any certificate are for the service alone. */
export function proxyTlsOptions(host: string, { ca = null }: TlsSettings = {}): tls.ConnectionOptions {
  return tlsOptions(host, { ca });
}

/** Those that Node trusts by itself; before Node 22.15 there are those that it ships alone. */
function usualAuthorities(): readonly string[] {
  return tls.getCACertificates?.('default') ?? tls.rootCertificates;
}
