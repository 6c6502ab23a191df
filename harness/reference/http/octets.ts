import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { STATUS_CODES } from '../../base/node-http.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import { linesIn } from '../../wire/fields/grammar/field-grammar.ts';
import type { HttpAnswer } from './answer.ts';
import { fieldValues, type ReceivedRequest, splitTarget, withField } from './message.ts';

/** How long a connection that was answered and closed is still read, so that no reset overtakes the answer. */
const LINGER_MS = 2_000;

export function receivedRequest(
  line: { readonly method: string; readonly target: string; readonly httpVersion: string },
  fields: readonly FieldLine[],
  body: Buffer,
): ReceivedRequest {
  return { ...line, ...splitTarget(line.target), fields, body };
}

/** A request as Node has parsed it. */
export function readRequest(incoming: IncomingMessage, body: Buffer): ReceivedRequest {
  const { method = '', url: target = '', httpVersion, socket, rawHeaders } = incoming;
  return {
    ...receivedRequest({ method, target, httpVersion }, linesIn(rawHeaders), body),
    connection: socket,
  };
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP\/(\d\.\d)$/;
const FIELD_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/;

/** A request that Node's parser refused for its method alone; null when more is wrong or something is missing. */
export function readRefusedHead(octets: Buffer): ReceivedRequest | null {
  const text = octets.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [first = '', ...rest] = text.slice(0, end).split('\r\n');
  const line = REQUEST_LINE.exec(first);
  const fields = rest.map((text) => FIELD_LINE.exec(text));
  if (line === null || fields.includes(null)) return null;
  return receivedRequest(
    { method: line[1] ?? '', target: line[2] ?? '', httpVersion: line[3] ?? '' },
    fields.map((field): FieldLine => [field?.[1] ?? '', field?.[2] ?? '']),
    Buffer.alloc(0),
  );
}

export const UNREADABLE_REQUEST: ReceivedRequest = receivedRequest(
  { method: 'GET', target: '/', httpVersion: '1.1' },
  [],
  Buffer.alloc(0),
);

export function renderHead(answer: HttpAnswer): Buffer {
  const lines = answer.fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n${lines.join('')}\r\n`,
    'latin1',
  );
}

/** The body as one chunk, with trailers. */
export function inChunks(head: Buffer, body: Buffer, trailers = ''): Buffer {
  const coded = head.toString('latin1').replace(/^Content-Length:.*\r\n/m, 'Transfer-Encoding: chunked\r\n');
  const end = Buffer.from(`\r\n0\r\n${trailers}\r\n`);
  return Buffer.concat([Buffer.from(`${coded}${body.length.toString(16)}\r\n`, 'latin1'), body, end]);
}

/** The octets of an answer that ends its connection; null when nothing is to be sent. */
function renderMessage(answer: HttpAnswer, request: ReceivedRequest): Buffer | null {
  if (answer.delivery?.kind === 'drop') return null;
  const options = fieldValues(answer, 'connection').filter((option) => option !== 'close');
  const head = renderHead(withField(answer, 'Connection', [...options, 'close'].join(', ')));
  if (answer.delivery?.kind === 'octets') return answer.delivery.render(head, answer.body);
  return request.method === 'HEAD' ? head : Buffer.concat([head, answer.body]);
}

/** Sends an answer by hand and ends the connection. */
export function writeAndClose(socket: Socket, answer: HttpAnswer, request: ReceivedRequest): void {
  // What the client still does to a connection that is given up is no concern of ours.
  socket.on('error', () => undefined);
  const message = renderMessage(answer, request);
  if (message === null) {
    socket.destroy();
    return;
  }
  socket.end(message);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
