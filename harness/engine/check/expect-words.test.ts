import { describe, expect, it } from 'vitest';
import { Violation } from '../../base/verdict.ts';
import { OPCODE } from '../../wire/conversation/frame.ts';
import { type ConversationView, viewConversation } from '../../wire/conversation/view.ts';
import type { Conversation, ConversationEvent } from '../../wire/conversation.ts';
import { Reply } from '../../wire/exchange/reply.ts';
import type { Exchange, RecordedResponse } from '../../wire/exchange.ts';
import {
  exampleBody,
  exampleConversation,
  exampleExchange,
  exampleFrame,
  exampleResponse,
  octetsOf,
} from '../../wire/fixtures/example-evidence.ts';
import { Expectation } from './expect.ts';

const means = <S extends Reply | ConversationView>(piece: S) =>
  new Expectation<S>({
    evidence: async () => ({ all: [piece], shortfall: null }),
    subject: (each) => each,
    note: () => undefined,
    held: () => undefined,
    judged: () => undefined,
  });

/** "expected …, got …", without the stimulus; null if it conforms. */
async function said(held: Promise<void>): Promise<string | null> {
  try {
    await held;
    return null;
  } catch (thrown) {
    if (!(thrown instanceof Violation)) throw thrown;
    const { expected, got } = thrown.deviation;
    return `${expected}: ${got.map(({ text }) => text).join('; ')}`;
  }
}

const reply = (response: Partial<RecordedResponse> = {}, exchange: Partial<Exchange> = {}) =>
  new Reply(exampleExchange({ response: exampleResponse(response), ...exchange }));
const of = (status: number) => reply({ status });
const silent = (message: string) => reply({}, { response: null, failure: { kind: 'reset', message } });
const typed = (type: string, body = '{}') =>
  reply({ fields: [['Content-Type', type]], body: exampleBody(body) });
const cacheable = (value: string) => reply({ fields: [['Cache-Control', value]] });

describe('an expectation of a response', () => {
  it.each<readonly [string, Reply, (it: Expectation<Reply>) => Promise<void>, string | null]>([
    ['of a status', of(204), (it) => it.toHaveStatus(200, 204), null],
    ['of a status', of(500), (it) => it.toHaveStatus(200, 201, 204), 'status 200, 201 or 204: status 500'],
    ['of a class', of(299), (it) => it.toHaveStatusClass(2, 4), null],
    ['of a class', of(300), (it) => it.toHaveStatusClass(2, 4), 'status 2xx or 4xx: status 300'],
    ['of a registered status', of(404), (it) => it.toHaveRegisteredStatus(), null],
    [
      'of a registered status',
      of(499),
      (it) => it.toHaveRegisteredStatus(),
      'a registered status code: status 499',
    ],
    ['of a refusal', of(199), (it) => it.toBeUnserved(), null],
    ['of a refusal', of(200), (it) => it.toBeUnserved(), 'a refusal, no 2xx: status 200'],
    ['of a refusal', of(299), (it) => it.toBeUnserved(), 'a refusal, no 2xx: status 299'],
    ['of a refusal', of(300), (it) => it.toBeUnserved(), null],
    ['of a refusal', silent('reset'), (it) => it.toBeUnserved(), null],
    ['of an answer', of(500), (it) => it.toBeAnswered(), null],
    [
      'of an answer',
      silent('reset'),
      (it) => it.toBeAnswered(),
      'a whole response: no whole response (reset)',
    ],
    ['of no server error', of(499), (it) => it.toBeHandled(), null],
    [
      'of no server error',
      of(500),
      (it) => it.toBeHandled(),
      'an answer that is no server error: status 500',
    ],
    ['of no server error', of(501), (it) => it.toBeHandled(), null],
    [
      'of no server error',
      of(502),
      (it) => it.toBeHandled(),
      'an answer that is no server error: status 502',
    ],
    ['of a field', of(200), (it) => it.toHaveField('Date'), null],
    [
      'of a field',
      of(404),
      (it) => it.toHaveField('X-Frame-Options'),
      'an X-Frame-Options field: none (status 404)',
    ],
    ['of a field', of(404), (it) => it.toHaveField('ETag'), 'an ETag field: none (status 404)'],
    ['of a field', of(404), (it) => it.toHaveField('Location'), 'a Location field: none (status 404)'],
    ['of a JSON type', typed('application/problem+json'), (it) => it.toHaveJsonMediaType(), null],
    [
      'of a JSON type',
      typed('text/html'),
      (it) => it.toHaveJsonMediaType(),
      'a JSON media type: Content-Type text/html',
    ],
    [
      'of a JSON type',
      reply({ fields: [] }),
      (it) => it.toHaveJsonMediaType(),
      'a JSON media type: no Content-Type',
    ],
    ['of JSON', typed('application/json'), (it) => it.toBeJson(), null],
    ['of JSON', typed('text/plain'), (it) => it.toBeJson(), 'a JSON body: Content-Type text/plain'],
    [
      'of JSON',
      typed('application/json', '[1'),
      (it) => it.toBeJson(),
      'a JSON body: the end where , or ] should be in /0, at octet 2',
    ],
    ['of no freshness', cacheable('no-store'), (it) => it.toBeUncacheable(), null],
    [
      'of no freshness',
      cacheable('max-age=60'),
      (it) => it.toBeUncacheable(),
      'no public directive and no freshness: Cache-Control: max-age=60',
    ],
    ['of no credential', of(200), (it) => it.toHoldNoCredential(), null],
    [
      'of no credential',
      reply({ fields: [['X-Key', '[redacted:API_KEY]']] }),
      (it) => it.toHoldNoCredential(),
      'no credential in the response: one in the field X-Key',
    ],
  ])('%s: %#', async (_, subject, hold, message) => {
    expect(await said(hold(means(subject)))).toBe(message);
  });
});

const { handshake } = exampleConversation();
const view = (conversation: Partial<Conversation> = {}) =>
  viewConversation(exampleConversation(conversation));
const opening = (status: number | null, more: Partial<Conversation> = {}) =>
  view({
    handshake: { ...handshake, response: status === null ? null : exampleResponse({ status }) },
    ...more,
  });
const frame = (
  from: 'client' | 'server',
  atMs: number,
  opcode: number,
  payload: string | Uint8Array = '',
): ConversationEvent => ({
  type: 'frame',
  from,
  atMs,
  frame: exampleFrame(opcode, payload),
});
const closing = (code: number) => Uint8Array.of(code >> 8, code & 255);
const talk = (...events: readonly ConversationEvent[]) => view({ events });
const end: ConversationEvent = { type: 'end', from: 'server', atMs: 50 };
const { text, binary, ping, pong, close } = OPCODE;

describe('an expectation of a conversation', () => {
  it.each<
    readonly [string, ConversationView, (it: Expectation<ConversationView>) => Promise<void>, string | null]
  >([
    ['to be opened', opening(101), (it) => it.toBeOpened(), null],
    ['to be opened', opening(403), (it) => it.toBeOpened(), 'status 101: status 403'],
    ['to be opened', opening(null), (it) => it.toBeOpened(), 'status 101: no HTTP answer (none came)'],
    [
      'to be opened',
      opening(null, { failure: { kind: 'reset', message: 'it was reset' } }),
      (it) => it.toBeOpened(),
      'status 101: no HTTP answer (it was reset)',
    ],
    ['to be refused', opening(403), (it) => it.toBeRefused(), null],
    ['to be refused', opening(101), (it) => it.toBeRefused(), 'an HTTP error: status 101'],
    ['to stay closed', opening(403), (it) => it.toStayClosed(), null],
    ['to stay closed', opening(101), (it) => it.toStayClosed(), 'anything but 101: status 101'],
    [
      'to be turned away',
      opening(101),
      (it) => it.toBeTurnedAway(),
      'a refusal: status 101 and an open connection',
    ],
    ['to end', talk(), (it) => it.toEnd(), 'the connection to end: an open connection'],
    [
      'to close with a code',
      talk(frame('server', 1, close, closing(1002))),
      (it) => it.toCloseWith(1002, 1007),
      null,
    ],
    [
      'to close with a code',
      talk(frame('server', 1, close, closing(1000))),
      (it) => it.toCloseWith(1002, 1007),
      'the close code 1002 or 1007, or none: 1000 (normal closure)',
    ],
    [
      'to answer Pings',
      talk(frame('client', 1, ping, 'a'), frame('server', 1, pong, 'a')),
      (it) => it.toAnswerPings(),
      null,
    ],
    [
      'to answer Pings',
      talk(frame('client', 1, ping, 'a'), frame('server', 1, pong, 'bcd')),
      (it) => it.toAnswerPings(),
      'a Pong with the payload of the Ping: one with 3 other octets',
    ],
    [
      'to answer Pings',
      talk(frame('server', 0, pong, 'a'), frame('client', 1, ping, 'a'), frame('server', 2, text, 'a')),
      (it) => it.toAnswerPings(),
      'a Pong with the payload of the Ping: no Pong',
    ],
    [
      'to answer Pings',
      talk(frame('client', 1, ping, 'a'), end),
      (it) => it.toAnswerPings(),
      'a Pong with the payload of the Ping: no Pong and the end of TCP',
    ],
    [
      'to answer Pings',
      talk(frame('client', 1, ping, 'a'), frame('client', 2, close), end),
      (it) => it.toAnswerPings(),
      'a Pong with the payload of the Ping: no Pong',
    ],
    [
      'to answer Pings',
      talk(frame('client', 1, ping, 'a'), frame('server', 2, close, closing(1001))),
      (it) => it.toAnswerPings(),
      'a Pong with the payload of the Ping: no Pong and the close code 1001',
    ],
    [
      'to answer Pings',
      talk(
        frame('client', 1, ping, 'a'),
        frame('client', 2, close),
        frame('server', 3, close, closing(1001)),
      ),
      (it) => it.toAnswerPings(),
      'a Pong with the payload of the Ping: no Pong',
    ],
    [
      'to answer Pings',
      talk(frame('client', 1, ping, 'a'), frame('server', 2, close)),
      (it) => it.toAnswerPings(),
      'a Pong with the payload of the Ping: no Pong and the close code none',
    ],
    [
      'to send back',
      talk(frame('client', 1, text, 'a'), frame('server', 2, text, 'a')),
      (it) => it.toSendBack(),
      null,
    ],
    [
      'to send back',
      talk(frame('client', 1, text, 'ab'), frame('server', 2, text, 'xyz')),
      (it) => it.toSendBack(),
      'each message back as it was: other content (3 octets) instead of a text message of 2 octets',
    ],
    [
      'to send back',
      talk(frame('client', 1, binary, 'ab')),
      (it) => it.toSendBack(),
      'each message back as it was: nothing instead of a binary message of 2 octets',
    ],
    [
      'to keep the kind',
      talk(frame('client', 1, text, 'a'), frame('server', 2, text, 'a')),
      (it) => it.toKeepKind(),
      null,
    ],
    ['to keep the kind', talk(frame('client', 1, text, 'a')), (it) => it.toKeepKind(), null],
    [
      'to keep the kind',
      talk(frame('client', 1, text, 'ab'), frame('server', 2, binary, 'ab')),
      (it) => it.toKeepKind(),
      'a message of the same kind back: a binary message instead of a text message of 2 octets',
    ],
    [
      'to keep a rule',
      talk(frame('server', 1, text, octetsOf('a'))),
      (it) => it.toKeep('known opcodes', 'opcode'),
      null,
    ],
    [
      'to keep a rule',
      talk(frame('server', 1, 3, 'a')),
      (it) => it.toKeep('known opcodes', 'opcode', 'utf8'),
      'known opcodes: a reserved opcode 3 frame with an opcode that is not defined (§5.2)',
    ],
    ['to keep a rule', talk(frame('server', 1, 3, 'a')), (it) => it.toKeep('UTF-8', 'utf8'), null],
    ['to fit the offer', view(), (it) => it.toFitTheOffer(), null],
  ])('%s: %#', async (_, subject, hold, message) => {
    expect(await said(hold(means(subject)))).toBe(message);
  });
});
