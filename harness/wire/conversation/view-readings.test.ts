import { describe, expect, it } from 'vitest';
import type { Conversation, ConversationEvent } from '../conversation.ts';
import type { FieldLine, RecordedRequest } from '../exchange.ts';
import {
  exampleConversation,
  exampleFrame,
  exampleResponse,
  octetsOf,
} from '../fixtures/example-evidence.ts';
import { dialectOf } from './dialect.ts';
import { OPCODE } from './frame.ts';
import { agreedInflation, Deflation, deflatedRepeatedly, deflatedToEnd, Inflation } from './inflation.ts';
import { viewConversation } from './view.ts';

const { handshake } = exampleConversation();
const view = (conversation: Partial<Conversation> = {}) =>
  viewConversation(exampleConversation(conversation));
const asked = (request: Partial<RecordedRequest>, more: Partial<Conversation['handshake']> = {}) =>
  view({ handshake: { ...handshake, request: { ...handshake.request, ...request }, ...more } });
const answered = (status: number, ...fields: readonly FieldLine[]) =>
  view({ handshake: { ...handshake, response: exampleResponse({ status, fields }) } });
const talk = (...events: readonly ConversationEvent[]) => view({ events });
const frame = (
  from: 'client' | 'server',
  opcode: number,
  payload: string | Uint8Array = '',
  atMs = 1,
): ConversationEvent => ({
  type: 'frame',
  from,
  atMs,
  frame: exampleFrame(opcode, payload),
});
const closing = (code: number, ...more: readonly number[]) => Uint8Array.of(code >> 8, code & 255, ...more);
const { text, ping, pong, close } = OPCODE;

describe('a handshake', () => {
  it.each([
    [299, null],
    [300, '/b'],
    [399, '/b'],
    [400, null],
    [101, null],
  ])('answered with %i leads to %j', (status, place) => {
    expect(answered(status, ['Location', '/b']).redirect).toBe(place);
    expect(answered(302).redirect).toBeNull();
  });

  const lines = handshake.request.fields;
  const without = (name: string, ...more: readonly FieldLine[]) => [
    ...lines.filter(([each]) => each !== name),
    ...more,
  ];

  it.each<readonly [string, Partial<RecordedRequest>, boolean]>([
    ['as documented', {}, true],
    ['in other letters', { fields: without('Upgrade', ['Upgrade', 'WebSocket']) }, true],
    ['with further tokens', { fields: without('Connection', ['Connection', 'keep-alive, Upgrade']) }, true],
    ['without Upgrade', { fields: without('Upgrade') }, false],
    ['without Connection', { fields: without('Connection') }, false],
    ['without a version', { fields: without('Sec-WebSocket-Version') }, false],
    [
      'of another version',
      { fields: without('Sec-WebSocket-Version', ['Sec-WebSocket-Version', '14']) },
      false,
    ],
    ['of another method', { method: 'POST' }, false],
    ['over HTTP/1.0', { httpVersion: '1.0' }, false],
    ['without a Host', { fields: without('Host') }, false],
  ])('%s is ordinary: %s', (_, request, isIt) => {
    expect(asked(request).isOrdinary).toBe(isIt);
    expect(asked(request, { expectedAccept: null }).isOrdinary).toBe(false);
  });

  it('is answered with the accept of its key', () => {
    expect(view().acceptIsRight).toBe(true);
    expect(asked({}, { expectedAccept: 'other' }).acceptIsRight).toBe(false);
    expect(asked({}, { expectedAccept: null }).acceptIsRight).toBe(false);
    expect(asked({}, { expectedAccept: null, response: exampleResponse({ fields: [] }) }).acceptIsRight).toBe(
      false,
    );
  });

  it('names the extensions that were not offered', () => {
    const selected = (offer: string, answer: string) =>
      asked(
        { fields: [...lines, ['Sec-WebSocket-Extensions', offer]] },
        { response: exampleResponse({ fields: [['Sec-WebSocket-Extensions', answer]] }) },
      ).unofferedExtensions;
    expect(selected('foo; a=1 , bar ;b', 'foo, bar')).toEqual([]);
    expect(selected('foo', 'foo, bar')).toEqual(['bar']);
    expect(selected('"x,foo"', 'foo')).toEqual(['foo']);
  });

  it.each([
    ['permessage-deflate', true],
    [' PERMESSAGE-DEFLATE; x', true],
    ['foo, permessage-deflate', false],
    ['permessage-deflater', false],
  ])('with %s compresses: %s', (extension, isIt) => {
    expect(answered(101, ['Sec-WebSocket-Extensions', extension]).isCompressing).toBe(isIt);
  });

  it.each([
    [['Via', '1.1 x'], 'Via: 1.1 x'],
    [['CF-Ray', '1'], 'CF-Ray: 1'],
    [['X-Envoy-Upstream', '1'], 'X-Envoy-Upstream: 1'],
    [['Server', 'NGINX/1.2'], 'Server: NGINX/1.2'],
    [['Server', 'my-nginx'], null],
    [['Server', 'nginxes'], null],
    [['X-Via', '1'], null],
    [['Viable', '1'], null],
  ] as const)('answered with %j came by way of %j', (line, intermediary) => {
    expect(answered(101, line).intermediary).toBe(intermediary);
  });

  it('came by way of the first that says so', () => {
    expect(answered(101, ['Via', 'a'], ['CF-Ray', 'b']).intermediary).toBe('Via: a');
  });
});

describe('what was said', () => {
  it('is UTF-8 in messages and in reasons', () => {
    expect(talk(frame('client', text, 'ä'), frame('client', close, closing(1000, 0x61))).isSaidInUtf8).toBe(
      true,
    );
    expect(talk(frame('client', text, Uint8Array.of(255))).isSaidInUtf8).toBe(false);
    expect(
      talk(frame('client', close, closing(1000, 255)), frame('client', close, closing(1000))).isSaidInUtf8,
    ).toBe(false);
    expect(talk(frame('client', ping, Uint8Array.of(255))).isSaidInUtf8).toBe(true);
    expect(talk(frame('server', text, Uint8Array.of(255))).isSaidInUtf8).toBe(true);
    expect(talk().isSaidInUtf8).toBe(true);
  });

  it('is a greeting if the server spoke first', () => {
    const both = (serverMs: number, clientMs: number) =>
      talk(frame('server', text, 'hi', serverMs), frame('client', text, 'ho', clientMs)).greeting?.text ??
      null;
    expect([both(1, 2), both(2, 2), both(3, 2)]).toEqual(['hi', null, null]);
    expect(talk(frame('server', text, 'hi')).greeting?.text).toBe('hi');
  });

  it.each([
    ['0{"sid":"a"}', true],
    ['x0{"sid":"a"}', false],
    ['o', true],
    ['ok', false],
    ['{"type":"welcome"}', true],
    ['[{"type":"welcome"}]', false],
    ['{"server_id":1}', true],
    ['[{"server_id":1}]', false],
    ['{"a":1,"op":10}', true],
    ['[{"op":10}]', false],
    ['', false],
  ])('%s is of a known dialect: %s', (greeting, isKnown) => {
    expect(dialectOf(greeting) !== null).toBe(isKnown);
  });

  it('to a client of Pusher tells subscriptions and codes', () => {
    const event = (name: string, more: object = {}) =>
      frame('server', text, JSON.stringify({ event: name, ...more }));
    const subscribed = event('pusher_internal:subscription_succeeded', { channel: 'a', data: '{}' });
    expect(talk(event('x', { channel: 'b' }), subscribed).hasSubscribed('a')).toBe(true);
    expect(talk(subscribed).hasSubscribed('b')).toBe(false);
    expect(talk(event('pusher:error', { channel: 'a' })).hasSubscribed('a')).toBe(false);
    const codes = talk(
      event('pusher:error', { data: { code: 4001 } }),
      event('other', { data: { code: 4002 } }),
      frame('server', close, closing(4003)),
    ).pusherCodes;
    expect(codes).toEqual([4001, 4003]);
    expect(talk(event('pusher:error', { data: {} })).pusherCodes).toEqual([]);
    expect(
      talk(event('pusher:connection_established', { data: '{"socket_id":"1.2"}' })).greetingEvent?.event,
    ).toBe('pusher:connection_established');
    expect(talk().greetingEvent).toBeNull();
  });
});

describe('the end', () => {
  const end = (atMs: number): ConversationEvent => ({ type: 'end', from: 'server', atMs });

  it('has a close code, which may be on the wire or not', () => {
    const of = (code: number) => talk(frame('server', close, closing(code))).lawfulCloseCode;
    expect([of(1000), of(1005), of(999)]).toEqual([1000, null, null]);
    expect(talk().lawfulCloseCode).toBeNull();
    const two = talk(frame('server', close, closing(1001), 1), frame('server', close, closing(1002), 2));
    expect(two.closeCode).toBe(1001);
  });

  it('did not come while the handshake was taken', () => {
    expect(talk().isServed).toBe(true);
    expect(talk(end(1)).isServed).toBe(false);
    expect(answered(403).isServed).toBe(false);
  });

  it('is a refusal', () => {
    expect(answered(403).refusal).toBe(403);
    expect(talk().refusal).toBe('not refused');
    expect(talk(end(1)).refusal).toBe('101, then close code none');
    expect(talk(frame('server', close, closing(1008))).refusal).toBe('101, then close code 1008');
    expect(view({ handshake: { ...handshake, response: null } }).refusal).toBe('no answer');
  });

  it('was not asked for, unless the client had closed by then', () => {
    const closed = (atMs: number) => talk(frame('client', close, closing(1000), 5), end(atMs)).unaskedEnd;
    expect(closed(4)).toEqual({ atMs: 4, code: null });
    expect(closed(5)).toBeNull();
    expect(talk(end(5)).unaskedEnd).toEqual({ atMs: 5, code: null });
  });

  it('is told by what there was in place of it', () => {
    const waited = (forMs: number, atMs: number): ConversationEvent => ({
      type: 'waited',
      from: 'client',
      atMs,
      forMs,
      note: '',
    });
    expect(talk(waited(10, 1), waited(20.4, 2)).afterwards).toBe('an open connection after 20 ms');
    const answeredPing = (atMs: number) =>
      talk(waited(10, 5), frame('client', ping, 'a', atMs), frame('server', pong, 'a', atMs)).afterwards;
    expect(answeredPing(5)).toBe('a connection that goes on to answer a Ping');
    expect(answeredPing(4)).toBe('an open connection after 10 ms');
    expect(talk(frame('client', ping, 'a', 0), frame('server', pong, 'a', 0)).afterwards).toBe(
      'a connection that goes on to answer a Ping',
    );
    expect(talk(frame('client', ping, 'a', 6)).afterwards).toBe('an open connection');
    const last = talk(
      frame('client', ping, 'a', 6),
      frame('server', pong, 'a', 6),
      frame('client', ping, 'b', 7),
    );
    expect(last.afterwards).toBe('an open connection');
    expect(view({ failure: { kind: 'reset', message: 'it was reset' } }).afterwards).toBe('it was reset');
  });

  it('leaves Pings unanswered that no Pong follows', () => {
    const left = (...events: readonly ConversationEvent[]) => talk(...events).unansweredPings.length;
    expect(left(frame('client', ping, 'a', 2), frame('server', pong, 'a', 2))).toBe(0);
    expect(left(frame('client', ping, 'a', 2), frame('server', pong, 'a', 1))).toBe(1);
    expect(left(frame('client', ping, 'a', 2), frame('server', text, 'a', 3))).toBe(1);
    expect(left(frame('client', text, 'a', 2))).toBe(0);
    expect(talk(frame('server', text, 'a'), frame('server', ping, '', 2.4)).pingTimes).toEqual([2]);
  });
});

describe('permessage-deflate as agreed on (RFC 7692 §7.1)', () => {
  const agreed = (parameters: Readonly<Record<string, string | null>>, name = 'permessage-deflate') =>
    agreedInflation(
      [
        { name: 'other', parameters: new Map() },
        { name, parameters: new Map(Object.entries(parameters)) },
      ],
      'server',
    );
  /** Whether the second message is read that refers `gap` octets back. */
  const reads = (inflation: Inflation | null, gap: number) => {
    const deflation = new Deflation(true);
    const random = Array.from({ length: gap }, (_, at) => (at * 7_919 + ((at * at) % 251)) % 256);
    const first = Uint8Array.from(random);
    const [one, two] = [deflation.next(first), deflation.next(first.subarray(0, 64))];
    inflation?.next(one);
    return inflation?.next(two).octets?.length === 64;
  };

  it('is none without that extension', () => {
    expect(agreedInflation([], 'client')).toBeNull();
    expect(agreed({}, 'x-other')).toBeNull();
    expect(agreed({}, 'PerMessage-Deflate')).not.toBeNull();
  });

  it('refers to messages before, unless context is not taken over', () => {
    expect(reads(agreed({}), 128)).toBe(true);
    expect(reads(agreed({ server_no_context_takeover: null }), 128)).toBe(false);
    expect(reads(agreed({ client_no_context_takeover: null }), 128)).toBe(true);
  });

  it.each([
    ['8', 512, false],
    ['9', 400, true],
    ['10', 1_000, true],
    ['15', 1_000, true],
    ['16', 1_000, true],
    ['7', 1_000, true],
  ])('looks back by a window of %s bits: %i octets, %s', (bits, gap, isRead) => {
    expect(reads(agreed({ server_max_window_bits: bits }), gap)).toBe(isRead);
  });

  it('compresses alone, again and again, and to the end', () => {
    const octets = octetsOf('hello hello hello hello');
    const alone = new Deflation(false);
    expect(alone.next(octets)).toEqual(alone.next(octets));
    const together = new Deflation(true);
    const first = together.next(octets);
    expect(together.next(octets).length).toBeLessThan(first.length);
    const read = (payload: Uint8Array) => new Inflation(false).next(payload).octets;
    expect(read(first)).toEqual(octets);
    expect(read(deflatedToEnd(octets))).toEqual(octets);
    expect(read(deflatedRepeatedly(octets, 3))?.length).toBe(3 * octets.length);
    expect([...new Deflation(true).next(new Uint8Array())]).toEqual([0]);
    expect([...first.slice(-4)]).not.toEqual([0, 0, 255, 255]);
  });

  it('knows the beginning of a message, unless one before it was lost', () => {
    const payload = new Deflation(false).next(octetsOf('hello'));
    const kept = new Inflation(true);
    expect(Buffer.from(kept.begun(payload) ?? []).toString()).toBe('hello');
    expect(kept.begun(Uint8Array.of(255, 255))).toBeNull();
    kept.lose();
    expect(kept.begun(payload)).toBeNull();
    const alone = new Inflation(false);
    alone.lose();
    expect(alone.begun(payload)).not.toBeNull();
  });

  it('inflates a message to 4 MiB', () => {
    const zeros = (length: number) => new Inflation(true).next(deflatedRepeatedly(new Uint8Array(length), 1));
    expect(zeros(4 * 1024 * 1024).octets?.length).toBe(4 * 1024 * 1024);
    expect(zeros(4 * 1024 * 1024 + 1)).toEqual({ octets: null, fault: null });
  });
});
