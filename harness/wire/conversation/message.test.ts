import { describe, expect, it } from 'vitest';
import type { RecordedFrame } from '../conversation.ts';
import { exampleFrame, octetsOf } from '../fixtures/example-evidence.ts';
import { OPCODE } from './frame.ts';
import { Deflation, Inflation } from './inflation.ts';
import { assemble, carriesTheSame, type Message, pairEchoes } from './message.ts';

const { continuation, text, binary, ping, close } = OPCODE;
const timed = (frames: readonly RecordedFrame[]) => frames.map((frame, index) => ({ atMs: index, frame }));
const read = (...frames: readonly RecordedFrame[]) => assemble(timed(frames));
const part = { fin: false };

describe('the messages of frames (RFC 6455 §5.4)', () => {
  it('are put together from their fragments, with control frames between', () => {
    const { messages, faults } = read(
      exampleFrame(text, 'a', part),
      exampleFrame(ping, 'x'),
      exampleFrame(continuation, 'b', part),
      exampleFrame(close, ''),
      exampleFrame(continuation, 'c', { heartbeat: true }),
      exampleFrame(binary, 'd', { digest: 'd1' }),
    );
    expect(faults).toEqual([]);
    expect(messages).toEqual([
      {
        atMs: 4,
        kind: 'text',
        length: 3,
        payload: octetsOf('abc'),
        text: 'abc',
        truncated: false,
        digest: null,
        frames: 3,
        isHeartbeat: true,
      },
      {
        atMs: 5,
        kind: 'binary',
        length: 1,
        payload: octetsOf('d'),
        text: null,
        truncated: false,
        digest: 'd1',
        frames: 1,
        isHeartbeat: false,
      },
    ]);
  });

  it.each<readonly [string, readonly RecordedFrame[], readonly string[], number]>([
    [
      'a continuation of nothing',
      [exampleFrame(continuation, 'a'), exampleFrame(text, 'b')],
      ['fragmentation: a continuation frame with nothing to continue (§5.4)'],
      1,
    ],
    [
      'a message within another',
      [exampleFrame(text, 'a', part), exampleFrame(binary, 'b')],
      ['fragmentation: binary frame within a fragmented message (§5.4)'],
      1,
    ],
    [
      'a continuation after the end',
      [exampleFrame(text, 'a', part), exampleFrame(continuation, 'b'), exampleFrame(continuation, 'c')],
      ['fragmentation: a continuation frame with nothing to continue (§5.4)'],
      1,
    ],
    [
      'text that is not UTF-8',
      [exampleFrame(text, Uint8Array.of(255))],
      ['utf8: a text message that is not UTF-8 (§8.1)'],
      1,
    ],
    ['text whose end was cut', [exampleFrame(text, Uint8Array.of(255), { truncated: true })], [], 1],
    ['binary octets', [exampleFrame(binary, Uint8Array.of(255))], [], 1],
    ['a message without an end', [exampleFrame(text, 'a', part)], [], 0],
    [
      'compressed text, where nothing was agreed on',
      [exampleFrame(text, Uint8Array.of(255), { rsv: 4 })],
      [],
      1,
    ],
  ])('%s', (_, frames, expected, count) => {
    const { messages, faults } = read(...frames);
    expect(faults.map(({ rule, message }) => `${rule}: ${message}`)).toEqual(expected);
    expect(messages).toHaveLength(count);
  });

  it('have the octets up to the first one that was cut', () => {
    const [message] = read(
      exampleFrame(text, 'ab', { ...part, length: 9, truncated: true }),
      exampleFrame(continuation, 'cd'),
    ).messages;
    expect(message).toMatchObject({ length: 11, payload: octetsOf('ab'), truncated: true });
    const [whole] = read(
      exampleFrame(text, 'ab', part),
      exampleFrame(continuation, 'c', { truncated: true }),
    ).messages;
    expect(whole?.payload).toEqual(octetsOf('abc'));
  });
});

describe('compressed messages (RFC 7692 §7.2.2)', () => {
  const compressed = (opcode: number, payload: Uint8Array, more: Partial<RecordedFrame> = {}) =>
    exampleFrame(opcode, payload, { rsv: 4, ...more });
  const inflated = (...frames: readonly RecordedFrame[]) => assemble(timed(frames), new Inflation(true));

  it('are read as they were before', () => {
    const deflation = new Deflation(true);
    const [one, two] = [deflation.next(octetsOf('hello hello')), deflation.next(octetsOf('hello hello'))];
    const { messages, faults } = inflated(
      compressed(text, one, { digest: 'x' }),
      exampleFrame(text, 'plain'),
      compressed(binary, two),
    );
    expect(faults).toEqual([]);
    expect(messages.map(({ text: said, length, digest }) => [said, length, digest])).toEqual([
      ['hello hello', 11, null],
      ['plain', 5, null],
      [null, 11, null],
    ]);
    expect(messages[2]?.payload).toEqual(octetsOf('hello hello'));
  });

  it('are not known after one that was cut, or cannot be inflated', () => {
    const next = new Deflation(false).next(octetsOf('a'));
    const cut = inflated(compressed(text, next, { truncated: true }), compressed(text, next));
    expect(cut.faults).toEqual([]);
    expect(cut.messages.map(({ truncated, text: said }) => [truncated, said])).toEqual([
      [true, null],
      [true, null],
    ]);
    const wrong = inflated(compressed(text, Uint8Array.of(255, 255)), compressed(text, next));
    expect(wrong.faults).toEqual([
      {
        rule: 'deflate',
        message: expect.stringMatching(
          /^a compressed message that cannot be inflated: .+ \(RFC 7692 §7\.2\)$/,
        ),
      },
    ]);
    expect(wrong.messages).toHaveLength(2);
  });
});

describe('two messages', () => {
  const message = (said: string, more: Partial<Message> = {}): Message => ({
    atMs: 0,
    kind: 'text',
    length: said.length,
    payload: octetsOf(said),
    text: said,
    truncated: false,
    digest: null,
    frames: 1,
    isHeartbeat: false,
    ...more,
  });

  it.each([
    ['the same octets', message('ab'), message('ab'), true],
    ['other octets', message('ab'), message('ac'), false],
    ['another length', message('ab'), message('abc'), false],
    ['octets of which some were recorded', message('ab', { length: 9 }), message('abc', { length: 9 }), true],
    [
      'octets of which others were recorded',
      message('ax', { length: 9 }),
      message('abc', { length: 9 }),
      false,
    ],
    ['one digest', message('ab', { digest: '1' }), message('xy', { digest: '1' }), true],
    ['two digests', message('ab', { digest: '1' }), message('ab', { digest: '2' }), false],
    ['a digest of one of them', message('ab', { digest: '1' }), message('ab'), true],
    ['a digest of the other', message('ab'), message('ac', { digest: '1' }), false],
  ])('carry %s', (_, one, other, isSame) => {
    expect(carriesTheSame(one, other)).toBe(isSame);
  });

  it('are paired in the order of what they echo', () => {
    const sent = [
      message('a', { atMs: 5 }),
      message('b', { atMs: 6 }),
      message('a', { atMs: 7 }),
      message('c', { atMs: 8 }),
    ];
    const back = [
      message('z', { atMs: 1 }),
      message('a', { atMs: 9 }),
      message('y', { atMs: 10 }),
      message('a', { atMs: 11 }),
    ];
    const echoes = pairEchoes(sent, back).map(({ back: echo, isSame }) => [echo?.atMs ?? null, isSame]);
    expect(echoes).toEqual([
      [9, true],
      // The next one that came, of those after it.
      [10, false],
      [11, true],
      [null, false],
    ]);
    expect(
      pairEchoes([message('a', { atMs: 5 })], [message('z', { atMs: 4 }), message('y', { atMs: 5 })]),
    ).toMatchObject([{ back: { atMs: 5 }, isSame: false }]);
  });
});
