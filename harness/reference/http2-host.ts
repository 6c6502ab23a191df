import type { Http2Session, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { http2 } from '../base/node-http.ts';
import type { FieldLine } from '../wire/exchange.ts';
import { linesIn } from '../wire/fields/grammar/field-grammar.ts';
import type { Kernel } from './behavior/behavior.ts';
import { answerRequest, finishAnswer } from './behavior/handling.ts';
import { type HttpAnswer, problem } from './http/answer.ts';
import { faulty } from './http/http2-octets.ts';
import type { ReceivedRequest } from './http/message.ts';
import { receivedRequest } from './http/octets.ts';

/** The first octets of a client of HTTP/2 (RFC 9113 §3.4), up to where no request of HTTP/1.1 can begin so. */
export const PREFACE = 'PRI * HTTP/2.0';

/** RFC 9113 §8.2.2: they are about a connection of HTTP/1.1. */
const OF_THE_CONNECTION = /^(?:connection|keep-alive|proxy-connection|transfer-encoding|upgrade)$/i;
/** RFC 9113 §7 */
const REFUSED_STREAM = 7;
/** Octets of content that are taken. */
const CONTENT_LIMIT = 1024 * 1024;

export interface Http2Host {
  /** Takes over a connection whose client speaks HTTP/2. */
  take(socket: Socket): void;
  close(): void;
}

/** Serves a kernel over HTTP/2. */
export function openHttp2Host(
  kernel: Kernel,
  log: (request: ReceivedRequest, answer: HttpAnswer) => void,
): Http2Host {
  const {
    answersAs,
    resetEnds = false,
    refuses,
    appended,
    endsAfter,
    settings = {},
  } = kernel.behavior.http2 ?? {};
  let streams = 0;
  /** Fields for the answers under way, by connection and stream. */
  const fields = new WeakMap<Http2Session, Map<number, FieldLine>>();
  const sessions = new Set<Http2Session>();
  const server = http2().createServer({
    settings,
    maxSendHeaderBlockLength: CONTENT_LIMIT,
  });
  server.on('session', (session) => {
    sessions.add(session);
    let own = 0;
    session.on('stream', () => {
      own += 1;
      if (own === endsAfter) session.close();
    });
    session.on('error', () => undefined);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, _headers, _flags, ...rest: readonly unknown[]) => {
    stream.on('error', () => undefined);
    streams += 1;
    if (refuses?.(streams)) {
      stream.close(REFUSED_STREAM);
      return;
    }
    serve(stream, (rest[0] ?? []) as readonly string[]).catch(kernel.report);
  });

  async function serve(stream: ServerHttp2Stream, raw: readonly string[]): Promise<void> {
    const { session } = stream;
    const body = await readContent(stream);
    if (body === null) return;
    const lines = linesIn(raw);
    const pseudo = (name: string) => lines.find(([each]) => each === name)?.[1] ?? '';
    const own = lines.filter(([name]) => !name.startsWith(':') && name !== 'host');
    const request: ReceivedRequest = {
      ...receivedRequest(
        { method: pseudo(':method'), target: pseudo(':path'), httpVersion: '2' },
        [['host', pseudo(':authority')], ...own],
        body === 'too-large' ? Buffer.alloc(0) : body,
      ),
      ...(session && { connection: session }),
    };
    const made =
      body === 'too-large'
        ? finishAnswer(kernel, problem('content-too-large'), request)
        : await answerRequest(kernel, request);
    const answer = answersAs?.(made, request) ?? made;
    log(request, answer);
    if (stream.destroyed) return;
    if (answer.delivery?.kind === 'drop') {
      session?.destroy();
      return;
    }
    const field = appended?.(request) ?? null;
    if (field !== null && session && stream.id !== undefined) fields.get(session)?.set(stream.id, field);
    stream.respond(headersOf(answer), { endStream: request.method === 'HEAD' || answer.body.length === 0 });
    if (!stream.writableEnded) stream.end(answer.body);
  }

  return {
    take(socket) {
      if (!appended && !resetEnds) {
        server.emit('connection', socket);
        return;
      }
      const own = new Map<number, FieldLine>();
      server.once('session', (session) => fields.set(session, own));
      server.emit('connection', faulty(socket, { fields: own, resetEnds }));
    },
    close() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

function headersOf({ status, fields }: HttpAnswer): OutgoingHttpHeaders {
  const values = new Map<string, string[]>();
  for (const [name, value] of fields) {
    if (OF_THE_CONNECTION.test(name)) continue;
    values.set(name.toLowerCase(), [...(values.get(name.toLowerCase()) ?? []), value]);
  }
  const entries = [...values].map(([name, each]) => [name, each.length === 1 ? each[0] : each] as const);
  return { ':status': status, ...Object.fromEntries(entries) };
}

/** null if the client reset the stream. */
async function readContent(stream: ServerHttp2Stream): Promise<Buffer | 'too-large' | null> {
  const chunks: Buffer[] = [];
  let octets = 0;
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      octets += chunk.length;
      if (octets > CONTENT_LIMIT) return 'too-large';
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}
