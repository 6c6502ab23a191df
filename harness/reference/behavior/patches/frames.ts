import { closeCodeOf, type Frame, isControl, OPCODE, withPayload } from '../../websocket/frame.ts';
import type { FrameEnd, GateRule } from '../../websocket/gate.ts';
import { inWebSocket } from './parts.ts';
import { type Patch, together } from './patch.ts';

/** Changes the client's frames before they are judged; declines compression, which would hide their content. */
export const onInbound = (rule: GateRule): Patch => together(onCompressedInbound(rule), uncompressed);

/** Changes the service's frames before they are sent; declines compression, which would hide their content. */
export const onOutbound = (rule: GateRule): Patch => together(onCompressedOutbound(rule), uncompressed);

export const uncompressed: Patch = inWebSocket(() => ({ compression: false }));

/** Changes each frame of the client by itself; null swallows it. */
export const eachInbound = (change: FrameChange): Patch => onInbound(each(change));

/** Changes each frame of the service by itself; null swallows it. */
export const eachOutbound = (change: FrameChange): Patch => onOutbound(each(change));

/** Changes the client's frames before they are judged, compressed ones as they are. */
export const onCompressedInbound = (rule: GateRule): Patch =>
  inWebSocket(({ inbound }) => ({ inbound: [...inbound, rule] }));

/** Changes the service's frames before they are sent, compressed ones as they are. */
export const onCompressedOutbound = (rule: GateRule): Patch =>
  inWebSocket(({ outbound }) => ({ outbound: [...outbound, rule] }));

type FrameChange = (frame: Frame) => Frame | null;

export const upon =
  (opcode: number, change: FrameChange): FrameChange =>
  (frame) =>
    frame.opcode === opcode ? change(frame) : frame;

/** A rule without memory; null swallows the frame. */
export const each =
  (change: FrameChange): GateRule =>
  () =>
  (frame) => {
    const changed = change(frame);
    return changed === null ? [] : [changed];
  };

/** Loses the rest of a message after a control frame within it. */
export const cuttingAt =
  (control: number, concerns: (first: Frame) => boolean = () => true): GateRule =>
  () => {
    let open = false;
    let cut = false;
    return (frame) => {
      if (frame.opcode === control && open) cut = true;
      if (isControl(frame)) return [frame];
      const rest = cut && frame.opcode === OPCODE.continuation;
      open = !frame.fin && (open || concerns(frame));
      if (!open) cut = false;
      return [rest ? withPayload(frame, Buffer.alloc(0)) : frame];
    };
  };

/** Octets of the largest message of a service that takes no long ones, as it reads them. */
const NOT_LONG = 256 * 1024;

/** This becomes of TCP at a Close with 1009. */
export const endingTooBig = (end: FrameEnd): Patch =>
  inWebSocket(() => ({
    endsAt: (frame) => (frame.opcode === OPCODE.close && closeCodeOf(frame) === 1009 ? end : null),
  }));

/** The same, and that comes as soon as the length of a long message is read. */
export const endingLong = (end: FrameEnd): Patch =>
  together(
    endingTooBig(end),
    inWebSocket(() => ({ messageLimit: NOT_LONG })),
  );
