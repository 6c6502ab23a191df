import { describe, expect, it } from 'vitest';
import type { RecordedFrame } from '../conversation.ts';
import { exampleFrame } from '../fixtures/example-evidence.ts';
import {
  applyMask,
  closeCodeMeaning,
  dataAfterClose,
  encodeFrame,
  faultsOfFrames,
  isControl,
  mayBeSent,
  OPCODE,
  opcodeName,
  readClosePayload,
  strayOctets,
} from './frame.ts';

const { continuation, text, binary, close, ping, pong } = OPCODE;

describe('an opcode (RFC 6455 §5.2)', () => {
  it.each([
    [0, 'continuation', false],
    [1, 'text', false],
    [2, 'binary', false],
    [3, 'reserved opcode 3', false],
    [7, 'reserved opcode 7', false],
    [8, 'close', true],
    [9, 'ping', true],
    [10, 'pong', true],
    [11, 'reserved opcode 11', true],
  ])('%i is %s; of a control frame: %s', (opcode, name, isOfControl) => {
    expect([opcodeName(opcode), isControl(opcode)]).toEqual([name, isOfControl]);
  });
});

describe('a close code (RFC 6455 §7.4)', () => {
  it.each([
    [0, 'not assigned', false],
    [999, 'not assigned', false],
    [1000, 'normal closure', true],
    [1003, 'unsupported data', true],
    [1004, 'reserved', false],
    [1005, 'no status received', false],
    [1006, 'abnormal closure', false],
    [1007, 'invalid payload data', true],
    [1014, 'bad gateway', true],
    [1015, 'TLS handshake', false],
    [1016, 'not assigned', false],
    [2999, 'not assigned', false],
    [3000, 'registered by libraries', true],
    [3999, 'registered by libraries', true],
    [4000, 'private use', true],
    [4999, 'private use', true],
    [5000, 'not assigned', false],
  ])('%i means %s; may be sent: %s', (code, meaning, may) => {
    expect([closeCodeMeaning(code), mayBeSent(code)]).toEqual([meaning, may]);
  });

  it.each([
    [[], null, ''],
    [[3], null, ''],
    [[3, 232], 1000, ''],
    [[3, 232, 0x68, 0x69], 1000, 'hi'],
    [[255, 254, 0xff], 65_534, null],
  ])('is read from %j', (octets, code, reason) => {
    expect(readClosePayload(Uint8Array.from(octets))).toEqual({ code, reason });
  });
});

describe('a frame on the wire (RFC 6455 §5.2)', () => {
  const head = (frame: Partial<Parameters<typeof encodeFrame>[0]>) =>
    [...encodeFrame({ opcode: text, mask: null, ...frame })].slice(0, 10);
  const of = (length: number) => ({ payload: new Uint8Array(length) });

  it.each([
    ['empty', {}, [0x81, 0]],
    ['a fragment', { fin: false }, [0x01, 0]],
    ['with reserved bits', { rsv: 5 }, [0xd1, 0]],
    ['of 125 octets', of(125), [0x81, 125, 0]],
    ['of 126 octets', of(126), [0x81, 126, 0, 126, 0]],
    ['of 65535 octets', of(65_535), [0x81, 126, 255, 255, 0]],
    ['of 65536 octets', of(65_536), [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
    ['with a length in more octets', { lengthOctets: 2 as const }, [0x81, 126, 0, 0]],
    ['with an announced length', { announcedLength: 7n }, [0x81, 7]],
    [
      'with a mask',
      { mask: Uint8Array.of(1, 2, 3, 4), payload: Uint8Array.of(9, 9, 9, 9, 9) },
      [0x81, 0x85, 1, 2, 3, 4, 8, 11, 10, 13],
    ],
    [
      'with a mask and a length of two octets',
      { ...of(126), mask: Uint8Array.of(1, 2, 3, 4) },
      [0x81, 254, 0, 126, 1, 2, 3, 4, 1, 2],
    ],
  ])('%s', (_, frame, octets) => {
    expect(head(frame).slice(0, octets.length)).toEqual(octets);
  });

  it('is unmasked by the same mask, from any octet on', () => {
    const mask = Uint8Array.of(1, 2, 3, 4);
    const octets = Uint8Array.of(0, 0, 0, 0, 0);
    applyMask(octets, mask, 3);
    expect([...octets]).toEqual([4, 1, 2, 3, 4]);
  });
});

describe('the faults of a frame of a server', () => {
  const faults = (frame: RecordedFrame, isCompressing = false) =>
    faultsOfFrames([frame], isCompressing).map(({ rule, message }) => `${rule}: ${message}`);

  it.each<readonly [string, RecordedFrame, readonly string[]]>([
    ['none', exampleFrame(text, 'a'), []],
    ['a mask', exampleFrame(text, 'a', { masked: true }), ['masking: a text frame that is masked (§5.1)']],
    [
      'reserved bits',
      exampleFrame(binary, 'a', { rsv: 1 }),
      ['reserved-bits: a binary frame with reserved bits 001 set (§5.2)'],
    ],
    [
      'compression that was not agreed on',
      exampleFrame(text, 'a', { rsv: 4 }),
      ['reserved-bits: a text frame with reserved bits 100 set (§5.2)'],
    ],
    [
      'an opcode',
      exampleFrame(3, 'a'),
      ['opcode: a reserved opcode 3 frame with an opcode that is not defined (§5.2)'],
    ],
    [
      'two octets for 125',
      exampleFrame(text, 'a', { length: 125, lengthOctets: 2 }),
      ['length: a text frame with a length of 125 in 2 octets, not the fewest (§5.2)'],
    ],
    ['two octets for 126', exampleFrame(text, 'a', { length: 126, lengthOctets: 2 }), []],
    [
      'eight octets for 65535',
      exampleFrame(text, 'a', { length: 65_535, lengthOctets: 8 }),
      ['length: a text frame with a length of 65535 in 8 octets, not the fewest (§5.2)'],
    ],
    ['eight octets for 65536', exampleFrame(text, 'a', { length: 65_536, lengthOctets: 8 }), []],
    [
      'a control frame in fragments',
      exampleFrame(ping, '', { fin: false }),
      ['control: a ping frame in fragments (§5.5)'],
    ],
    ['a text in fragments', exampleFrame(text, '', { fin: false }), []],
    ['a control frame of 125 octets', exampleFrame(pong, 'x'.repeat(125)), []],
    [
      'a control frame of 126 octets',
      exampleFrame(pong, 'x'.repeat(126)),
      ['control: a pong frame of 126 octets (§5.5)'],
    ],
    ['a text of 126 octets', exampleFrame(text, 'x'.repeat(126)), []],
    [
      'a Close of one octet',
      exampleFrame(close, 'x'),
      ['close-payload: a close frame with a payload of one octet (§5.5.1)'],
    ],
    ['an empty Close', exampleFrame(close, ''), []],
    ['a Close with a code', exampleFrame(close, Uint8Array.of(3, 232)), []],
    [
      'a Close with a code that may not be sent',
      exampleFrame(close, Uint8Array.of(3, 237)),
      ['close-code: a close frame with the code 1005 (§7.4)'],
    ],
    [
      'a Close with a reason that is not UTF-8',
      exampleFrame(close, Uint8Array.of(3, 232, 255)),
      ['close-payload: a close frame with a reason that is not UTF-8 (§5.5.1)'],
    ],
    [
      'a Close whose reason was cut',
      exampleFrame(close, Uint8Array.of(3, 232, 255), { truncated: true }),
      [],
    ],
    ['a text that looks like a wrong Close', exampleFrame(text, 'x', { length: 1 }), []],
  ])('%s', (_, frame, expected) => {
    expect(faults(frame)).toEqual(expected);
  });

  it.each([
    [text, 4, true],
    [binary, 4, true],
    [continuation, 4, false],
    [ping, 4, false],
    [text, 5, false],
    [text, 1, false],
  ])(
    'where messages may be compressed: opcode %i with reserved bits %i, lawful: %s',
    (opcode, rsv, isLawful) => {
      expect(faults(exampleFrame(opcode, 'a', { rsv }), true)).toHaveLength(isLawful ? 0 : 1);
    },
  );

  it('are data after a Close', () => {
    const [closing, data, answer] = [
      exampleFrame(close, ''),
      exampleFrame(text, 'a'),
      exampleFrame(pong, ''),
    ];
    expect(dataAfterClose([data, closing, answer])).toEqual([]);
    expect(dataAfterClose([data, data])).toEqual([]);
    expect(
      dataAfterClose([closing, data, closing, exampleFrame(binary, '')]).map(({ message }) => message),
    ).toEqual(['a text frame after the Close (§5.5.1)', 'a binary frame after the Close (§5.5.1)']);
  });

  it('are octets of the server that are no frame', () => {
    const octets = (from: 'client' | 'server') => ({
      type: 'octets' as const,
      from,
      atMs: 1,
      octets: new Uint8Array(3),
      note: '',
    });
    const frame = {
      type: 'frame' as const,
      from: 'server' as const,
      atMs: 1,
      frame: exampleFrame(text, 'a'),
    };
    expect(strayOctets([octets('client'), frame, octets('server')])).toEqual([
      { rule: 'octets', message: '3 octets that are no frame' },
    ]);
  });
});
