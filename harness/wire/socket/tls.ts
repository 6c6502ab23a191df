import { isIP } from 'node:net';
import * as tls from 'node:tls';
import type { Secret } from '../../base/secret.ts';

export interface TlsConfig {
  /** Paths from the working folder, for whoever repeats a request; null for none. */
  readonly files: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null };
  /** Certificates of authorities, in PEM; null where the usual ones will do. */
  readonly ca: string | null;
  /** What this client shows of itself; null for nothing. */
  readonly client: ClientCertificate | null;
  /** Any certificate will do. */
  readonly insecure: boolean;
}

export interface ClientCertificate {
  /** With those of the authorities between, in PEM. */
  readonly certificate: string;
  /** In PEM, no longer encrypted. */
  readonly key: Secret;
}

/** How TLS is set up on every socket: of HTTP, raw requests and WebSocket alike. */
export type TlsSettings = Partial<Omit<TlsConfig, 'files'>>;

/** TLS negotiates HTTP/1.1 alone, the only version whose octets we judge. */
export function tlsOptions(host: string, settings: TlsSettings = {}): tls.ConnectionOptions {
  const { ca = null, client = null, insecure = false } = settings;
  return {
    ALPNProtocols: ['http/1.1'],
    // Whom the certificate is held to; over a socket that is there Node would take whomever that leads to.
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

/** With a proxy: what is meant for the service, its client certificate and its leave to be anybody, is not for it. */
export function proxyTlsOptions(host: string, { ca = null }: TlsSettings = {}): tls.ConnectionOptions {
  return tlsOptions(host, { ca });
}

/** Those that Node trusts by itself; before Node 22.15 there are those that it ships alone. */
function usualAuthorities(): readonly string[] {
  return tls.getCACertificates?.('default') ?? tls.rootCertificates;
}
