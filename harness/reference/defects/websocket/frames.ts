import { isUtf8 } from 'node:buffer';
import { type Defect, REALTIME, tableOf } from '../../behavior/deviation.ts';
import { eachInbound, eachOutbound, onInbound, onOutbound, upon } from '../../behavior/patches/frames.ts';
import { inWebSocket } from '../../behavior/patches/parts.ts';
import { type Patch, together } from '../../behavior/patches/patch.ts';
import { onOpen } from '../../behavior/patches/websocket.ts';
import { type Frame, frameOf, isControl, isData, OPCODE, withPayload } from '../../websocket/frame.ts';
import type { GateRule } from '../../websocket/gate.ts';

/** Takes frames for others that are out of place: continuations of nothing, beginnings before the last end. */
const misplaced =
  (kind: 'continuation' | 'beginning', change: (frame: Frame) => Frame): GateRule =>
  () => {
    let open = false;
    return (frame) => {
      if (isControl(frame)) return [frame];
      const isContinuation = frame.opcode === OPCODE.continuation;
      const isMisplaced = kind === 'continuation' ? isContinuation && !open : !isContinuation && open;
      open = !frame.fin;
      return [isMisplaced ? change(frame) : frame];
    };
  };

/** Pings wait for the end of the message that they come within. */
const holdingPings: GateRule = () => {
  let open = false;
  let held: Frame[] = [];
  return (frame) => {
    if (frame.opcode === OPCODE.ping && open) {
      held.push(frame);
      return [];
    }
    if (isControl(frame)) return [frame];
    open = !frame.fin;
    if (open) return [frame];
    const released = held;
    held = [];
    return [frame, ...released];
  };
};

/** What follows the beginning of a character in another fragment is taken for the rest of it. */
const completingCharacters: GateRule = () => {
  let isWithin = false;
  return (frame) => {
    if (!isData(frame)) return [frame];
    const isRest = frame.opcode === OPCODE.continuation && isWithin && (frame.payload[0] ?? 0x80) < 0x80;
    isWithin = !frame.fin && (frame.payload.at(-1) ?? 0) >= 0x80;
    return [isRest ? withPayload(frame, EURO_REST) : frame];
  };
};

/** The last octet of U+20AC, which begins with E2 82 (RFC 3629 §3). */
const EURO_REST = Buffer.of(0xac);

/** Takes a faulty frame for one with another fault, which has another close code. */
const mistaking = (concerns: (frame: Frame) => boolean, forFault: (frame: Frame) => Frame): Patch =>
  eachInbound((frame) => (concerns(frame) ? forFault(frame) : frame));

const notUtf8 = (frame: Frame): Frame =>
  withPayload({ ...frame, opcode: OPCODE.text, fin: true, rsv: 0 }, Buffer.of(0xff));
const ofUnknownOpcode = (frame: Frame): Frame => ({ ...frame, opcode: 3 });

function isUtf8Text({ opcode, fin, payload }: Frame): boolean {
  return opcode !== OPCODE.text || !fin || isUtf8(payload);
}

/** Sends a further frame behind each Pong. */
const behindPongs =
  (further: Frame): GateRule =>
  () =>
  (frame) =>
    frame.opcode === OPCODE.pong ? [frame, further] : [frame];

export const WEBSOCKET_FRAME_DEFECTS = tableOf<Defect>(REALTIME, {
  'ws-masks-frames': {
    cause: 'The service masks the frames that it sends',
    fails: ['websocket.server-unmasked'],
    patch: eachOutbound((frame) => ({ ...frame, masked: true })),
  },
  'ws-accepts-unmasked': {
    cause: 'An unmasked frame of a client is accepted',
    fails: ['websocket.unmasked'],
    patch: eachInbound((frame) => ({ ...frame, masked: true })),
  },
  'ws-ignores-rsv': {
    cause: 'A frame with a reserved bit is accepted',
    fails: [
      'websocket.reserved-bits',
      'websocket.reserved-bit-on-ping',
      'websocket.reserved-bit-on-continuation',
    ],
    patch: eachInbound((frame) => ({ ...frame, rsv: 0 })),
  },
  'ws-ignores-rsv-on-continuation': {
    cause: 'A reserved bit on a later fragment is ignored',
    fails: ['websocket.reserved-bit-on-continuation'],
    patch: eachInbound(
      upon(OPCODE.continuation, (frame) => (frame.rsv === 2 ? { ...frame, rsv: 0 } : frame)),
    ),
  },
  'ws-accepts-empty-fragmented-ping': {
    cause: 'A Ping in fragments is accepted if it is empty',
    fails: ['websocket.fragmented-ping'],
    patch: eachInbound(
      upon(OPCODE.ping, (frame) => (frame.payload.length === 0 ? { ...frame, fin: true } : frame)),
    ),
  },
  'ws-accepts-reserved-opcode': {
    cause: 'A frame with a reserved opcode is accepted',
    fails: ['websocket.reserved-data-opcode', 'websocket.reserved-control-opcode'],
    patch: eachInbound((frame) => ([0, 1, 2, 8, 9, 10].includes(frame.opcode) ? frame : null)),
  },
  'ws-accepts-fragmented-ping': {
    cause: 'A fragmented Ping is accepted',
    fails: ['websocket.fragmented-ping', 'websocket.fragmented-pong'],
    patch: eachInbound((frame) => (isControl(frame) ? { ...frame, fin: true } : frame)),
  },
  'ws-accepts-fragmented-pong': {
    cause: 'A fragmented Pong is accepted',
    fails: ['websocket.fragmented-pong'],
    patch: eachInbound(upon(OPCODE.pong, (frame) => ({ ...frame, fin: true }))),
  },
  'ws-accepts-long-ping': {
    cause: 'A Ping of more than 125 bytes is accepted',
    fails: ['websocket.overlong-ping'],
    patch: eachInbound((frame) =>
      isControl(frame) && frame.payload.length > 125
        ? withPayload(frame, frame.payload.subarray(0, 125))
        : frame,
    ),
  },
  'ws-accepts-stray-continuation': {
    cause: 'A continuation frame that continues nothing is accepted',
    fails: ['websocket.stray-continuation'],
    patch: onInbound(misplaced('continuation', (frame) => ({ ...frame, opcode: OPCODE.text }))),
  },
  'ws-accepts-interleaved-messages': {
    cause: 'A new message within another one is accepted',
    fails: ['websocket.interleaved-message'],
    patch: onInbound(misplaced('beginning', (frame) => ({ ...frame, opcode: OPCODE.continuation }))),
  },
  'ws-accepts-bad-utf8': {
    cause: 'Text that is not UTF-8 is accepted',
    fails: ['websocket.bad-utf8', 'websocket.bad-utf8-in-fragments'],
    alsoFails: {
      'websocket.bad-close-reason': 'the reason of a Close is not looked at either',
      'websocket.deflate-bad-utf8': 'compressed text is not looked at either',
    },
    patch: inWebSocket(() => ({ utf8Demanded: false })),
  },
  'ws-checks-utf8-frame-by-frame': {
    cause: 'Text in fragments that is not UTF-8 is accepted',
    fails: ['websocket.bad-utf8-in-fragments'],
    patch: onInbound(completingCharacters),
  },
  'ws-wrong-code-for-opcode': {
    // RFC 6455 §7.4.1
    cause: 'A reserved opcode is answered with the wrong close code',
    fails: ['websocket.reserved-opcode-code'],
    patch: mistaking(({ opcode }) => /^[3-7b-f]$/.test(opcode.toString(16)), notUtf8),
  },
  'ws-wrong-code-for-control-frame': {
    // RFC 6455 §7.4.1
    cause: 'A control frame that is too long is answered with the wrong close code',
    fails: ['websocket.control-frame-code'],
    patch: mistaking(
      (frame) => frame.opcode === OPCODE.ping && (!frame.fin || frame.payload.length > 125),
      notUtf8,
    ),
  },
  'ws-wrong-code-for-fragment': {
    // RFC 6455 §7.4.1
    cause: 'A fragment that continues nothing is answered with the wrong close code',
    fails: ['websocket.fragmentation-code'],
    patch: onInbound(misplaced('continuation', notUtf8)),
  },
  'ws-wrong-code-for-bad-utf8': {
    // RFC 6455 §7.4.1
    cause: 'Text that is not UTF-8 is answered with the wrong close code',
    fails: ['websocket.bad-utf8-code'],
    patch: mistaking((frame) => !isUtf8Text(frame), ofUnknownOpcode),
  },
  'ws-wrong-pong': {
    cause: 'The Pong does not carry what the Ping carried',
    fails: ['websocket.ping'],
    patch: eachOutbound(upon(OPCODE.pong, (frame) => withPayload(frame, Buffer.from('pong')))),
  },
  'ws-no-pong': {
    cause: 'A Ping is never answered',
    fails: ['websocket.ping'],
    patch: eachOutbound(upon(OPCODE.pong, () => null)),
  },
  'ws-nonminimal-length': {
    cause: 'The service encodes short lengths in too many bytes',
    fails: ['websocket.server-lengths'],
    patch: eachOutbound((frame) =>
      frame.lengthOctets === 0 && isData(frame) ? { ...frame, lengthOctets: 2 } : frame,
    ),
  },
  'ws-holds-pings-in-messages': {
    cause: 'A Ping between the fragments of a message is not answered',
    fails: ['websocket.ping-between-fragments'],
    patch: onInbound(holdingPings),
  },
  'ws-refuses-unsolicited-pong': {
    cause: 'A Pong that nobody asked for ends the connection',
    fails: ['websocket.unsolicited-pong'],
    alsoFails: { 'websocket.echo-around-pong': 'that Pong is not asked for either' },
    patch: eachInbound(upon(OPCODE.pong, (frame) => ({ ...frame, opcode: 11 }))),
  },
  'ws-sets-reserved-bits': {
    cause: 'The service sets reserved bits in its frames',
    fails: ['websocket.server-reserved'],
    patch: eachOutbound((frame) => (frame.opcode === OPCODE.close ? frame : { ...frame, rsv: 1 })),
  },
  'ws-sends-overlong-close': {
    cause: 'The Close frame of the service is longer than 125 bytes',
    fails: ['websocket.server-control-frames'],
    patch: eachOutbound((frame) =>
      frame.opcode === OPCODE.close && frame.payload.length >= 2
        ? withPayload(frame, Buffer.concat([frame.payload.subarray(0, 2), Buffer.alloc(140, 'why ')]))
        : frame,
    ),
  },
  'ws-sends-overlong-ping': {
    cause: 'The Ping of the service is longer than 125 bytes',
    fails: ['websocket.server-control-frames'],
    changes: ['websocket.heartbeat'],
    patch: together(
      onOpen((socket) => socket.ping('are you there?')),
      eachOutbound(upon(OPCODE.ping, (frame) => withPayload(frame, Buffer.alloc(126, '?')))),
    ),
  },
  'ws-sends-stray-fragments': {
    cause: 'The service sends continuation frames that continue nothing',
    fails: ['websocket.server-fragments'],
    patch: onOutbound(behindPongs(frameOf(OPCODE.continuation, Buffer.from('rest')))),
  },
  'ws-sends-bad-utf8': {
    cause: 'The service sends text that is not UTF-8',
    fails: ['websocket.server-utf8'],
    patch: onOutbound(behindPongs(frameOf(OPCODE.text, Buffer.from([0xff])))),
  },
  'ws-loses-ping-burst': {
    cause: 'Of several Pings at once the last is not answered',
    fails: ['websocket.ping-burst'],
    patch: onInbound(() => {
      let seen = 0;
      return (frame) => {
        if (frame.opcode !== OPCODE.ping) return [frame];
        seen += 1;
        // An ordinary client pings three times in a connection.
        return seen > 3 ? [] : [frame];
      };
    }),
  },
});
