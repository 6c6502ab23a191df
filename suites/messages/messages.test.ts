import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { serving } from '../../harness/base/fixtures/server.ts';
import type { MessageEndpoint } from '../../harness/config/asyncapi/documented-messages.ts';
import { judgedInTurn, saidOf } from '../tests/fixtures/judged.ts';
import { messages } from './messages.suite.ts';
import { configOf, endpointOf, messageOf, operationOf, textOf } from './stimuli/fixtures/documented.ts';

const DEFINITIONS = {
  'x:pong': { type: 'object', required: ['type'], properties: { type: { const: 'pong' } } },
  'x:failure': {
    type: 'object',
    required: ['type'],
    properties: { type: { const: 'failure' }, why: { type: 'string' } },
  },
  'x:endless': { allOf: [{ $ref: 'x:endless' }] },
  'x:event': { type: 'object', required: ['type'], properties: { type: { const: 'event' } } },
};

const typed = (
  name: string,
  schema: keyof typeof DEFINITIONS,
  correlation: readonly string[] | null = null,
) =>
  messageOf(name, {
    schema: { $ref: schema },
    kind: { member: 'type', values: [schema.slice(2)] },
    correlation,
  });
const PONG = typed('pong', 'x:pong', ['id']);
const FAILURE = typed('failure', 'x:failure');
const EVENT = typed('event', 'x:event', ['id']);

const PING = '{"type":"ping","id":1}';
const UNFIT = '{"type":"ping","id":[]}';
const ASK = operationOf('ask', { texts: [textOf(PING, { id: 1, unfitText: UNFIT })], replies: ['pong'] });
const HEAR = operationOf('hear', { action: 'receive', messages: ['event'] });

const WS = endpointOf('/ws', { messages: [PONG, FAILURE, EVENT], operations: [ASK] });
const withoutId = endpointOf('/ws', {
  ...WS,
  operations: [operationOf('ask', { ...ASK, texts: [textOf(PING)] })],
});
const withoutErrors = endpointOf('/ws', { ...WS, messages: [PONG, EVENT] });
const endless = endpointOf('/ws', {
  ...WS,
  messages: [PONG, FAILURE, messageOf('endless', { schema: { $ref: 'x:endless' } })],
});
const listening = endpointOf('/ws', { ...WS, operations: [ASK, HEAR] });

/** What the service does with each message, and at first; `close` is a Close frame, `end` the end of TCP. */
interface Service {
  readonly answer?: (text: string, socket: WebSocket, path: string) => void;
  readonly greet?: (socket: WebSocket, path: string) => void;
  /** Handshakes at other paths are refused. */
  readonly paths?: readonly string[];
  /** Path of the base URL, below which the addresses are. */
  readonly base?: string;
}

async function judgedOf(
  { answer, greet, paths, base = '' }: Service,
  endpoints: readonly MessageEndpoint[] = [WS],
  only: string | null = null,
) {
  const checks = messages.checks.filter(({ id }) => only === null || id === only);
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const path = request.url ?? '';
    if (paths && !paths.includes(path)) {
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('error', () => undefined);
      client.on('message', (content) => answer?.(String(content), client, path));
      greet?.(client, path);
    });
  });
  const { url, stop } = await serving(server);
  const config = await configOf(endpoints, {
    definitions: DEFINITIONS,
    elsewhere: [operationOf('away', { unfit: null }), operationOf('gone', { unfit: 'no server' })],
  });
  const patient = { ...config, timeouts: { ...config.timeouts, responseMs: 100 } };
  return judgedInTurn(patient, [{ ...messages, checks }], { url: `${url}${base}` }).finally(stop);
}

/** These come in answer to the documented message; nothing to others. */
const answering = (...texts: readonly (string | Buffer)[]): Service => ({
  answer(text, socket) {
    if (text === PING) for (const each of texts) socket.send(each);
  },
});
const refusing = (...texts: readonly string[]): Service => ({
  answer(text, socket) {
    for (const each of text === PING ? [RIGHT] : texts) socket.send(each);
  },
});
const greeting = (...texts: readonly string[]): Service => ({
  answer: (_, socket) => socket.send(RIGHT),
  greet(socket) {
    for (const each of texts) socket.send(each);
  },
});
const ending = (end: (socket: WebSocket) => void): Service => ({ answer: (_, socket) => end(socket) });

const RIGHT = '{"type":"pong","id":1}';
const LONG = JSON.stringify({ type: 'event', text: 'x'.repeat(100_000) });

type Row = readonly [what: string, service: Service, said: RegExp, endpoints?: readonly MessageEndpoint[]];

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'messages.reply': [
    ['as documented', answering(RIGHT), /^pass/],
    ['after an event', answering('{"type":"event"}', RIGHT), /^pass/],
    ['with nothing', {}, /got no reply to ask/],
    ['with an event', answering('{"type":"event"}'), /got no reply to ask/],
    ['with a Close', ending((socket) => socket.close(1000)), /got no reply, and the end \(1000\) to ask/],
    ['with the end', ending((socket) => socket.terminate()), /got no reply, and the end \(no code\) to ask/],
    [
      'with an error',
      answering('{"type":"failure"}'),
      /^blocked: Not judged: ask was answered with failure\./,
    ],
    [
      'with an error by its name',
      answering('{"type":"event"}'),
      /^blocked: Not judged: ask was answered with Rejection\./,
      [endpointOf('/ws', { ...WS, messages: [PONG, typed('Rejection', 'x:event')] })],
    ],
    ['with another of its id', answering('{"type":"event","id":1}'), /^blocked: .*answered with event/],
    ['with another of another id', answering('{"type":"event","id":2}'), /got no reply to ask/],
    [
      'with what cannot be judged',
      answering('{}'),
      /^blocked: Not judged: ask, where the schema refers to itself without end\./,
      [endless],
    ],
    ['with what is too long', answering(LONG), /^blocked: Not judged: ask, where a message is too long/],
    ['with what is not documented', answering('{"type":"x"}'), /^(?:pass|blocked)/],
    [
      'to none, where none is documented',
      answering(),
      /^skipped: no message with a documented reply/,
      [endpointOf('/ws', { ...WS, operations: [operationOf('ask', { ...ASK, replies: null })] })],
    ],
  ],
  'messages.correlation': [
    ['as it should be', answering(RIGHT), /^pass/],
    ['of another message', answering('{"type":"pong","id":2}'), /got another id for ask/],
    ['as a text', answering('{"type":"pong","id":"1"}'), /got another string for ask/],
    ['that is missing', answering('{"type":"pong"}'), /got no id for ask/],
    ['of another and then its own', answering('{"type":"pong","id":2}', RIGHT), /^pass/],
    ['of a message without one', answering('{"type":"pong","id":2}'), /^skipped: no reply came/, [withoutId]],
    ['of a refusal', answering('{"type":"failure"}'), /^skipped: no reply came/],
    [
      'that is not documented',
      answering(RIGHT),
      /^skipped: no reply came/,
      [endpointOf('/ws', { ...WS, messages: [typed('pong', 'x:pong'), FAILURE] })],
    ],
  ],
  'messages.content-type': [
    ['JSON', answering(RIGHT), /^pass/],
    ['JSON in binary', answering(Buffer.from(RIGHT)), /^pass/],
    ['no JSON', greeting('hello'), /expected JSON, got a text that is not JSON/],
    ['nothing', {}, /^skipped: no message came/],
    ['what cannot be judged', greeting('{}'), /^pass: the schema refers to itself without end\.$/, [endless]],
    ['alone what cannot be judged', { greet: (socket) => socket.send('{}') }, /^skipped/, [endless]],
    ['a long one', greeting(LONG), /^blocked: a message is too long/],
    ['a long one alone', { greet: (socket) => socket.send(LONG) }, /^blocked: a message is too long/],
    ['a long one and no JSON', greeting(LONG, 'hello'), /^fail: .*a text that is not JSON/],
  ],
  'messages.undocumented': [
    ['alone', greeting('{"type":"x"}'), /expected a documented message, got a message with type "x"/],
    [
      'of another address',
      { greet: (socket, path) => socket.send(`{"type":"${path === '/ws' ? 'event' : 'failure'}"}`) },
      /^pass/,
      [
        endpointOf('/ws', { messages: [EVENT], operations: [HEAR] }),
        endpointOf('/admin/ws', {
          messages: [FAILURE],
          operations: [operationOf('fail', { ...HEAR, messages: ['failure'] })],
        }),
      ],
    ],
    [
      'of another room',
      { greet: (socket, path) => socket.send(`{"type":"${path === '/ws?room=a' ? 'event' : 'failure'}"}`) },
      /^pass/,
      [
        endpointOf('/ws?room=a', { messages: [EVENT], operations: [HEAR] }),
        endpointOf('/ws?room=b', {
          messages: [FAILURE],
          operations: [operationOf('fail', { ...HEAR, messages: ['failure'] })],
        }),
      ],
    ],
    [
      'at another address',
      { greet: (socket, path) => socket.send(`{"type":"${path === '/ws' ? 'event' : 'x'}"}`) },
      /got a message with type "x".*\/admin\/ws/,
      [
        endpointOf('/ws', { messages: [EVENT], operations: [HEAR] }),
        endpointOf('/admin/ws', {
          messages: [FAILURE],
          operations: [operationOf('fail', { ...HEAR, messages: ['failure'] })],
        }),
      ],
    ],
  ],
  'messages.payload': [
    ['as documented', greeting('{"type":"failure","why":"x"}'), /^pass/],
    ['below a base URL', { ...greeting('{"type":"failure"}'), base: '/api' }, /^pass/],
    [
      'another',
      greeting('{"type":"failure","why":1}'),
      /expected failure to fit its payload, got one in which/,
    ],
  ],
  'messages.refusal': [
    ['as documented', refusing('{"type":"failure"}'), /^pass/],
    ['a misfit', refusing('{"type":"failure","why":1}'), /got failure in which/],
    ['undocumented', refusing('{"type":"x"}'), /got a message with type "x"/],
    ['no JSON', refusing('no'), /got a text that is not JSON/],
    ['nothing', refusing(), /^skipped: no message for errors is documented, or none came/],
    ['what cannot be judged', refusing('{}'), /^skipped: no message for errors/, [endless]],
    ['a long one', refusing(LONG), /^blocked: a message is too long/],
    [
      'without a documented error',
      refusing('{"type":"x"}'),
      /^skipped: no message for errors/,
      [withoutErrors],
    ],
    [
      'where an error is one by its kind',
      refusing('{"type":"x"}'),
      /got a message with type "x"/,
      [endpointOf('/ws', { ...WS, messages: [PONG, typed('other', 'x:failure')] })],
    ],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, service, said, endpoints] }) => {
    expect(saidOf(await judgedOf(service, endpoints, id), id)).toMatch(said);
  });
});

const FOUR = endpointOf('/ws', {
  ...WS,
  operations: ['1', '2', '3', '4'].map((id) =>
    operationOf(id, { texts: [textOf(`{"ping":${id}}`)], replies: ['pong'] }),
  ),
});

it.each(['1', '2'])('takes no reply for that to another message: to %s', async (answered) => {
  const two = { ...FOUR, operations: FOUR.operations.slice(0, 2) };
  const answer = (text: string, socket: WebSocket) => {
    if (text === `{"ping":${answered}}`) socket.send(RIGHT);
  };
  const other = answered === '1' ? '2' : '1';
  const found = await judgedOf({ answer }, [two], 'messages.reply');
  expect(saidOf(found, 'messages.reply')).toContain(`got no reply to ${other}`);
});

it('opens three connections at most for what one that ended left unsent', async () => {
  const heard: string[] = [];
  const answer = (text: string, socket: WebSocket) => {
    if (text.includes('ping')) heard.push(text);
    socket.terminate();
  };
  const { events } = await judgedOf({ answer }, [FOUR]);
  expect(heard).toEqual(['{"ping":1}', '{"ping":2}', '{"ping":3}']);
  expect(JSON.stringify(events)).toContain('the connection ended before');
});

it.each<readonly [string, Service, readonly MessageEndpoint[], readonly object[]]>([
  [
    'what came',
    { ...greeting('{"type":"event"}'), answer: (_, socket) => socket.send(RIGHT) },
    [listening],
    [
      { operation: 'send ask', answers: [{ code: 'pong', seen: 1 }] },
      { operation: 'receive hear', answers: [{ code: 'event', seen: 1 }] },
      { operation: 'send away', notExercised: { reason: 'it has no address here', why: 'unfit' } },
      { operation: 'send gone', notExercised: { reason: 'no server', why: 'unfit' } },
    ],
  ],
  [
    'an address that is not there',
    { ...answering(RIGHT), paths: ['/ws'] },
    [WS, endpointOf('/other', { operations: [HEAR] })],
    [
      { operation: 'send ask', answers: [{ code: 'pong', seen: 1 }] },
      {
        operation: 'receive hear',
        notExercised: { reason: 'no connection was opened: status 404', why: 'left' },
      },
      {},
      {},
    ],
  ],
  [
    'what may change something',
    answering(RIGHT),
    [
      endpointOf('/ws', {
        ...WS,
        operations: [ASK, operationOf('add', { texts: [textOf('{"add":1}', { risk: 'destroys' })] })],
      }),
    ],
    [{ operation: 'send ask' }, { operation: 'send add', notExercised: { why: 'unsafe' } }, {}, {}],
  ],
])('covers of a document %s', async (_, service, endpoints, operations) => {
  const { events } = await judgedOf(service, endpoints);
  const covered = events.flatMap((event) => (event.type === 'operations' ? [event.operations] : []));
  expect(covered.at(-1)).toMatchObject(operations);
  expect(covered.at(-1)?.[0]).not.toHaveProperty('notExercised');
});
