import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ExchangeFailure } from '../exchange.ts';
import { startDeadline } from '../pace/clock.ts';
import type { Address } from './address.ts';
import { abortedFailure, errorLine, failureKind } from './failure.ts';
import type { Timeouts, TransportOptions } from './options.ts';
import { type ForwardProxy, proxyFor } from './proxies.ts';
import { proxyTlsOptions, tlsOptions } from './tls.ts';
import { openTunnel, proxyInWords } from './tunnel.ts';

export type Dialed =
  | { readonly socket: Socket; readonly failure: null }
  | { readonly socket: null; readonly failure: ExchangeFailure };

interface DialOptions extends Pick<TransportOptions, 'clock' | 'tls' | 'proxies'> {
  readonly timeouts: Pick<Timeouts, 'connectMs'>;
}

/**
 * Opens a connection to an address, through the proxy that there is for it, with TLS where the address says so, within
 * `timeouts.connectMs`; never throws. Its data is paused until somebody reads it. Every socket to somewhere else comes
 * from here.
 */
export function dial(address: Address, options: DialOptions, signal?: AbortSignal): Promise<Dialed> {
  const { clock } = options;
  const { connectMs } = options.timeouts;
  if (signal?.aborted) {
    return Promise.resolve({ socket: null, failure: abortedFailure(signal, 'aborted before connecting') });
  }
  return new Promise((resolve) => {
    const way = new Way(address, options.proxies ? proxyFor(address, options.proxies) : null);
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
    way.open(options.tls).then(
      (socket) => settle({ socket, failure: null }),
      (error: unknown) => settle({ socket: null, failure: way.failed(error) }),
    );
  });
}

/** What is under way: each step rests on the one before it. */
type Step = 'TCP' | 'TLS' | 'TCP to the proxy' | 'TLS with the proxy' | 'tunnel';

/** No tunnel, in a sentence. */
class NoTunnel extends Error {}

/** The steps to a connection, of which one fails. */
class Way {
  readonly #address: Address;
  readonly #proxy: ForwardProxy | null;
  readonly #sockets: Socket[] = [];
  #step: Step = 'TCP';

  constructor(address: Address, proxy: ForwardProxy | null) {
    this.#address = address;
    this.#proxy = proxy;
  }

  async open(tls: DialOptions['tls']): Promise<Socket> {
    const address = this.#address;
    const proxy = this.#proxy;
    let socket = proxy === null ? await this.#tcp('TCP', address) : await this.#tunnelled(proxy, tls);
    if (address.secure) {
      const secured = connectTls({ socket, ...tlsOptions(address.host, tls) });
      socket = await this.#standing('TLS', secured, 'secureConnect');
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

  #tcp(step: Step, { host, port }: Pick<Address, 'host' | 'port'>): Promise<Socket> {
    return this.#standing(step, connectTcp({ host, port, noDelay: true }), 'connect');
  }

  #standing(step: Step, socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
    this.#step = step;
    this.#sockets.push(socket);
    // An error that nobody waits for, before the next reader or after the last, must not end the process.
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
