import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ExchangeFailure } from '../exchange.ts';
import { fieldValues, listElements } from '../fields/grammar/field-grammar.ts';
import { visible } from '../octets/utf8.ts';
import { startDeadline } from '../pace/clock.ts';
import { ResponseReader } from '../reader/http1-reader.ts';
import type { ReadResponse } from '../reader/lines.ts';
import type { Address } from './address.ts';
import { abortedFailure, errorLine, failureKind } from './failure.ts';
import {
  type AlpnVersion,
  type ExchangeTimeouts,
  type Network,
  proxyTlsOptions,
  type TransportOptions,
  tlsOptions,
} from './options.ts';
import { type ForwardProxy, proxyFor } from './proxies.ts';

export type Dialed =
  | { readonly socket: Socket; readonly failure: null }
  | { readonly socket: null; readonly failure: ExchangeFailure };

interface DialOptions extends Pick<TransportOptions, 'clock' | 'tls' | 'proxies'> {
  readonly timeouts: Pick<ExchangeTimeouts, 'connectMs'>;
}

/**
 * Opens a connection to an address, through the proxy that there is for it, with TLS where the address says so, within
 * `timeouts.connectMs`; never throws. Its data is paused until it is read. Every socket to somewhere else comes
 * from here.
 */
export function dial(
  address: Address,
  options: DialOptions,
  signal?: AbortSignal,
  version: AlpnVersion = 'http/1.1',
): Promise<Dialed> {
  const { clock } = options;
  const { connectMs } = options.timeouts;
  if (signal?.aborted) {
    return Promise.resolve({ socket: null, failure: abortedFailure(signal, 'aborted before connecting') });
  }
  return new Promise((resolve) => {
    const way = new ConnectionPath(address, options.proxies ? proxyFor(address, options.proxies) : null);
    const settle = (dialed: Dialed) => {
      cancelDeadline();
      signal?.removeEventListener('abort', aborted);
      if (dialed.socket === null) way.giveUp();
      resolve(dialed);
    };
    const aborted = () =>
      settle({ socket: null, failure: abortedFailure(signal, 'aborted while connecting') });
    const cancelDeadline = startDeadline(clock, connectMs, () =>
      settle({ socket: null, failure: way.late(connectMs) }),
    );
    signal?.addEventListener('abort', aborted, { once: true });
    way.open(options.tls, version).then(
      (socket) => settle({ socket, failure: null }),
      (error: unknown) => settle({ socket: null, failure: way.failed(error) }),
    );
  });
}

/** The step under way: each rests on the one before it. */
type DialStep = 'TCP' | 'TLS' | 'TCP to the proxy' | 'TLS with the proxy' | 'tunnel';

/** No tunnel, in a sentence. */
class NoTunnel extends Error {}

/** The server chose another version by ALPN, or none. */
class NoHttp2 extends Error {}
const NO_HTTP2 =
  'the server does not choose HTTP/2 (ALPN h2); leave `http2` out of the config of the service';

/** The steps to a connection, of which one fails. */
class ConnectionPath {
  readonly #address: Address;
  readonly #proxy: ForwardProxy | null;
  readonly #sockets: Socket[] = [];
  #step: DialStep = 'TCP';

  constructor(address: Address, proxy: ForwardProxy | null) {
    this.#address = address;
    this.#proxy = proxy;
  }

  async open(tls: DialOptions['tls'], version: AlpnVersion): Promise<Socket> {
    const address = this.#address;
    const proxy = this.#proxy;
    let socket = proxy === null ? await this.#tcp('TCP', address) : await this.#tunnelled(proxy, tls);
    if (address.secure) {
      const secured = connectTls({ socket, ...tlsOptions(address.host, tls, version) });
      socket = await this.#standing('TLS', secured, 'secureConnect');
      if (version === 'h2' && secured.alpnProtocol !== 'h2') throw new NoHttp2(NO_HTTP2);
    }
    socket.pause();
    return socket;
  }

  async #tunnelled(proxy: ForwardProxy, tls: DialOptions['tls']): Promise<Socket> {
    let socket = await this.#tcp('TCP to the proxy', proxy);
    if (proxy.secure) {
      const secured = connectTls({ socket, ...proxyTlsOptions(proxy.host, tls) });
      socket = await this.#standing('TLS with the proxy', secured, 'secureConnect');
    }
    this.#step = 'tunnel';
    const why = await openTunnel(socket, proxy, this.#address);
    if (why !== null) throw new NoTunnel(why);
    return socket;
  }

  #tcp(step: DialStep, { host, port }: Pick<Address, 'host' | 'port'>): Promise<Socket> {
    return this.#standing(step, connectTcp({ host, port, noDelay: true }), 'connect');
  }

  #standing(step: DialStep, socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
    this.#step = step;
    this.#sockets.push(socket);
    // An error without a listener, before the next reader or after the last, must not end the process.
    socket.on('error', () => undefined);
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once(event, () => {
        socket.off('error', reject);
        resolve(socket);
      });
    });
  }

  giveUp(): void {
    for (const socket of this.#sockets.toReversed()) socket.destroy();
  }

  failed(error: unknown): ExchangeFailure {
    if (error instanceof NoTunnel) return { kind: 'proxy', message: error.message };
    if (error instanceof NoHttp2) return { kind: 'tls', message: error.message };
    const kind = failureKind(error, 'refused');
    const message = errorLine(error);
    if (kind === 'not-sent') return { kind, message };
    // Once TCP stands, whatever breaks the handshake is a matter of TLS, a reset included.
    if (this.#step === 'TLS') return { kind: 'tls', message: `${message}${this.#insideTunnel()}` };
    if (this.#proxy === null) return { kind, message };
    return { kind: 'proxy', message: `${proxyInWords(this.#proxy)} cannot be reached: ${message}` };
  }

  #insideTunnel(): string {
    if (this.#proxy === null) return '';
    return `; this is inside the tunnel of ${proxyInWords(this.#proxy)}: if it opens TLS itself, tls.ca has to name its authority`;
  }

  late(connectMs: number): ExchangeFailure {
    const { authority } = this.#address;
    const within = `within ${connectMs} ms`;
    if (this.#proxy !== null && this.#step !== 'TLS') {
      const message = `${proxyInWords(this.#proxy)} gave no tunnel to ${authority} ${within} (${this.#step} is awaited)`;
      return { kind: 'proxy', message };
    }
    const stands = this.#step === 'TLS' ? ' (TCP stands, TLS does not)' : '';
    const message = `no connection to ${authority} ${within}${stands}${this.#insideTunnel()}`;
    return { kind: 'connect-timeout', message };
  }
}

/** The most that is read of a proxy's answer, in octets: its content is of no use here. */
const LIMITS = { bodyBytes: 0, fieldBytes: 16 * 1024 };

/** The proxy and the variable that names it, for messages. */
function proxyInWords({ shown, variable }: ForwardProxy): string {
  return `the proxy ${shown} (${variable})`;
}

/**
 * Has the proxy at the other end of a connection open a tunnel to an address (RFC 9110 §9.3.6). Plain http goes through
 * one as well: a proxy that hands messages on changes them, and what it made of them would be judged.
 *
 * @returns why there is none, in a sentence; null if octets go to the address from now on.
 */
async function openTunnel(socket: Socket, proxy: ForwardProxy, to: Address): Promise<string | null> {
  const { response, leftover } = await ask(socket, proxy, to);
  const who = proxyInWords(proxy);
  if (response === null) return `${who} did not answer when asked for a tunnel to ${hostAndPort(to)}`;
  if (response.status < 200 || response.status > 299) return refusal(response, proxy, to);
  if (leftover.length > 0) socket.unshift(leftover);
  return null;
}

/**
 * What a proxy says for itself where it has opened what goes through the tunnel, and not the service: it wants a login
 * (RFC 9110 §15.5.8), or names the trouble that it had (RFC 9209 §2.1.1, and squid in its own way). Null for all else.
 */
export function proxysOwn(
  response: Pick<ReadResponse, 'status' | 'fields'> | null,
  to: Address,
  { proxies }: Network,
): ExchangeFailure | null {
  const proxy = response && proxies ? proxyFor(to, proxies) : null;
  if (response === null || proxy === null) return null;
  const { status, fields } = response;
  const [sign] = fields.filter(([name, value]) => TELLS_OF_TROUBLE.get(name.toLowerCase())?.test(value));
  if (status !== 407 && (status < 500 || sign === undefined)) return null;
  const trouble = sign ? ` (${sign[0]}: ${visible(sign[1], 80)})` : '';
  return {
    kind: 'proxy',
    message: `${proxyInWords(proxy)}, or one behind it, answered ${status} inside the tunnel${trouble}: that is no answer of the service`,
  };
}

const TELLS_OF_TROUBLE = new Map([
  ['proxy-status', /;\s*error=/],
  ['x-squid-error', /^ERR_/],
]);

function hostAndPort({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Resolves when the head of the answer is in, or when none will come. Leaves the socket paused. */
function ask(
  socket: Socket,
  { login }: ForwardProxy,
  to: Address,
): Promise<Pick<ResponseReader, 'response' | 'leftover'>> {
  const reader = new ResponseReader({ method: 'CONNECT', limits: LIMITS });
  const basic = login && `Proxy-Authorization: Basic ${Buffer.from(login.reveal()).toString('base64')}\r\n`;
  return new Promise((resolve) => {
    const done = () => {
      socket.off('data', received).off('end', done).off('error', done).off('close', done);
      socket.pause();
      resolve(reader);
    };
    const received = (octets: Buffer) => {
      reader.push(octets);
      if (reader.headWhole || reader.settled) done();
    };
    socket.on('data', received).on('end', done).on('error', done).on('close', done);
    socket.write(`CONNECT ${hostAndPort(to)} HTTP/1.1\r\nHost: ${hostAndPort(to)}\r\n${basic ?? ''}\r\n`);
    socket.resume();
  });
}

/** It is the proxy that speaks here, and not the service. */
function refusal({ status, reason, fields }: ReadResponse, proxy: ForwardProxy, to: Address): string {
  const who = proxyInWords(proxy);
  const answered = `it answered ${`${status} ${visible(reason ?? '', 80)}`.trim()}`;
  if (status === 407) {
    const offered = listElements(fieldValues(fields, 'proxy-authenticate').join(','))
      .map((challenge) => /^([A-Za-z][\w-]*)(?: |$)/.exec(challenge)?.[1])
      .filter((scheme) => scheme !== undefined);
    if (offered.length > 0 && !offered.some((scheme) => scheme.toLowerCase() === 'basic')) {
      return `${who} lets nobody in without ${visible(offered.join(' or '), 80)} (${answered}), and only Basic is known`;
    }
    return proxy.login === null
      ? `${who} wants a user and a password (${answered}): write them into ${proxy.variable}, as in http://USER:PASSWORD@HOST:PORT`
      : `${who} refuses the user and the password that ${proxy.variable} has for it (${answered})`;
  }
  if (status >= 500) return `${who} could not reach ${hostAndPort(to)}: ${answered}`;
  const plain = to.secure
    ? ''
    : '; plain http takes a tunnel (CONNECT) as well, since a proxy that hands messages on changes them: have it allow that port, use https, or name the host in NO_PROXY';
  return `${who} refuses a tunnel to ${hostAndPort(to)}: ${answered}${plain}`;
}
