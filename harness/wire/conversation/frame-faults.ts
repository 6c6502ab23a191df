import type { ConversationEvent, RecordedFrame } from '../conversation.ts';
import {
  COMPRESSED,
  isControl,
  isDefined,
  LONGEST_CONTROL,
  mayBeSent,
  OPCODE,
  opcodeName,
  readClosePayload,
} from './frame.ts';

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
