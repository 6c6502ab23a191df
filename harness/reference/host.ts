import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket, Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { UsageError } from '../base/exit.ts';
import { createServer } from '../base/node-http.ts';
import type { Kernel } from './behavior/behavior.ts';
import { answerRequest, finishAnswer } from './behavior/handling.ts';
import { asksForWebSocket, createUpgrader } from './behavior/handshake.ts';
import { frontOf, type ServerIdentity } from './front.ts';
import { type HttpAnswer, type ProblemName, problem } from './http/answer.ts';
import { fieldValues, type ReceivedRequest, type ServedRequest, withField } from './http/message.ts';
import {
  readRefusedHead,
  readRequest,
  renderHead,
  UNREADABLE_REQUEST,
  writeAndClose,
} from './http/octets.ts';
import { openHttp2Host } from './http2-host.ts';

/**
 * Octets of a request head that Node reads; the kernel refuses earlier, and as one request among others. Less than
 * one read from the socket holds, so that the octets at hand tell whether the request line has ended.
 */
const HEAD_LIMIT = 48 * 1024;
/** Octets of content that are taken. */
const CONTENT_LIMIT = 1024 * 1024;
/** Connections at the same time; further ones are closed. More than any run opens, WebSockets included. */
const MOST_CONNECTIONS = 512;
/** Longer than a client's pool keeps idle connections, so that no request meets a closing one. */
const KEEP_ALIVE_MS = 75_000;
/** Milliseconds for which a stop waits until written octets have left. */
const STOP_MS = 500;

export interface Host {
  readonly port: number;
  /** Closes every connection; safe to call twice. */
  stop(): Promise<void>;
}

interface HostOptions {
  readonly address: string;
  /** 0: any free one. */
  readonly port: number;
  /** Over TLS with this certificate; null for plain HTTP. */
  readonly identity: ServerIdentity | null;
  /** HTTP/2 is spoken, beside HTTP/1.1 or alone. */
  readonly http2: boolean;
  readonly log: (entry: ServedRequest) => void;
}

/** Serves a kernel over TCP. Rejects with a UsageError when the port cannot be had. */
export async function openHost(kernel: Kernel, options: HostOptions): Promise<Host> {
  const upgrader = createUpgrader(kernel, options.log);
  const server = createServer({
    maxHeaderSize: HEAD_LIMIT,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // The kernel answers these itself, as problem details.
    requireHostHeader: false,
    shouldUpgradeCallback: (incoming) => asksForWebSocket(readRequest(incoming, Buffer.alloc(0)), kernel),
  });
  // Connections whose request is being answered: a parser error there must not talk into the answer.
  const answering = new Map<Duplex, ServerResponse>();
  const log = (request: ReceivedRequest, answer: HttpAnswer): void =>
    options.log({ method: request.method, path: request.path, status: answer.status });

  const onRequest = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    answering.set(incoming.socket, response);
    response.on('close', () => {
      // The next request of the connection may already have taken the place.
      if (answering.get(incoming.socket) === response) answering.delete(incoming.socket);
    });
    const body = await readContent(incoming);
    if (body === 'broken-off') return;
    const request = readRequest(incoming, body === 'too-large' ? Buffer.alloc(0) : body);
    const answer =
      body === 'too-large'
        ? finishAnswer(kernel, problem('content-too-large'), request)
        : await answerRequest(kernel, request);
    log(request, answer);
    if (answer.delivery === null && body !== 'too-large') return send(answer, response, kernel.clock);
    incoming.resume();
    writeAndClose(incoming.socket, answer, request);
  };
  const serve = (incoming: IncomingMessage, response: ServerResponse): void => {
    onRequest(incoming, response).catch(kernel.report);
  };
  server.on('request', serve);
  // Expectations other than 100-continue may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', serve);

  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, early: Buffer) => {
    const request = kernel.behavior.receive(readRequest(incoming, Buffer.alloc(0)));
    upgrader.take(incoming, request, socket, early);
  });

  const answerByHand = (request: ReceivedRequest, socket: Socket): void => {
    answerRequest(kernel, request)
      .then((answer) => {
        log(request, answer);
        writeAndClose(socket, answer, request);
      })
      .catch(kernel.report);
  };
  server.on('connect', (incoming: IncomingMessage, socket: Socket) =>
    answerByHand(readRequest(incoming, Buffer.alloc(0)), socket),
  );

  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (refused.has(socket)) return;
    if (!socket.writable || error.code === 'ECONNRESET' || answering.get(socket)?.headersSent === true) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const request =
      error.code === 'HPE_INVALID_METHOD' ? readRefusedHead(error.rawPacket ?? Buffer.alloc(0)) : null;
    if (request !== null) {
      answerByHand(request, socket);
      return;
    }
    const answer = finishAnswer(kernel, problem(parserProblem(error)), UNREADABLE_REQUEST);
    log(UNREADABLE_REQUEST, answer);
    writeAndClose(socket, answer, UNREADABLE_REQUEST);
  });

  const http2 = options.http2 ? openHttp2Host(kernel, log) : null;
  const listener = frontOf(server, kernel.behavior, options.identity, http2);
  listener.maxConnections = MOST_CONNECTIONS;
  const sockets = new Set<Socket>();
  listener.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(listener, options);

  let stopped: Promise<void> | null = null;
  return {
    port,
    stop() {
      stopped ??= close(listener, server, sockets, () => {
        upgrader.closeAll();
        http2?.close();
      });
      return stopped;
    },
  };
}

interface ParserError extends Error {
  readonly code?: string;
  /** The octets in which the parser stumbled. */
  readonly rawPacket?: Buffer;
}

/** What Node's HTTP parser found, as a refusal. */
const PARSER_PROBLEMS: Readonly<Record<string, ProblemName>> = {
  HPE_INVALID_VERSION: 'version-not-supported',
  HPE_PAUSED_H2_UPGRADE: 'version-not-supported',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'content-too-large',
};

function parserProblem(error: ParserError): ProblemName {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    // As long as no line has ended, it is the request line that is too long.
    return error.rawPacket?.includes('\n') === true ? 'fields-too-large' : 'target-too-long';
  }
  return PARSER_PROBLEMS[error.code ?? ''] ?? 'malformed';
}

async function readContent(incoming: IncomingMessage): Promise<Buffer | 'too-large' | 'broken-off'> {
  const chunks: Buffer[] = [];
  let octets = 0;
  try {
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      octets += chunk.length;
      if (octets > CONTENT_LIMIT) return 'too-large';
      chunks.push(chunk);
    }
  } catch {
    // The client is gone; no response can reach it.
    return 'broken-off';
  }
  return Buffer.concat(chunks);
}

/** Milliseconds between a response and the unsolicited octets that follow it. */
export const FOLLOWED_AFTER_MS = 20;

function send(answer: HttpAnswer, response: ServerResponse, clock: Kernel['clock']): void {
  response.sendDate = false;
  // A Connection field of our own, as of a 426, must not unsay that the connection closes.
  const options = fieldValues(answer, 'connection');
  const sent =
    options.length === 0 || response.shouldKeepAlive
      ? answer
      : withField(answer, 'Connection', [...options, 'close'].join(', '));
  response.writeHead(sent.status, sent.fields.flat());
  if (answer.stream && response.req.method !== 'HEAD') {
    response.flushHeaders();
    void sendStream(answer.stream, response, clock);
    return;
  }
  response.end(answer.body);
  const { socket, shouldKeepAlive } = response;
  const { followedBy } = answer;
  if (followedBy === undefined || socket === null || !shouldKeepAlive) return;
  const octets = followedBy(Buffer.concat([renderHead(sent), answer.body]));
  void clock.sleep(FOLLOWED_AFTER_MS).then(() => socket.writable && socket.write(octets));
}

/** Until it ends, or the client has left. */
async function sendStream(
  { pieces, end }: NonNullable<HttpAnswer['stream']>,
  response: ServerResponse,
  clock: Kernel['clock'],
): Promise<void> {
  for (const { afterMs, octets } of pieces) {
    if (afterMs > 0) await clock.sleep(afterMs);
    if (response.destroyed || !response.writable) return;
    response.write(octets);
  }
  if (end === 'whole') response.end();
  else if (end === 'broken') response.destroy();
}

function listen(listener: TcpServer, options: HostOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new UsageError(
          `cannot listen on ${options.address}:${options.port}: ${error.code ?? error.message}`,
          { remedy: 'choose another port, or 0 for any free one' },
        ),
      ),
    );
    listener.listen(options.port, options.address, () => {
      const bound = listener.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : options.port);
    });
  });
}

async function close(
  listener: TcpServer,
  server: Server,
  sockets: ReadonlySet<Socket>,
  farewell: () => void,
): Promise<void> {
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
  // Behind a front the HTTP server never listened; closing it ends its timers.
  if (listener !== server) server.close(() => undefined);
  farewell();
  for (const socket of sockets) socket.destroySoon();
  const impatience = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, STOP_MS);
  await closed;
  clearTimeout(impatience);
}
