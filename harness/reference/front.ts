import type { Server } from 'node:http';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Behavior } from './behavior/behavior.ts';
import { type Http2Host, PREFACE } from './http2-host.ts';

/** What a server shows of itself, in PEM. */
export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
}

/** Octets of a head that passes through an intake as a whole. */
const INTAKE_LIMIT = 64 * 1024;

/**
 * The layers below HTTP: TLS, the choice of the version by ALPN or by the first octets, and the intake, through
 * which the first octets of each connection in HTTP/1.1 pass. The server itself where there is none of them.
 */
export function frontOf(
  server: Server,
  { intake, http2: own }: Pick<Behavior, 'intake' | 'http2'>,
  identity: ServerIdentity | null,
  http2: Http2Host | null,
): TcpServer {
  if (intake === null && identity === null && http2 === null) return server;
  const isAlone = own?.isAlone ?? false;
  const take = (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    if (http2 !== null && isAlone) http2.take(socket);
    else if (intake === null && http2 === null) server.emit('connection', socket);
    else readFirst(socket);
  };
  const readFirst = (socket: Socket) => {
    const segments: Buffer[] = [];
    const handOver = (octets: Buffer) => {
      socket.off('data', collect);
      socket.pause();
      socket.unshift(octets);
    };
    const collect = (segment: Buffer) => {
      segments.push(segment);
      const octets = Buffer.concat(segments);
      const start = octets.toString('latin1', 0, PREFACE.length);
      if (http2 !== null && PREFACE.startsWith(start)) {
        if (start.length < PREFACE.length) return;
        handOver(octets);
        http2.take(socket);
        return;
      }
      if (intake !== null && !octets.includes('\r\n\r\n') && octets.length < INTAKE_LIMIT) return;
      handOver(intake === null ? octets : intake(octets, segments.length));
      server.emit('connection', socket);
      socket.resume();
    };
    socket.on('data', collect);
  };
  const options = { allowHalfOpen: true, noDelay: true };
  return identity === null
    ? createTcpServer(options, take)
    : createTlsServer({ ...options, ...identity, ALPNProtocols: protocolsOf(isAlone, http2) }, take);
}

/** By preference, as ALPN names them. */
function protocolsOf(isAlone: boolean, http2: Http2Host | null): string[] {
  if (http2 === null) return ['http/1.1'];
  return isAlone ? ['h2'] : ['h2', 'http/1.1'];
}
