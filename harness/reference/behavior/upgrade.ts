import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Answer, problem } from '../http/answer.ts';
import type { ReceivedRequest, ServedRequest } from '../http/message.ts';
import { writeAndClose } from '../http/wire.ts';
import { Gate } from '../websocket/gate.ts';
import type { HandshakeVerdict, Kernel } from './behavior.ts';
import { finishAnswer } from './handling.ts';

/** How long an unanswered Close is waited for; the library knows this option, its types do not yet. */
const PATIENCE = { closeTimeout: 2_000 };

/** A key that is well formed, for a handshake that was accepted without one. */
const STAND_IN_KEY = Buffer.alloc(16).toString('base64');

/** Sockets of connections whose messages are compressed: on other threads, which nobody sees at work. */
export const compressing = new WeakSet<Socket>();

/** Takes connections that ask for WebSocket; `closeAll` ends them with Close 1001. */
interface Upgrader {
  take(incoming: IncomingMessage, request: ReceivedRequest, socket: Socket, early: Buffer): void;
  closeAll(): void;
}

export function createUpgrader(kernel: Kernel, log: (entry: ServedRequest) => void): Upgrader {
  const { websocket } = kernel.behavior;
  const library = new WebSocketServer({
    ...PATIENCE,
    noServer: true,
    maxPayload: websocket.messageLimit,
    perMessageDeflate: websocket.compression,
    skipUTF8Validation: !websocket.utf8Demanded,
    handleProtocols: (offered) => kernel.subprotocols.find((protocol) => offered.has(protocol)) ?? false,
  });
  const gated =
    websocket.endsTcp !== 'once closed' ||
    websocket.atHalfClose !== null ||
    websocket.endsAt !== null ||
    websocket.headChanges.length + websocket.inbound.length + websocket.outbound.length > 0;

  const refuse = (answer: Answer, request: ReceivedRequest, socket: Socket): void => {
    const finished = finishAnswer(kernel, answer, request);
    log({ method: request.method, path: request.path, status: finished.status });
    writeAndClose(socket, finished, request);
  };

  const open = (
    verdict: HandshakeVerdict & { readonly accepted: true },
    request: ReceivedRequest,
    connection: WebSocket,
  ): void => {
    // The library has already answered a broken frame with its close code; nothing is left to do.
    connection.on('error', () => undefined);
    log({ method: request.method, path: request.path, status: 101 });
    if (verdict.closeCode !== null) connection.close(verdict.closeCode);
    else verdict.endpoint.converse(connection, request, verdict.parameters);
  };

  return {
    take(incoming, request, socket, early) {
      const verdict = websocket.judge(request, kernel);
      if (!verdict.accepted) return refuse(verdict.answer, request, socket);
      if (early.length > 0) socket.unshift(early);
      const stream = gated ? new Gate(socket, websocket, websocket.messageLimit) : socket;
      // What our rules let pass, the library's own must not stop.
      library.once('wsClientError', () => refuse(problem('malformed'), request, socket));
      try {
        library.handleUpgrade(acceptable(incoming), stream, Buffer.alloc(0), (connection) => {
          if (connection.extensions !== '') compressing.add(socket);
          open(verdict, request, connection);
        });
      } finally {
        library.removeAllListeners('wsClientError');
      }
    },
    closeAll() {
      for (const connection of library.clients) connection.close(1001, 'the service stops');
    },
  };
}

/** The handshake as the library wants it; our own rules have judged it already. */
function acceptable(incoming: IncomingMessage): IncomingMessage {
  incoming.method = 'GET';
  const { headers } = incoming;
  headers.upgrade = 'websocket';
  headers['sec-websocket-version'] = '13';
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    headers['sec-websocket-key'] = STAND_IN_KEY;
  return incoming;
}
