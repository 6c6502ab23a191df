import { isUtf8 } from 'node:buffer';
import { parseJsonObject } from '../../../base/json-text.ts';
import { type Defect, REALTIME, tableOf } from '../../behavior/deviation.ts';
import { eachInbound, onInbound } from '../../behavior/patches/frames.ts';
import { inWebSocket } from '../../behavior/patches/parts.ts';
import { together } from '../../behavior/patches/patch.ts';
import {
  atQuiet,
  atQuietBut,
  closingUpon,
  endingQuiet,
  knowingOpen,
  OVERLOADED,
  onMessage,
  onOpen,
  PING,
  PONG,
} from '../../behavior/patches/websocket.ts';
import { type Frame, OPCODE } from '../../websocket/frame.ts';

const isMessage = ({ fin, opcode }: Frame): boolean =>
  fin && (opcode === OPCODE.text || opcode === OPCODE.binary);

/** Number of frames at once that is too much for some services. */
const MANY = 20;
export const WEBSOCKET_LIVENESS_DEFECTS = tableOf<Defect>(REALTIME, {
  'ws-closes-idle': {
    setting: 'idle',
    cause: 'A silent connection is closed too soon',
    fails: ['websocket.idle-kept'],
    changes: ['websocket.idle'],
    patch: endingQuiet((socket) => socket.close(1001, 'idle')),
  },
  'ws-overlooks-pongs': {
    cause: 'Connections end though their clients answer every Ping',
    fails: ['websocket.answered-pings'],
    changes: ['websocket.idle'],
    patch: atQuiet(
      (socket) => socket.ping('are you there?'),
      (socket) => socket.close(1011, 'keepalive ping timeout'),
    ),
  },
  'ws-misreads-pongs': {
    // RFC 6455 §5.5.3
    cause: 'A Pong that carries what the Ping carried ends the connection',
    fails: ['websocket.answered-pings'],
    changes: ['websocket.idle'],
    patch: atQuiet((socket) => {
      socket.once('pong', (payload) => {
        if (payload.length > 0) socket.close(1002, 'unexpected Pong');
      });
      socket.ping('are you there?');
    }),
  },
  'pusher-drops-silent-clients': {
    setting: 'pusher',
    cause: 'Connections end within their activity_timeout',
    fails: ['websocket.pusher-silence'],
    changes: ['websocket.idle'],
    patch: endingQuiet((socket) => socket.terminate()),
  },
  'pusher-closes-silent-clients': {
    setting: 'pusher',
    cause: 'Connections end within their activity_timeout',
    fails: ['websocket.pusher-silence'],
    changes: ['websocket.idle'],
    patch: endingQuiet((socket) => socket.close(4202, 'Closed after inactivity')),
  },
  'pusher-forgets-silent-clients': {
    setting: 'pusher',
    cause: 'After a silence pusher:ping is not answered',
    fails: ['websocket.heartbeat-after-silence'],
    patch: atQuiet((socket) => {
      const { send } = socket;
      const isPong = (text: unknown) => parseJsonObject(String(text))?.event === 'pusher:pong';
      socket.send = (content: unknown, ...rest: readonly unknown[]) => {
        if (!isPong(content)) Reflect.apply(send, socket, [content, ...rest]);
      };
    }),
  },
  'ws-overlooks-heartbeat-answers': {
    setting: 'heartbeat',
    cause: 'Connections end though their clients answer every heartbeat',
    fails: ['websocket.answered-heartbeats'],
    changes: ['websocket.idle', 'websocket.heartbeat'],
    patch: atQuietBut(
      (content) => content === PONG,
      (socket) => socket.send(PING),
      (socket) => socket.close(4408, 'heartbeat timeout'),
    ),
  },
  'ws-refuses-heartbeat-answers': {
    setting: 'heartbeat',
    cause: 'The answer to a heartbeat ends the connection',
    fails: ['websocket.answered-heartbeats'],
    changes: ['websocket.idle', 'websocket.heartbeat'],
    patch: together(
      atQuiet((socket) => socket.send(PING)),
      closingUpon((content) => String(content) === PONG, 1003, 'unknown message'),
    ),
  },
  'ws-falls-over-bad-text': {
    cause: 'Text of one client that is not UTF-8 ends the connections of all others',
    fails: ['websocket.others-kept'],
    alsoFails: { 'websocket.failure-announced': 'the connection on which it came ends in the same way' },
    patch: knowingOpen((open) =>
      eachInbound((frame) => {
        const isBad = frame.opcode === OPCODE.text && frame.fin && !isUtf8(frame.payload);
        if (isBad) for (const socket of open) socket.terminate();
        return frame;
      }),
    ),
  },
  'ws-falls-over-long-message': {
    cause: 'A long message of one client ends the connections of all others',
    fails: ['websocket.others-kept'],
    changes: ['websocket.max-message'],
    patch: knowingOpen((open) =>
      onMessage((socket, content) => {
        if (content.length < 65_536) return;
        for (const other of open) if (other !== socket) other.terminate();
        socket.close(1009);
      }),
    ),
  },
  'ws-keeps-place-of-cut-client': {
    cause: 'A client that was cut off keeps its place: the next handshake is refused',
    fails: ['websocket.reconnect'],
    patch: (behavior) => {
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
      )(behavior);
    },
  },
  'ws-reorders-messages': {
    cause: 'Messages that come together are answered in another order',
    fails: ['websocket.burst-order'],
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
    cause: 'Some of many messages that come together are lost',
    fails: ['websocket.burst-order'],
    patch: onInbound(() => (frame, following) => (isMessage(frame) && following > MANY ? [] : [frame])),
  },
  'ws-loses-close-in-traffic': {
    cause: 'A Close behind many messages is not answered',
    fails: ['websocket.close-in-traffic'],
    patch: onInbound(() => {
      let messages = 0;
      return (frame) => {
        if (isMessage(frame)) messages += 1;
        return frame.opcode === OPCODE.close && messages > MANY && messages < 100 ? [] : [frame];
      };
    }),
  },
  'ws-mixes-connections': {
    cause: 'Messages of one connection come on another',
    fails: ['websocket.connections-apart'],
    patch: knowingOpen((open) =>
      onMessage((socket, content, isBinary) => {
        for (const other of open) if (other !== socket) other.send(content, { binary: isBinary });
      }),
    ),
  },
});
