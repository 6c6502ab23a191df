import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { type HttpAnswer, problem } from '../http/answer.ts';
import {
  fieldValue,
  fieldValues,
  listMembers,
  type ReceivedRequest,
  type ServedRequest,
} from '../http/message.ts';
import { writeAndClose } from '../http/octets.ts';
import { findRoute } from '../http/routes.ts';
import { Gate } from '../websocket/gate.ts';
import type { HandshakeRule, HandshakeVerdict, Kernel } from './behavior.ts';
import { authenticated, credentialRefusal, finishAnswer } from './handling.ts';
import { upgradeRequired } from './preconditions.ts';

/** 16 octets in base64 (RFC 6455 §4.2.1 item 5). */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

/**
 * Whether a request is to be judged as an opening handshake; if not, it is plain HTTP. The Connection field has
 * been seen to by Node; an Upgrade in HTTP/1.0 is ignored (RFC 9110 §7.8).
 */
export function asksForWebSocket(request: ReceivedRequest, kernel: Kernel): boolean {
  return (
    request.httpVersion === '1.1' &&
    listMembers(request, 'upgrade').includes('websocket') &&
    findRoute(kernel.service.sockets, request.path) !== null
  );
}

/** RFC 6455 §4.2.1 and §4.2.2, authentication first as everywhere. */
export const HANDSHAKE_RULES: readonly HandshakeRule[] = [
  {
    name: 'credential',
    refuses: (request, kernel, endpoint) => {
      if (!endpoint.credential) return null;
      const authentication = authenticated(request, kernel);
      return authentication.admitted ? null : credentialRefusal(kernel.access, authentication.reason);
    },
  },
  {
    name: 'method',
    refuses: (request) =>
      request.method === 'GET' ? null : problem('method-not-allowed', [['Allow', 'GET, OPTIONS']]),
  },
  {
    name: 'version',
    refuses: (request) => {
      const versions = fieldValues(request, 'sec-websocket-version');
      return versions.length === 1 && versions[0]?.trim() === '13' ? null : upgradeRequired();
    },
  },
  {
    name: 'host',
    refuses: (request) => (fieldValues(request, 'host').length === 1 ? null : problem('malformed')),
  },
  {
    name: 'key',
    refuses: (request) => {
      const keys = fieldValues(request, 'sec-websocket-key');
      return keys.length === 1 && KEY.test(keys[0] ?? '') ? null : problem('malformed');
    },
  },
  {
    name: 'origin',
    // A request without Origin comes from no browser (§4.2.1 item 7) and proves itself by its credential.
    refuses: (request, kernel) => {
      const origin = fieldValue(request, 'origin');
      const foreign = kernel.origin !== null && origin !== undefined && origin !== kernel.origin;
      return foreign ? problem('forbidden-origin') : null;
    },
  },
];

/** Holds a handshake against the rules of the behavior. */
export function judgeHandshake(request: ReceivedRequest, kernel: Kernel): HandshakeVerdict {
  const match = findRoute(kernel.service.sockets, request.path);
  if (match === null) return { accepted: false, answer: problem('not-found') };
  const { route: endpoint, parameters } = match;
  for (const rule of kernel.behavior.websocket.rules) {
    const answer = rule.refuses(request, kernel, endpoint);
    if (answer !== null) return { accepted: false, answer };
  }
  return { accepted: true, endpoint, parameters, closeCode: null };
}

/** How long an unanswered Close is waited for; the library knows this option, its types do not yet. */
const PATIENCE = { closeTimeout: 2_000 };

/** A key that is well formed, for a handshake that was accepted without one. */
const STAND_IN_KEY = Buffer.alloc(16).toString('base64');

/** Sockets of connections whose messages are compressed: on other threads, whose work the event loop does not show. */
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

  const refuse = (answer: HttpAnswer, request: ReceivedRequest, socket: Socket): void => {
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
