import type { WebSocket } from 'ws';
import { type Defect, REALTIME, tableOf } from '../../conduct/deviation.ts';
import { together } from '../../conduct/patch.ts';
import {
  each,
  inWebSocket,
  OVERLOADED,
  onCompressedInbound,
  onInbound,
  onOpen,
} from '../../conduct/websocket-patch.ts';
import { type Frame, OPCODE } from '../../websocket/frame.ts';

const isMessage = ({ fin, opcode }: Frame): boolean =>
  fin && (opcode === OPCODE.text || opcode === OPCODE.binary);

/** So many frames at once are too many for some. */
const MANY = 20;
/** Shorter than the idle time that the proof configures, in ms. */
const IDLE_MS = 300;

/** Ways to lose connections, and what is said on them. */
export const WEBSOCKET_LIVENESS_DEFECTS = tableOf<Defect>(REALTIME, {
  'ws-closes-idle': {
    setting: 'idle',
    summary: 'closes a connection on which nothing is said for a moment',
    cause: 'A silent connection is closed too soon',
    trips: ['websocket.idle-kept'],
    shows: ['websocket.idle'],
    patch: (conduct) => {
      // Of whatever connection: a message may come in many frames, each of which is something that is said.
      let heard = 0;
      return together(
        onCompressedInbound(
          each((frame) => {
            heard += 1;
            return frame;
          }),
        ),
        onOpen((socket, { clock }) => {
          const watch = async () => {
            for (let before = -1; before !== heard; await clock.sleep(IDLE_MS)) before = heard;
            socket.close(1001, 'idle');
          };
          void watch();
        }),
      )(conduct);
    },
  },
  'ws-keeps-place-of-cut-client': {
    summary: 'has one place, and keeps it for a client that was cut without a Close',
    cause: 'A client that was cut off keeps its place: the next handshake is refused',
    trips: ['websocket.reconnect'],
    patch: (conduct) => {
      let taken = false;
      return together(
        onOpen(() => {
          taken = true;
        }),
        onInbound(() => (frame) => {
          if (frame.opcode === OPCODE.close) taken = false;
          return [frame];
        }),
        inWebSocket(({ judge }) => ({
          judge: (request, kernel) =>
            taken ? { accepted: false, answer: OVERLOADED } : judge(request, kernel),
        })),
      )(conduct);
    },
  },
  'ws-reorders-messages': {
    summary: 'handles messages that come together in no order',
    cause: 'Messages that come together are answered in another order',
    trips: ['websocket.burst-order'],
    patch: onInbound(() => {
      let held: Frame | null = null;
      return (frame, following) => {
        if (!isMessage(frame)) return held === null ? [frame] : release(frame);
        if (held === null && following > 0) {
          held = frame;
          return [];
        }
        return release(frame);
      };
      function release(frame: Frame): readonly Frame[] {
        const first = held;
        held = null;
        return first === null ? [frame] : [frame, first];
      }
    }),
  },
  'ws-loses-messages': {
    summary: 'loses messages when many come together',
    cause: 'Some of many messages that come together are lost',
    trips: ['websocket.burst-order'],
    patch: onInbound(() => (frame, following) => (isMessage(frame) && following > MANY ? [] : [frame])),
  },
  'ws-loses-close-in-traffic': {
    summary: 'overlooks a Close behind many messages (RFC 6455 §5.5.1)',
    cause: 'A Close behind many messages is not answered',
    trips: ['websocket.close-in-traffic'],
    patch: onInbound(() => {
      let messages = 0;
      return (frame) => {
        if (isMessage(frame)) messages += 1;
        return frame.opcode === OPCODE.close && messages > MANY && messages < 100 ? [] : [frame];
      };
    }),
  },
  'ws-mixes-connections': {
    summary: 'sends what one client says to all others',
    cause: 'Messages of one connection come on another',
    trips: ['websocket.connections-apart'],
    patch: (conduct) => {
      const open = new Set<WebSocket>();
      return onOpen((socket) => {
        open.add(socket);
        socket.on('close', () => open.delete(socket));
        socket.on('message', (content, isBinary) => {
          for (const other of open) if (other !== socket) other.send(content, { binary: isBinary });
        });
      })(conduct);
    },
  },
});
