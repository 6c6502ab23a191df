import { type Frame, isControl, OPCODE, withPayload } from '../../websocket/frame.ts';
import type { FrameRule } from '../../websocket/gate.ts';

/** A rule without memory; null swallows the frame. */
export const each =
  (change: (frame: Frame) => Frame | null): FrameRule =>
  () =>
  (frame) => {
    const changed = change(frame);
    return changed === null ? [] : [changed];
  };

export const isData = (frame: Frame): boolean => !isControl(frame);

/** The code of a Close frame; null where it has none (RFC 6455 §5.5.1). */
export function closeCodeOf(frame: Frame): number | null {
  return frame.payload.length < 2 ? null : frame.payload.readUInt16BE(0);
}

/** A Close frame's payload with another code. */
export function closingWith(frame: Frame, code: number): Frame {
  const octets = Buffer.alloc(2);
  octets.writeUInt16BE(code);
  return withPayload(frame, octets);
}

/** What is left of a message after a Ping within it is lost. */
export const cuttingAtPing: FrameRule = () => {
  let open = false;
  let cut = false;
  return (frame) => {
    if (frame.opcode === OPCODE.ping && open) cut = true;
    if (isControl(frame)) return [frame];
    const rest = cut && frame.opcode === OPCODE.continuation;
    open = !frame.fin;
    if (!open) cut = false;
    return [rest ? withPayload(frame, Buffer.alloc(0)) : frame];
  };
};

/** A whole frame of the service. */
export function frameOf(opcode: number, payload: Buffer): Frame {
  return withPayload({ fin: true, rsv: 0, opcode, masked: false, lengthOctets: 0, payload }, payload);
}
