import { HarnessError } from '../../base/exit.ts';
import { isLoopback, withoutBrackets } from '../../base/loopback.ts';
import type { CredentialUse, ExchangeFailure } from '../exchange.ts';
import { traces } from '../redaction/marker.ts';
import type { FixedHeader } from '../request.ts';
import type { TransportOptions } from './options.ts';

/** Where to connect, and how the request names it. */
export interface Address {
  readonly secure: boolean;
  /** Host name or IP address to dial, an IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number;
  /** The `Host` field value: the port only where it is not the scheme's own (RFC 9110 §7.2). */
  readonly authority: string;
  /** Path of the base URL without a trailing slash: `''` or `/api`. */
  readonly prefix: string;
}

const DEFAULT_PORT: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443 };

/**
 * Takes a base URL (`http`, `https`, `ws` or `wss`) apart.
 * @throws HarnessError for anything else: the config's own checks let only such URLs through.
 */
export function addressOf(baseUrl: string): Address {
  const url = URL.parse(baseUrl);
  const defaultPort = url ? DEFAULT_PORT[url.protocol] : undefined;
  if (!url || defaultPort === undefined)
    throw new HarnessError('the base URL is not an http, https, ws or wss URL');
  return {
    secure: url.protocol === 'https:' || url.protocol === 'wss:',
    host: withoutBrackets(url.hostname),
    port: url.port === '' ? defaultPort : Number(url.port),
    authority: url.host,
    prefix: url.pathname.replace(/\/+$/, ''),
  };
}

/**
 * The address of a WebSocket endpoint: `url` is an absolute ws(s) or http(s) URL, or a path below `baseUrl`.
 * The endpoint's own path is part of the target, so that it is sent exactly as the config has it.
 */
export function socketAddressOf(
  baseUrl: string,
  url: string,
): { readonly address: Address; readonly target: string } {
  if (!/^(?:ws|http)s?:\/\//i.test(url)) {
    const address = addressOf(baseUrl);
    return { address, target: `${address.prefix}${url.startsWith('/') ? '' : '/'}${url}` };
  }
  const path = /^[a-z]+:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] ?? '';
  return { address: addressOf(url), target: path.startsWith('/') ? path : `/${path}` };
}

/** The request target below the base URL's own path; targets not in origin-form (`*`, absolute) stay as they are. */
export function targetBelow(address: Address, target: string): string {
  return target.startsWith('/') ? `${address.prefix}${target}` : target;
}

/** The absolute URL that a target on this address stands for (RFC 9112 §3.3), for evidence and curl lines. */
export function absoluteUrl(address: Address, target: string, kind: 'http' | 'ws' = 'http'): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(target)) return target;
  return `${kind}${address.secure ? 's' : ''}://${address.authority}${target.startsWith('/') ? target : ''}`;
}

/**
 * A credential does not travel readable: over plain http or ws to another machine it is sent only where the
 * config allows it (`safety.plainHttp`). Wrong credentials count as well, since many are cut from the right one, and so
 * do secrets in headers that go with every request, and in any other part of it.
 *
 * @param sent the octets of the request.
 * @returns the failure to record in place of sending, or null when nothing speaks against it.
 */
export function refusePlainHttp(
  address: Address,
  credential: CredentialUse,
  options: Pick<TransportOptions, 'plainHttp' | 'bare' | 'headers' | 'redaction'>,
  sent: Uint8Array,
): ExchangeFailure | null {
  const { plainHttp = false, bare = false, headers = [], redaction } = options;
  if (address.secure || plainHttp || isLoopback(address.host)) return null;
  const isCarried = credential !== 'none' && !bare;
  if (!isCarried && !holdSecrets(headers) && traces(redaction.octets(sent)).length === 0) return null;
  return {
    kind: 'not-sent',
    message: `a secret is not sent over plain http to ${address.authority}; use https, or allow it with safety.plainHttp`,
  };
}

function holdSecrets(headers: readonly FixedHeader[]): boolean {
  return headers.some(([, value]) => value.some((piece) => typeof piece !== 'string'));
}
