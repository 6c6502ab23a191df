import { constants, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ConversationEvent, RecordedFrame } from '../conversation.ts';
import type { RecordedResponse } from '../exchange.ts';
import {
  exampleConversation,
  exampleFrame,
  exampleResponse,
  octetsOf,
} from '../fixtures/example-evidence.ts';
import { mayBeSent, OPCODE, readClosePayload } from './frame.ts';
import { viewConversation } from './view.ts';

const { continuation, text, binary, close, ping, pong } = OPCODE;

type Sent = readonly [from: 'client' | 'server', frame: RecordedFrame];

/** Frames as they came, one millisecond apart. */
const eventsOf = (...sent: readonly Sent[]) =>
  sent.map(([from, frame], atMs): ConversationEvent => ({ atMs, from, type: 'frame', frame }));
const viewOfEvents = (...events: readonly ConversationEvent[]) =>
  viewConversation(exampleConversation({ events }));
const exchanged = (...sent: readonly Sent[]) => viewOfEvents(...eventsOf(...sent));
/** Of what the server sends. */
const viewOf = (...frames: readonly RecordedFrame[]) =>
  exchanged(...frames.map((frame): Sent => ['server', frame]));
/** The handshake is answered with this, and the server goes on with these frames. */
function answered(answer: Partial<RecordedResponse> | null, ...frames: readonly RecordedFrame[]) {
  const response = answer && exampleResponse({ status: 101, ...answer });
  const handshake = { ...exampleConversation().handshake, response };
  const events = eventsOf(...frames.map((frame): Sent => ['server', frame]));
  return viewConversation(exampleConversation({ handshake, events }));
}
const closing = (code: number, reason = '') =>
  exampleFrame(close, new Uint8Array([code >> 8, code & 0xff, ...Buffer.from(reason)]));

describe('ConversationView', () => {
  it('reads the handshake', () => {
    const view = viewOf();
    expect(view).toMatchObject({ opened: true, acceptIsRight: true, isCompressing: false, status: 101 });
    const refused = answered({ status: 401 });
    expect([refused.opened, refused.acceptIsRight]).toEqual([false, false]);
    const silent = answered(null);
    expect([silent.opened, silent.handshake]).toEqual([false, null]);
  });

  it('puts messages together, control frames in between', () => {
    const view = viewOf(
      exampleFrame(text, 'h\u00c3', { payload: Uint8Array.of(0x68, 0xc3), length: 2, fin: false }),
      exampleFrame(ping, 'p'),
      exampleFrame(continuation, Uint8Array.of(0xa9)),
      exampleFrame(binary, Uint8Array.of(1)),
      exampleFrame(pong, 'x'),
    );
    const plain = { truncated: false, digest: null, isHeartbeat: false };
    expect(view.messages).toEqual([
      { ...plain, atMs: 2, kind: 'text', length: 3, payload: octetsOf('hé'), text: 'hé', frames: 2 },
      { ...plain, atMs: 3, kind: 'binary', length: 1, payload: Uint8Array.of(1), text: null, frames: 1 },
    ]);
    expect(view.pongs).toEqual([octetsOf('x')]);
    expect(view.faults).toEqual([]);
  });

  it('reads how it ended', () => {
    const view = viewOfEvents(
      { atMs: 1, from: 'client', type: 'frame', frame: closing(1000) },
      { atMs: 2, from: 'server', type: 'frame', frame: closing(1002, 'no') },
      { atMs: 3, from: 'client', type: 'end' },
      { atMs: 4, from: 'server', type: 'reset' },
    );
    expect(view.clientClose).toEqual({ atMs: 1, code: 1000, reason: '', length: 2 });
    expect(view.serverClose).toEqual({ atMs: 2, code: 1002, reason: 'no', length: 4 });
    expect(view.ended).toEqual({ atMs: 4, how: 'reset' });
    expect(viewOf().ended).toBeNull();
    expect(viewOf().serverClose).toBeNull();
  });

  it.each([
    [[exampleFrame(text, 'x', { masked: true })], 'a text frame that is masked'],
    [[exampleFrame(text, 'x', { rsv: 4 })], 'text frame with reserved bits 100 set'],
    [[exampleFrame(3, 'x')], 'reserved opcode 3 frame with an opcode that is not defined'],
    [[exampleFrame(text, 'x', { lengthOctets: 2 })], 'with a length of 1 in 2 octets'],
    [[exampleFrame(binary, 'x'.repeat(126), { lengthOctets: 8 })], 'with a length of 126 in 8 octets'],
    [[exampleFrame(ping, 'x', { fin: false })], 'a ping frame in fragments'],
    [[exampleFrame(pong, 'x'.repeat(126))], 'a pong frame of 126 octets'],
    [[exampleFrame(continuation, 'x')], 'a continuation frame with nothing to continue'],
    [
      [exampleFrame(text, 'x', { fin: false }), exampleFrame(text, 'y')],
      'text frame within a fragmented message',
    ],
    [[exampleFrame(text, Uint8Array.of(0xff))], 'text message that is not UTF-8'],
    [[exampleFrame(close, 'x')], 'close frame with a payload of one octet'],
    [[closing(1005)], 'close frame with the code 1005'],
    [[exampleFrame(close, Uint8Array.of(3, 232, 0xff))], 'close frame with a reason that is not UTF-8'],
  ])('finds the fault in %#', (frames, fault) => {
    const { faults } = viewOf(...frames);
    expect(faults).toHaveLength(1);
    expect(faults[0]?.message).toContain(fault);
  });

  it('does not judge text of which only a part was recorded', () => {
    const cut = exampleFrame(text, Uint8Array.of(0xff), { truncated: true, length: 9000, lengthOctets: 2 });
    expect(viewOf(cut).faults).toEqual([]);
  });

  it('allows RSV1 once permessage-deflate is selected', () => {
    const selected = 'permessage-deflate; client_no_context_takeover';
    const received = (...frames: readonly RecordedFrame[]) =>
      answered({ fields: [['Sec-WebSocket-Extensions', selected]] }, ...frames);
    const parts = ['conform conform', 'conform conform, again'];
    const [first, second] = parts.map((each, index) => {
      const whole = deflateRawSync(each, {
        finishFlush: constants.Z_SYNC_FLUSH,
        ...(index > 0 && { dictionary: Buffer.from(parts[0] ?? '') }),
      });
      return exampleFrame(text, whole.subarray(0, -4), { rsv: 4 });
    });
    if (!first || !second) throw new Error('expected two frames');
    const view = received(first, second);
    expect(view.isCompressing).toBe(true);
    expect(view.faults).toEqual([]);
    expect(view.messages.map((each) => each.text)).toEqual(['conform conform', 'conform conform, again']);
    expect(received(second).faultOf('deflate')).toMatch(/cannot be inflated: invalid distance/);
    expect(received(exampleFrame(text, Uint8Array.of(0xff), { rsv: 4 })).faultOf('deflate')).toMatch(
      /invalid block type/,
    );
  });

  it('does not judge what follows a compressed message that was not recorded whole', () => {
    const cut = exampleFrame(text, Uint8Array.of(0x4a), { rsv: 4, truncated: true });
    const garbage = exampleFrame(text, Uint8Array.of(0xff), { rsv: 4 });
    const view = answered({ fields: [['Sec-WebSocket-Extensions', 'permessage-deflate']] }, cut, garbage);
    expect(view.faults).toEqual([]);
  });

  it('sees frames behind the Close', () => {
    const view = viewOf(closing(1000), exampleFrame(text, 'a'));
    expect(view.faultOf('after-close')).toBe('a text frame after the Close (§5.5.1)');
  });

  it('finds octets that are no frame', () => {
    const octets = octetsOf('HTTP');
    const view = viewOfEvents({ atMs: 1, from: 'server', type: 'octets', octets, note: 'garbage' });
    expect(view.faults).toEqual([{ rule: 'octets', message: '4 octets that are no frame' }]);
  });
});

describe('the answer to a handshake', () => {
  it('tells what was selected', () => {
    const view = answered({
      fields: [
        ['Sec-WebSocket-Protocol', 'chat'],
        ['Sec-WebSocket-Extensions', 'permessage-deflate; server_max_window_bits=10'],
      ],
    });
    expect(view.subprotocol).toBe('chat');
    expect(view.extensions.extensions.map(({ name }) => name)).toEqual(['permessage-deflate']);
    expect(answered({ fields: [] }).subprotocol).toBeNull();
  });

  it.each([
    [['Via', '1.1 proxy'], 'Via: 1.1 proxy'],
    [['Server', 'nginx/1.22.1'], 'Server: nginx/1.22.1'],
    [['Server', 'nginxious'], null],
    [['Server', 'Kestrel'], null],
  ] as const)('tells of a server in front: %j', (field, intermediary) => {
    expect(answered({ fields: [field] }).intermediary).toBe(intermediary);
  });
});

describe('echoes', () => {
  const [hello, other] = [exampleFrame(text, 'hello'), exampleFrame(text, 'other')];

  it('are paired in order, whatever comes in between', () => {
    const view = exchanged(
      ['server', exampleFrame(text, 'welcome')],
      ['client', hello],
      ['server', other],
      ['server', hello],
      ['client', exampleFrame(binary, 'x')],
      ['server', exampleFrame(text, 'x')],
    );
    expect(view.echoes.map(({ back, isSame }) => [back?.kind, back?.text, isSame])).toEqual([
      ['text', 'hello', true],
      ['text', 'x', true],
    ]);
    expect(view.greeting?.text).toBe('welcome');
  });

  it('show what came instead, or that nothing did', () => {
    const altered = exchanged(
      ['server', exampleFrame(text, 'welcome')],
      ['client', hello],
      ['server', other],
    );
    expect(altered.echoes.map(({ back, isSame }) => [back?.text, isSame])).toEqual([['other', false]]);
    expect(exchanged(['client', hello]).echoes.map(({ back }) => back)).toEqual([null]);
    expect(exchanged(['client', hello], ['server', hello]).greeting).toBeNull();
  });

  it('are told by their digest where they were not recorded whole', () => {
    const long = (digest: string) =>
      exampleFrame(binary, 'beginning', { length: 70_000, lengthOctets: 8, truncated: true, digest });
    const same = exchanged(['client', long('aa')], ['server', long('aa')]);
    const changed = exchanged(['client', long('aa')], ['server', long('bb')]);
    expect([same, changed].map(({ echoes }) => echoes[0]?.isSame)).toEqual([true, false]);
  });
});

describe('pings', () => {
  it('are answered by a later Pong with the same payload', () => {
    const view = exchanged(
      ['server', exampleFrame(pong, 'b')],
      ['client', exampleFrame(ping, 'a')],
      ['client', exampleFrame(ping, 'b')],
      ['server', exampleFrame(pong, 'a')],
    );
    expect(view.unansweredPings.map(({ frame }) => Buffer.from(frame.payload).toString())).toEqual(['b']);
  });
});

describe('the end', () => {
  const bad = exampleFrame(3, 'x');
  const waited = { atMs: 5, from: 'client', type: 'waited', forMs: 5000, note: 'for the end' } as const;
  const upon = (...events: readonly ConversationEvent[]) =>
    viewOfEvents({ atMs: 0, from: 'client', type: 'frame', frame: bad }, ...events);

  it('is a Close frame of the server, or the end of TCP', () => {
    const closed = upon({ atMs: 1, from: 'server', type: 'frame', frame: closing(1002, 'no') });
    expect(closed).toMatchObject({ isOver: true, closeCode: 1002, refusal: '101, then close code 1002' });
    const reset = upon({ atMs: 1, from: 'server', type: 'reset' });
    expect([reset.isOver, reset.closeCode, reset.ended?.how]).toEqual([true, null, 'reset']);
    const ours = upon({ atMs: 1, from: 'client', type: 'end' });
    expect([ours.isOver, ours.ended, ours.unaskedEnd]).toEqual([false, null, null]);
  });

  it('is missed in words', () => {
    const [asked, answered] = [exampleFrame(ping, 'there?'), exampleFrame(pong, 'there?')];
    const alive = upon(
      waited,
      { atMs: 6, from: 'client', type: 'frame', frame: asked },
      { atMs: 7, from: 'server', type: 'frame', frame: answered },
    );
    expect(alive.afterwards).toBe('a connection that goes on to answer a Ping');
    expect(upon(waited).afterwards).toBe('an open connection after 5000 ms');
    // A Ping that was answered before the wait says nothing of what came after it.
    const before = upon(
      { atMs: 1, from: 'client', type: 'frame', frame: asked },
      { atMs: 2, from: 'server', type: 'frame', frame: answered },
      waited,
    );
    expect(before.afterwards).toBe('an open connection after 5000 ms');
  });
});

describe('faults', () => {
  it('are told by the rule that they break', () => {
    const view = viewOf(exampleFrame(text, 'x', { masked: true }), closing(1006));
    expect(view.faultOf('masking')).toContain('masked');
    expect(view.faultOf('close-code')).toContain('1006');
    expect(view.faultOf('length', 'utf8')).toBeNull();
  });
});

describe('close payloads', () => {
  it('have a code and a reason, or neither', () => {
    expect(readClosePayload(new Uint8Array())).toEqual({ code: null, reason: '' });
    expect(readClosePayload(Uint8Array.of(3))).toEqual({ code: null, reason: '' });
    expect(readClosePayload(Uint8Array.of(0x0f, 0xa0, 0x61))).toEqual({ code: 4000, reason: 'a' });
    expect(readClosePayload(Uint8Array.of(3, 232, 0xff))).toEqual({ code: 1000, reason: null });
  });

  it.each([1000, 1003, 1011, 1014, 3000, 4999])('the code %i may be sent', (code) => {
    expect(mayBeSent(code)).toBe(true);
  });

  it.each([999, 1004, 1005, 1006, 1015, 1016, 2999, 5000])('the code %i may not be sent', (code) => {
    expect(mayBeSent(code)).toBe(false);
  });
});
