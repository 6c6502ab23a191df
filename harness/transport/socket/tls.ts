import { isIP } from 'node:net';
import * as tls from 'node:tls';

/** How TLS is set up on every socket: of HTTP, raw requests and WebSocket alike. */
export interface TlsSettings {
  /** Authorities in PEM that are trusted beside the usual ones. */
  readonly ca?: string;
}

/** TLS negotiates HTTP/1.1 alone, the only version whose octets we judge. */
export function tlsOptions(host: string, { ca }: TlsSettings = {}): tls.ConnectionOptions {
  return {
    ALPNProtocols: ['http/1.1'],
    // RFC 6066 §3: the server name is never an IP address.
    ...(isIP(host) ? {} : { servername: host }),
    ...(ca === undefined ? {} : { ca: [...usualAuthorities(), ca] }),
  };
}

/** Those that Node trusts by itself; before Node 22.15 there are those that it ships alone. */
function usualAuthorities(): readonly string[] {
  return tls.getCACertificates?.('default') ?? tls.rootCertificates;
}
