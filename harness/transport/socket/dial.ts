import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ExchangeFailure } from '../../evidence/exchange.ts';
import { startDeadline } from '../pace/clock.ts';
import type { Address } from './address.ts';
import { abortedFailure, errorLine, failureKind } from './failure.ts';
import type { Timeouts, TransportOptions } from './options.ts';
import { tlsOptions } from './tls.ts';

export type Dialed =
  | { readonly socket: Socket; readonly failure: null }
  | { readonly socket: null; readonly failure: ExchangeFailure };

interface DialOptions extends Pick<TransportOptions, 'clock' | 'tls'> {
  readonly timeouts: Pick<Timeouts, 'connectMs'>;
}

/**
 * Opens a TCP connection, with TLS where the address says so, within `timeouts.connectMs`; never throws. Its data is
 * paused until somebody reads it. Every socket to the service comes from here.
 */
export function dial(address: Address, options: DialOptions, signal?: AbortSignal): Promise<Dialed> {
  const { clock } = options;
  const { connectMs } = options.timeouts;
  if (signal?.aborted) {
    return Promise.resolve({ socket: null, failure: abortedFailure(signal, 'aborted before connecting') });
  }
  return new Promise((resolve) => {
    const socket = open(address, options);
    // An error that nobody waits for, before the next reader or after the last, must not end the process.
    socket.on('error', () => undefined);
    let tcpStands = false;
    const settle = (dialed: Dialed) => {
      cancelDeadline();
      signal?.removeEventListener('abort', aborted);
      if (dialed.socket === null) socket.destroy();
      socket.off('error', failed);
      resolve(dialed);
    };
    const fail = (failure: ExchangeFailure) => settle({ socket: null, failure });
    const failed = (error: Error) => {
      const kind = failureKind(error, 'refused');
      // Once TCP stands, whatever breaks the handshake is a matter of TLS, a reset included.
      fail({ kind: tcpStands && kind !== 'not-sent' ? 'tls' : kind, message: errorLine(error) });
    };
    const aborted = () => fail(abortedFailure(signal, 'aborted while connecting'));
    const cancelDeadline = startDeadline(clock, connectMs, () =>
      fail({
        kind: 'connect-timeout',
        message: `no connection to ${address.authority} within ${connectMs} ms${tcpStands ? ' (TCP stands, TLS does not)' : ''}`,
      }),
    );
    signal?.addEventListener('abort', aborted, { once: true });
    socket.once('error', failed);
    socket.once('connect', () => {
      tcpStands = true;
    });
    socket.once(address.secure ? 'secureConnect' : 'connect', () => {
      socket.pause();
      settle({ socket, failure: null });
    });
  });
}

function open(address: Address, options: DialOptions): Socket {
  const { host, port } = address;
  if (!address.secure) return connectTcp({ host, port, noDelay: true });
  const socket = connectTls({ host, port, ...tlsOptions(host, options.tls) });
  socket.setNoDelay(true);
  return socket;
}
