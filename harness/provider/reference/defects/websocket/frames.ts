import { type Defect, REALTIME, tableOf } from '../../conduct/deviation.ts';
import { each, inWebSocket, onInbound, onOutbound } from '../../conduct/websocket-patch.ts';
import { type Frame, frameOf, isControl, isData, OPCODE, withPayload } from '../../websocket/frame.ts';
import type { FrameRule } from '../../websocket/gate.ts';

/** Continuation frames without a beginning are taken for the beginning. */
const adoptingContinuations: FrameRule = () => {
  let open = false;
  return (frame) => {
    if (isControl(frame)) return [frame];
    const stray = frame.opcode === OPCODE.continuation && !open;
    open = !frame.fin;
    return [stray ? { ...frame, opcode: OPCODE.text } : frame];
  };
};

/** A message that begins before the last one has ended is taken for its continuation. */
const mergingInterleaved: FrameRule = () => {
  let open = false;
  return (frame) => {
    if (isControl(frame)) return [frame];
    const interleaved = frame.opcode !== OPCODE.continuation && open;
    open = !frame.fin;
    return [interleaved ? { ...frame, opcode: OPCODE.continuation } : frame];
  };
};

/** Pings wait for the end of the message that they come within. */
const holdingPings: FrameRule = () => {
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

/** Sends a further frame behind each Pong. */
const behindPongs =
  (further: Frame): FrameRule =>
  () =>
  (frame) =>
    frame.opcode === OPCODE.pong ? [frame, further] : [frame];

export const WEBSOCKET_FRAME_DEFECTS = tableOf<Defect>(REALTIME, {
  'ws-masks-frames': {
    summary: 'masks its frames (RFC 6455 §5.1)',
    breaks: 'frames of the service have the mask bit',
    trips: ['websocket.server-unmasked'],
    patch: onOutbound(each((frame) => ({ ...frame, masked: true }))),
  },
  'ws-accepts-unmasked': {
    summary: 'takes frames that are not masked (RFC 6455 §5.1)',
    breaks: 'the connection goes on after an unmasked frame',
    trips: ['websocket.unmasked'],
    patch: onInbound(each((frame) => ({ ...frame, masked: true }))),
  },
  'ws-ignores-rsv': {
    summary: 'overlooks reserved bits (RFC 6455 §5.2)',
    breaks: 'the connection goes on after a frame with a reserved bit',
    trips: ['websocket.reserved-bits', 'websocket.reserved-bit-on-ping'],
    patch: onInbound(each((frame) => ({ ...frame, rsv: 0 }))),
  },
  'ws-accepts-reserved-opcode': {
    summary: 'ignores frames with a reserved opcode (RFC 6455 §5.2)',
    breaks: 'the connection goes on after opcode 3 or 11',
    trips: ['websocket.reserved-data-opcode', 'websocket.reserved-control-opcode'],
    patch: onInbound(each((frame) => ([0, 1, 2, 8, 9, 10].includes(frame.opcode) ? frame : null))),
  },
  'ws-accepts-fragmented-ping': {
    summary: 'takes control frames in fragments (RFC 6455 §5.5)',
    breaks: 'the connection goes on after a Ping without FIN',
    trips: ['websocket.fragmented-ping'],
    patch: onInbound(each((frame) => (isControl(frame) ? { ...frame, fin: true } : frame))),
  },
  'ws-accepts-long-ping': {
    summary: 'takes control frames of more than 125 octets (RFC 6455 §5.5)',
    breaks: 'the connection goes on after a Ping of 126 octets',
    trips: ['websocket.overlong-ping'],
    patch: onInbound(
      each((frame) =>
        isControl(frame) && frame.payload.length > 125
          ? withPayload(frame, frame.payload.subarray(0, 125))
          : frame,
      ),
    ),
  },
  'ws-accepts-stray-continuation': {
    summary: 'takes a continuation of nothing for a message (RFC 6455 §5.4)',
    breaks: 'the connection goes on after a continuation frame without a beginning',
    trips: ['websocket.stray-continuation'],
    patch: onInbound(adoptingContinuations),
  },
  'ws-accepts-interleaved-messages': {
    summary: 'takes a new message inside an unfinished one (RFC 6455 §5.4)',
    breaks: 'the connection goes on after a text frame between fragments',
    trips: ['websocket.interleaved-message'],
    patch: onInbound(mergingInterleaved),
  },
  'ws-accepts-bad-utf8': {
    summary: 'takes text that is not UTF-8 (RFC 6455 §8.1)',
    breaks: 'the connection goes on after a text message with the octet FF',
    trips: ['websocket.bad-utf8', 'websocket.bad-utf8-in-fragments'],
    drags: {
      checks: ['websocket.server-utf8', 'websocket.bad-close-code', 'websocket.server-close-payload'],
      because: 'it sends back what it took, and closes for none of it',
    },
    patch: inWebSocket(() => ({ utf8Demanded: false })),
  },
  'ws-wrong-pong': {
    summary: 'answers a Ping with another payload (RFC 6455 §5.5.3)',
    breaks: 'the Pong carries `pong` and not the payload of the Ping',
    trips: ['websocket.ping'],
    patch: onOutbound(
      each((frame) => (frame.opcode === OPCODE.pong ? withPayload(frame, Buffer.from('pong')) : frame)),
    ),
  },
  'ws-no-pong': {
    summary: 'does not answer a Ping (RFC 6455 §5.5.2)',
    breaks: 'no Pong comes',
    trips: ['websocket.ping'],
    patch: onOutbound(each((frame) => (frame.opcode === OPCODE.pong ? null : frame))),
  },
  'ws-nonminimal-length': {
    summary: 'announces short payloads with a long length (RFC 6455 §5.2)',
    breaks: 'frames of less than 126 octets use the 16-bit length',
    trips: ['websocket.server-lengths'],
    patch: onOutbound(
      each((frame) => (frame.lengthOctets === 0 && isData(frame) ? { ...frame, lengthOctets: 2 } : frame)),
    ),
  },
  'ws-holds-pings-in-messages': {
    summary: 'answers a Ping between fragments only after the message (RFC 6455 §5.4)',
    breaks: 'no Pong comes while a message is not ended',
    trips: ['websocket.ping-between-fragments'],
    patch: onInbound(holdingPings),
  },
  'ws-refuses-unsolicited-pong': {
    summary: 'takes a Pong that it did not ask for as an error (RFC 6455 §5.5.3)',
    breaks: 'the connection ends upon a Pong of the client',
    trips: ['websocket.unsolicited-pong'],
    patch: onInbound(each((frame) => (frame.opcode === OPCODE.pong ? { ...frame, opcode: 11 } : frame))),
  },
  'ws-sets-reserved-bits': {
    summary: 'sets a reserved bit (RFC 6455 §5.2)',
    breaks: 'Pongs and messages of the service have RSV3 set',
    trips: ['websocket.server-reserved'],
    drags: {
      checks: ['websocket.burst-order', 'websocket.exchange'],
      because: 'clients fail the connection at the first message that comes back',
    },
    patch: onOutbound(each((frame) => (frame.opcode === OPCODE.close ? frame : { ...frame, rsv: 1 }))),
  },
  'ws-sends-overlong-close': {
    summary: 'explains itself at length in Close frames (RFC 6455 §5.5)',
    breaks: 'the Close frame of the service has more than 125 octets',
    trips: ['websocket.server-control-frames'],
    patch: onOutbound(
      each((frame) =>
        frame.opcode === OPCODE.close && frame.payload.length >= 2
          ? withPayload(frame, Buffer.concat([frame.payload.subarray(0, 2), Buffer.alloc(140, 'why ')]))
          : frame,
      ),
    ),
  },
  'ws-sends-stray-fragments': {
    summary: 'sends continuation frames that continue nothing (RFC 6455 §5.4)',
    breaks: 'a continuation frame follows each Pong',
    trips: ['websocket.server-fragments'],
    patch: onOutbound(behindPongs(frameOf(OPCODE.continuation, Buffer.from('rest')))),
  },
  'ws-sends-bad-utf8': {
    summary: 'sends text that is not UTF-8 (RFC 6455 §8.1)',
    breaks: 'a text message of the octet FF follows each Pong',
    trips: ['websocket.server-utf8'],
    patch: onOutbound(behindPongs(frameOf(OPCODE.text, Buffer.from([0xff])))),
  },
  'ws-loses-ping-burst': {
    summary: 'answers the first of several Pings only (RFC 6455 §5.5.3)',
    breaks: 'of ten Pings the last is not answered',
    trips: ['websocket.ping-burst'],
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
