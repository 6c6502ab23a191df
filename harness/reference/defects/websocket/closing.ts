import { type Defect, REALTIME, tableOf } from '../../behavior/deviation.ts';
import { eachInbound, eachOutbound, onInbound, onOutbound, upon } from '../../behavior/patches/frames.ts';
import { inWebSocket } from '../../behavior/patches/parts.ts';
import { closeCodeOf, closingWith, type Frame, frameOf, OPCODE, withPayload } from '../../websocket/frame.ts';
import type { GateRule } from '../../websocket/gate.ts';

/** A Close waits for the frames received with it. */
const puttingOffClose: GateRule = () => {
  let close: Frame | null = null;
  return (frame, following) => {
    if (frame.opcode === OPCODE.close && following > 0) {
      close = frame;
      return [];
    }
    if (close === null || following > 0) return [frame];
    const last = close;
    close = null;
    return [frame, last];
  };
};

/** One octet, or a reason that is not UTF-8 (RFC 6455 §5.5.1). */
function isMalformed(payload: Buffer): boolean {
  const reason = payload.subarray(2);
  return payload.length === 1 || !Buffer.from(reason.toString('utf8')).equals(reason);
}

const GOING_AWAY = closingWith(frameOf(OPCODE.close, Buffer.alloc(0)), 1001);

/** Codes with which the service fails a connection. */
const FAILURES: readonly (number | null)[] = [1002, 1007, 1009];

export const WEBSOCKET_CLOSING_DEFECTS = tableOf<Defect>(REALTIME, {
  'ws-accepts-bad-close-payload': {
    cause: 'A Close with a broken payload is answered like a right one',
    fails: ['websocket.bad-close-code'],
    patch: eachInbound((frame) => {
      if (frame.opcode !== OPCODE.close || frame.payload.length === 0) return frame;
      const code = frame.payload.length === 1 ? 0 : frame.payload.readUInt16BE(0);
      return code < 1000 || [1004, 1005, 1006, 1015].includes(code) ? closingWith(frame, 1000) : frame;
    }),
  },
  'ws-answers-bad-reason-like-any': {
    cause: 'A Close whose reason is not UTF-8 is answered like a right one',
    fails: ['websocket.bad-close-reason'],
    patch: eachInbound(
      upon(OPCODE.close, (frame) =>
        frame.payload.length > 2 && isMalformed(frame.payload) ? closingWith(frame, 1000) : frame,
      ),
    ),
  },
  'ws-takes-unassigned-codes': {
    cause: 'A Close with a code that is not assigned is answered like a right one',
    fails: ['websocket.unassigned-close-codes'],
    patch: eachInbound(
      upon(OPCODE.close, (frame) => {
        const code = closeCodeOf(frame) ?? 0;
        return code > 1015 && code < 3000 ? closingWith(frame, 1000) : frame;
      }),
    ),
  },
  'ws-ignores-overlong-close': {
    cause: 'A Close of more than 125 bytes is ignored',
    fails: ['websocket.overlong-close'],
    patch: eachInbound(upon(OPCODE.close, (frame) => (frame.payload.length > 125 ? null : frame))),
  },
  'ws-holds-close-in-messages': {
    cause: 'A Close between the fragments of a message is not answered',
    fails: ['websocket.close-within-message'],
    patch: onInbound(() => {
      let open = false;
      return (frame) => {
        if (frame.opcode === OPCODE.close && open) return [];
        if (frame.opcode < OPCODE.close) open = !frame.fin;
        return [frame];
      };
    }),
  },
  'ws-no-close-echo': {
    cause: 'The service ends the connection without a Close frame',
    fails: ['websocket.close-answered'],
    alsoFails: {
      'websocket.failure-announced': 'a connection that fails ends without a close frame as well',
    },
    patch: eachOutbound(upon(OPCODE.close, () => null)),
  },
  'ws-keeps-tcp-open': {
    // RFC 6455 §7.1.1
    cause: 'The connection stays open after both Close frames',
    fails: ['websocket.tcp-closed'],
    patch: inWebSocket(() => ({ endsTcp: 'never' })),
  },
  'ws-waits-for-answer-to-close': {
    cause: 'The connection of a client that does not answer a Close stays open',
    fails: ['websocket.unanswered-close'],
    patch: inWebSocket(() => ({ endsTcp: 'once answered' })),
  },
  'ws-keeps-half-closed': {
    cause: 'The connection stays open after its client has ended its side',
    fails: ['websocket.half-closed'],
    patch: inWebSocket(() => ({ atHalfClose: () => undefined })),
  },
  'ws-only-closes-half-closed': {
    cause: 'The connection of a client that has ended its side waits for its Close',
    fails: ['websocket.half-closed'],
    patch: inWebSocket(() => ({ atHalfClose: (send) => send(GOING_AWAY) })),
  },
  'ws-sends-1005': {
    cause: 'The service sends a close code that is never sent',
    fails: ['websocket.forbidden-close-codes'],
    patch: eachOutbound(upon(OPCODE.close, (frame) => closingWith(frame, 1005))),
  },
  'ws-wrong-close-code': {
    // RFC 6455 §7.4.1
    cause: 'Broken frames are answered with the wrong close code',
    changes: ['websocket.unmasked-code'],
    fails: ['websocket.reserved-bits-code'],
    patch: eachOutbound(
      upon(OPCODE.close, (frame) =>
        [1002, 1007].includes(closeCodeOf(frame) ?? 0) ? closingWith(frame, 1011) : frame,
      ),
    ),
  },
  'ws-fails-silently': {
    cause: 'A broken frame ends the connection without a Close frame',
    fails: ['websocket.failure-announced'],
    patch: eachOutbound(
      upon(OPCODE.close, (frame) => (FAILURES.includes(closeCodeOf(frame)) ? null : frame)),
    ),
  },
  'ws-answers-close-with-other-code': {
    cause: 'A Close is answered with another code',
    fails: ['websocket.close-code-echoed'],
    patch: eachOutbound(
      upon(OPCODE.close, (frame) =>
        FAILURES.includes(closeCodeOf(frame)) ? frame : closingWith(frame, 1008),
      ),
    ),
  },
  'ws-ignores-malformed-close': {
    cause: 'A broken Close frame is ignored',
    fails: ['websocket.one-octet-close', 'websocket.bad-close-reason'],
    patch: eachInbound(upon(OPCODE.close, (frame) => (isMalformed(frame.payload) ? null : frame))),
  },
  'ws-sends-malformed-close': {
    cause: 'The Close frame of the service is broken',
    fails: ['websocket.server-close-payload'],
    patch: eachOutbound(upon(OPCODE.close, (frame) => withPayload(frame, Buffer.from([3])))),
  },
  'ws-answers-after-close': {
    cause: 'A message that follows a Close is still answered',
    fails: ['websocket.message-after-close'],
    patch: onInbound(puttingOffClose),
  },
  'ws-sends-after-close': {
    cause: 'The service sends frames after its Close',
    fails: ['websocket.silent-after-close'],
    alsoFails: { 'websocket.close-in-traffic': 'what is under way at the close comes behind it' },
    patch: onOutbound(
      () => (frame) =>
        frame.opcode === OPCODE.close ? [frame, frameOf(OPCODE.text, Buffer.from('late'))] : [frame],
    ),
  },
});
