import type { ConversationEvent, RecordedFrame } from '../conversation.ts';
import { decodeUtf8 } from '../octets/utf8.ts';

/** Opcodes of RFC 6455 §5.2. */
export const OPCODE = {
  continuation: 0x0,
  text: 0x1,
  binary: 0x2,
  close: 0x8,
  ping: 0x9,
  pong: 0xa,
} as const;

const NAMES = new Map<number, string>(Object.entries(OPCODE).map(([name, opcode]) => [opcode, name]));

/** RFC 7692 §6: RSV1 alone, on the first frame of a compressed message. */
export const COMPRESSED = 4;

/** The most octets of the payload of a control frame (RFC 6455 §5.5). */
export const LONGEST_CONTROL = 125;

/** `text`, `close` …; `reserved opcode 3` for those that are not defined. */
export function opcodeName(opcode: number): string {
  return NAMES.get(opcode) ?? `reserved opcode ${opcode}`;
}

/** §5.2: it is defined. */
function isDefined(opcode: number): boolean {
  return NAMES.has(opcode);
}

/** §5.5: the opcodes 8 to 15. */
export function isControl(opcode: number): boolean {
  return opcode >= 0x8;
}

/** The payload of a Close frame (§5.5.1). */
export interface ClosePayload {
  /** null when the payload is empty, or too short to hold one. */
  readonly code: number | null;
  /** '' when there is none; null when it is not UTF-8. */
  readonly reason: string | null;
}

/** Never throws: a payload of one octet has no code, which is a fault of the frame. */
export function readClosePayload(payload: Uint8Array): ClosePayload {
  if (payload.length < 2) return { code: null, reason: '' };
  return { code: ((payload[0] ?? 0) << 8) | (payload[1] ?? 0), reason: decodeUtf8(payload.subarray(2)) };
}

/** Meanings of the registered close codes (§7.4.1, IANA WebSocket Close Code Number Registry). */
const CLOSE_CODES: Readonly<Record<number, string>> = {
  1000: 'normal closure',
  1001: 'going away',
  1002: 'protocol error',
  1003: 'unsupported data',
  1004: 'reserved',
  1005: 'no status received',
  1006: 'abnormal closure',
  1007: 'invalid payload data',
  1008: 'policy violation',
  1009: 'message too big',
  1010: 'mandatory extension',
  1011: 'internal error',
  1012: 'service restart',
  1013: 'try again later',
  1014: 'bad gateway',
  1015: 'TLS handshake',
};

/** In words, by its range where it is not registered (§7.4.2). */
export function closeCodeMeaning(code: number): string {
  if (code >= 4000 && code <= 4999) return 'private use';
  if (code >= 3000 && code <= 3999) return 'registered by libraries';
  return CLOSE_CODES[code] ?? 'not assigned';
}

/** §7.4: may stand in a Close frame on the wire; 1004, 1005, 1006 and 1015 never may. */
export function mayBeSent(code: number): boolean {
  const isReserved = [1004, 1005, 1006, 1015].includes(code);
  return (code >= 1000 && code <= 1014 && !isReserved) || (code >= 3000 && code <= 4999);
}

/** A frame to put on the wire, however wrong: nothing is checked but that the numbers fit their bits. */
export interface FrameToSend {
  readonly opcode: number;
  /** True when left out. */
  readonly fin?: boolean;
  /** RSV1..RSV3 as a number 0..7 (RSV1 = 4). */
  readonly rsv?: number;
  readonly payload?: Uint8Array;
  /** Masking key, four octets; null for none. */
  readonly mask: Uint8Array | null;
  /** Octets to write the length in: 0 (7 bits), 2 or 8. The fewest that hold it when left out. */
  readonly lengthOctets?: 0 | 2 | 8;
  /** A length to announce in place of the payload's own. */
  readonly announcedLength?: bigint;
}

export const MASK_OCTETS = 4;
/** In place of a length (RFC 6455 §5.2): it follows in 2 octets, or in 8. */
export const LENGTH_16 = 126;
export const LENGTH_64 = 127;

export function encodeFrame(frame: FrameToSend): Uint8Array {
  const payload = frame.payload ?? new Uint8Array();
  const length = frame.announcedLength ?? BigInt(payload.length);
  const lengthOctets = frame.lengthOctets ?? fewestLengthOctets(length);
  const head = Buffer.alloc(2 + lengthOctets);
  head[0] = (frame.fin === false ? 0 : 0x80) | ((frame.rsv ?? 0) << 4) | frame.opcode;
  if (lengthOctets === 0) head[1] = Number(length);
  if (lengthOctets === 2) {
    head[1] = LENGTH_16;
    head.writeUInt16BE(Number(length), 2);
  }
  if (lengthOctets === 8) {
    head[1] = LENGTH_64;
    head.writeBigUInt64BE(length, 2);
  }
  if (frame.mask === null) return Buffer.concat([head, payload]);
  head[1] = (head[1] ?? 0) | 0x80;
  const masked = Buffer.from(payload);
  applyMask(masked, frame.mask, 0);
  return Buffer.concat([head, frame.mask, masked]);
}

function fewestLengthOctets(length: bigint): 0 | 2 | 8 {
  if (length < LENGTH_16) return 0;
  return length <= 0xffff ? 2 : 8;
}

/** RFC 6455 §5.3, in place; `offset` is the index in the payload of the first octet given. */
export function applyMask(octets: Uint8Array, mask: Uint8Array, offset: number): void {
  for (let index = 0; index < octets.length; index++) {
    octets[index] = (octets[index] ?? 0) ^ (mask[(offset + index) % MASK_OCTETS] ?? 0);
  }
}

/** The rules of RFC 6455 that a server's frames can break. */
export type FrameRule =
  /** §5.1: a server never masks. */
  | 'masking'
  /** §5.2 */
  | 'reserved-bits'
  | 'opcode'
  | 'length'
  /** §5.4 */
  | 'fragmentation'
  /** §5.5: at most 125 octets, in one piece. */
  | 'control'
  /** §5.5.1 */
  | 'close-payload'
  /** §7.4 */
  | 'close-code'
  /** §8.1 */
  | 'utf8'
  /** §5.5.1: no data follows a Close. */
  | 'after-close'
  /** RFC 7692 §7.2: compressed data that cannot be inflated. */
  | 'deflate'
  /** Octets that are no frame at all. */
  | 'octets';

export interface FrameFault {
  readonly rule: FrameRule;
  /** One line. */
  readonly message: string;
}

/** What each of a server's frames breaks by itself. `isCompressing`: permessage-deflate was agreed on. */
export function faultsOfFrames(
  frames: readonly RecordedFrame[],
  isCompressing: boolean,
): readonly FrameFault[] {
  return frames.flatMap((frame) => [
    ...frameFaults(frame, isCompressing),
    ...(frame.opcode === OPCODE.close ? closeFaults(frame) : []),
  ]);
}

/** §5.5.1: after a Close no more data frames; of Ping and Pong nothing is said. */
export function dataAfterClose(frames: readonly RecordedFrame[]): readonly FrameFault[] {
  const closed = frames.findIndex(({ opcode }) => opcode === OPCODE.close);
  const after = closed === -1 ? [] : frames.slice(closed + 1).filter(({ opcode }) => !isControl(opcode));
  return after.map(({ opcode }) => ({
    rule: 'after-close',
    message: `a ${opcodeName(opcode)} frame after the Close (§5.5.1)`,
  }));
}

/** Octets of the server that are no frame at all. */
export function strayOctets(events: readonly ConversationEvent[]): readonly FrameFault[] {
  return events.flatMap((event) =>
    event.type === 'octets' && event.from === 'server'
      ? [{ rule: 'octets', message: `${event.octets.length} octets that are no frame` }]
      : [],
  );
}

/** What a frame does that no frame of a server may do by itself (§5.1, §5.2, §5.5). */
function frameFaults(frame: RecordedFrame, compression: boolean): readonly FrameFault[] {
  const { fin, rsv, opcode, masked, length, lengthOctets } = frame;
  const mayCompress = compression && (opcode === OPCODE.text || opcode === OPCODE.binary);
  const shortest = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const rules: readonly (readonly [boolean, FrameRule, string])[] = [
    [masked, 'masking', 'that is masked (§5.1)'],
    [
      rsv !== 0 && !(mayCompress && rsv === COMPRESSED),
      'reserved-bits',
      `with reserved bits ${rsv.toString(2).padStart(3, '0')} set (§5.2)`,
    ],
    [!isDefined(opcode), 'opcode', 'with an opcode that is not defined (§5.2)'],
    [
      lengthOctets > shortest,
      'length',
      `with a length of ${length} in ${lengthOctets} octets, not the fewest (§5.2)`,
    ],
    [isControl(opcode) && !fin, 'control', 'in fragments (§5.5)'],
    [isControl(opcode) && length > LONGEST_CONTROL, 'control', `of ${length} octets (§5.5)`],
  ];
  return rules.flatMap(([broken, rule, what]) =>
    broken ? [{ rule, message: `a ${opcodeName(opcode)} frame ${what}` }] : [],
  );
}

function closeFaults({ payload, length, truncated }: RecordedFrame): readonly FrameFault[] {
  const { code, reason } = readClosePayload(payload);
  if (length === 1) {
    return [{ rule: 'close-payload', message: 'a close frame with a payload of one octet (§5.5.1)' }];
  }
  const faults: FrameFault[] = [];
  if (code !== null && !mayBeSent(code)) {
    faults.push({ rule: 'close-code', message: `a close frame with the code ${code} (§7.4)` });
  }
  if (reason === null && !truncated) {
    faults.push({ rule: 'close-payload', message: 'a close frame with a reason that is not UTF-8 (§5.5.1)' });
  }
  return faults;
}
