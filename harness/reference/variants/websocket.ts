import type { WebSocket } from 'ws';
import { REALTIME, tableOf, type Variant } from '../behavior/deviation.ts';
import {
  eachInbound,
  eachOutbound,
  endingLong,
  onInbound,
  onOutbound,
  uncompressed,
  upon,
} from '../behavior/patches/frames.ts';
import { inWebSocket } from '../behavior/patches/parts.ts';
import { onAnswer, onFinished, onHead, onReceipt, type Patch, together } from '../behavior/patches/patch.ts';
import {
  atQuiet,
  atQuietBut,
  boundingFrames,
  closingUpon,
  closingWithCode,
  countingHandshakes,
  demandingLogin,
  greetingLate,
  keyFromSubprotocol,
  knowingOpen,
  OVERLOADED,
  onAccepted,
  onOpen,
  openingDespiteRefusal,
  PING,
  PONG,
} from '../behavior/patches/websocket.ts';
import { asProblem, dropped, having } from '../http/answer-changes.ts';
import { queryParameters, sending, withField, withoutField } from '../http/message.ts';
import {
  closeCodeOf,
  type Frame,
  frameOf,
  isControl,
  isData,
  OPCODE,
  withPayload,
} from '../websocket/frame.ts';
import type { GateRule } from '../websocket/gate.ts';

/** Whole messages in two frames. */
const inTwoFrames: GateRule = () => (frame) => {
  if (!isData(frame) || !frame.fin || frame.payload.length < 2) return [frame];
  const rest: Frame = { ...frame, opcode: OPCODE.continuation };
  return [
    { ...withPayload(frame, frame.payload.subarray(0, 1)), fin: false },
    withPayload(rest, frame.payload.subarray(1)),
  ];
};

/** In place of a message that is not taken. */
const NOT_TAKEN = 'not taken';

/** A whole text message in place of the frame. */
function messageOf(frame: Frame, text: string): Frame {
  return { ...withPayload(frame, Buffer.from(text)), opcode: OPCODE.text, fin: true, rsv: 0, masked: true };
}

/** Connections at the same time. */
const FEW = 9;

const takingFew: Patch = knowingOpen((open) =>
  onAccepted((verdict) => (open.size >= FEW ? { accepted: false, answer: OVERLOADED } : verdict)),
);

/** Octets of the largest message that is taken by the variant that takes only small ones. */
const SMALL = 16 * 1024;

const WINDOW_BITS = 10;

/** The field with the offers alone that let the service bound the window of the client. */
function boundedOffers(_: string, name: string, value: string): string {
  const taken = value.split(/ *, */).filter((offer) => {
    const [, bits = WINDOW_BITS] = /client_max_window_bits(?:=(\d+))?/.exec(offer) ?? [null, 0];
    return Number(bits) >= WINDOW_BITS;
  });
  return taken.length === 0 ? '' : `${name}${taken.join(', ')}\r\n`;
}

export const WEBSOCKET_VARIANTS = tableOf<Variant>(REALTIME, {
  'version-refusal-400': {
    summary: 'answers a handshake of another version with 400 and the version it speaks',
    patch: onAnswer('upgrade-required', (answer) =>
      asProblem(400)(withoutField(answer, 'Upgrade', 'Connection')),
    ),
  },
  'no-compression': {
    summary: 'declines permessage-deflate',
    changes: ['websocket.deflate'],
    patch: uncompressed,
  },
  'bounds-client-window': {
    summary: 'compresses for clients alone whose window it may bound, as browsers offer it',
    changes: ['websocket.deflate'],
    patch: together(
      inWebSocket(() => ({ compression: { clientMaxWindowBits: WINDOW_BITS } })),
      // The library refuses the handshake in place of declining the offer.
      onHead((head) => head.replace(/^(sec-websocket-extensions: *)(.*)\r\n/im, boundedOffers)),
    ),
  },
  'counts-handshakes': {
    summary: 'counts opening handshakes like other requests, and refuses those beyond the quota',
    countsByKind: true,
    unseen: 'the realtime service states no limit, so none is met',
    patch: countingHandshakes,
  },
  'ws-sends-fragments': { summary: 'sends its messages in two frames', patch: onOutbound(inTwoFrames) },
  'ws-closes-without-code': {
    summary: 'answers a Close with an empty one',
    patch: eachOutbound(upon(OPCODE.close, (frame) => withPayload(frame, Buffer.alloc(0)))),
  },
  'ws-greets': {
    summary: 'sends a message of its own before it echoes',
    patch: onOpen((socket) => socket.send('welcome')),
  },
  'ws-greets-late': {
    setting: 'loose answers',
    summary: 'greets when its client has been answered',
    patch: greetingLate(0),
  },
  'ws-greets-late-and-answers-later': {
    setting: 'loose answers',
    summary: 'greets before it answers the first message',
    patch: greetingLate(250),
  },
  'ws-tells-of-itself': {
    setting: 'loose answers',
    summary: 'sends an event of its own again and again, whatever its client says',
    patch: onOpen((socket, { clock }) => {
      const tell = async () => {
        for (await clock.sleep(80); socket.readyState === socket.OPEN; await clock.sleep(80))
          socket.send('{"type":"event"}');
      };
      void tell();
    }),
  },
  'ws-pings-first': {
    summary: 'sends a Ping and a Pong of its own as soon as a connection opens',
    changes: ['websocket.heartbeat'],
    patch: onOpen((socket) => {
      socket.ping('are you there?');
      socket.pong('here I am');
    }),
  },
  'ws-pings-quiet-connections': {
    summary: 'pings a connection on which nothing is said, and ends it where that is not answered in time',
    changes: ['websocket.heartbeat'],
    patch: (behavior) => {
      const answered = new WeakSet<WebSocket>();
      return atQuiet(
        (socket) => {
          socket.once('pong', () => answered.add(socket));
          socket.ping('are you there?');
        },
        (socket) => {
          if (!answered.has(socket)) socket.close(1011, 'keepalive ping timeout');
        },
      )(behavior);
    },
  },
  'ws-ends-quiet-connections': {
    summary:
      'pings a connection on which nothing is said, and ends it with a code of its own when nothing is',
    changes: ['websocket.heartbeat', 'websocket.idle'],
    patch: atQuiet(
      (socket) => socket.ping('are you there?'),
      (socket) => socket.close(4408, 'nothing to do'),
    ),
  },
  'ws-asks-quiet-connections': {
    setting: 'heartbeat',
    summary:
      'sends a heartbeat above the frames where nothing is said, and ends the connection where it is not answered',
    changes: ['websocket.heartbeat'],
    patch: atQuiet(
      (socket) => socket.send(PING),
      (socket) => socket.close(4408, 'heartbeat timeout'),
    ),
  },
  'ws-asks-before-answers': {
    setting: 'heartbeat',
    summary: 'sends a heartbeat above the frames as soon as a connection opens, and before each answer',
    changes: ['websocket.heartbeat'],
    patch: onOpen((socket) => {
      socket.send(PING);
      socket.on('message', (content) => {
        if (String(content) !== PONG) socket.send(PING);
      });
    }),
  },
  'ws-ends-asked-connections': {
    setting: 'heartbeat',
    summary:
      'sends a heartbeat above the frames where nothing is said, and ends the connection with a code of its own when nothing is',
    changes: ['websocket.heartbeat', 'websocket.idle'],
    patch: atQuietBut(
      (content) => content === PONG,
      (socket) => socket.send(PING),
      (socket) => socket.close(4409, 'nothing to do'),
    ),
  },
  'ws-takes-key-in-subprotocol': {
    setting: 'key in subprotocol',
    summary: 'takes the key of a handshake from a subprotocol, in base64url behind `bearer.`',
    patch: keyFromSubprotocol,
  },
  'ws-takes-key-in-token': {
    setting: 'key in token',
    summary: 'takes the key of a handshake from the parameter `token` as well',
    patch: onReceipt((request) => {
      const token = queryParameters(request.query).get('token');
      const opens = token !== null && request.path === '/ws';
      return !opens ? request : withField(request, 'Authorization', `Bearer ${token}`);
    }),
  },
  'ws-key-in-query-only': {
    setting: 'key in token',
    summary:
      'takes the key of a handshake from the parameter `token`, as its documents say, and from nowhere else',
    patch: onReceipt((request) => {
      if (!request.path.startsWith('/ws')) return request;
      const token = queryParameters(request.query).get('token');
      const bare = withoutField(request, 'Authorization');
      return token === null ? bare : withField(bare, 'Authorization', `Bearer ${token}`);
    }),
  },
  'ws-closes-4401': {
    setting: 'close code',
    summary: 'opens the connection first and closes it with 4401 when the credential is bad',
    patch: closingWithCode(4401),
  },
  'ws-logs-in-by-message': {
    summary: 'opens connections without a key, and serves them nothing before they log in by message',
    changes: ['websocket.refusal'],
    patch: openingDespiteRefusal((endpoint) => ({
      endpoint: {
        ...endpoint,
        converse: (socket) => socket.on('message', () => socket.send('log in first')),
      },
      closeCode: null,
    })),
  },
  'ws-demands-login': {
    setting: 'login by message',
    summary: 'answers no message before the client has logged in with one, as its documents say',
    patch: demandingLogin(true),
  },
  'ws-takes-no-messages': {
    setting: 'no messages',
    summary: 'only sends, and closes with 1003 upon whatever its client says',
    patch: together(
      eachInbound((frame) => (isControl(frame) ? frame : messageOf(frame, NOT_TAKEN))),
      closingUpon(() => true, 1003),
    ),
  },
  'ws-takes-text-only': {
    summary: 'closes with 1003 upon a binary message',
    patch: closingUpon((_, isBinary) => isBinary, 1003),
  },
  'ws-closes-unmasked-with-1008': {
    summary: 'closes upon an unmasked frame with 1008 (RFC 6455 §5.1 leaves the code open)',
    changes: ['websocket.unmasked-code'],
    patch: together(
      eachInbound((frame) => (frame.masked ? frame : messageOf(frame, NOT_TAKEN))),
      closingUpon((content) => String(content) === NOT_TAKEN, 1008),
    ),
  },
  'ws-pongs-after-close': {
    summary: 'sends a Pong behind its Close, which is no data (RFC 6455 §5.5.1)',
    patch: onOutbound(
      () => (frame) =>
        frame.opcode === OPCODE.close ? [frame, frameOf(OPCODE.pong, Buffer.from('late'))] : [frame],
    ),
  },
  'ws-behind-quiet-proxy': {
    summary: 'stands behind a proxy that writes Connection anew and tells of itself in refusals alone',
    patch: together(
      onHead((head) => (/^upgrade:/im.test(head) ? `${head}\r\nConnection: Upgrade` : head)),
      onAnswer('upgrade-required', having('Via', '1.1 front')),
    ),
  },
  'ws-sends-close-to-half-closed': {
    summary: 'sends a Close to a client that has ended its side of TCP, and ends the connection',
    patch: inWebSocket(() => ({
      atHalfClose: (send, end) => {
        send(frameOf(OPCODE.close, Buffer.alloc(0)));
        end();
      },
    })),
  },
  'ws-hangs-up-on-missing-host': {
    summary: 'ends a connection whose handshake has no Host without an answer',
    patch: onFinished(
      'malformed',
      dropped,
      (request) => !sending('host')(request) && sending('upgrade')(request),
    ),
  },
  'ws-takes-few-connections': {
    summary: 'takes nine connections at the same time, and refuses more with 503',
    changes: ['websocket.connections'],
    patch: takingFew,
  },
  'ws-takes-few-fragments': {
    summary: 'refuses a message of more than 16 fragments with 1008',
    patch: together(
      onInbound(() => {
        let fragments = 0;
        return (frame) => {
          if (isControl(frame)) return [frame];
          fragments = frame.opcode === OPCODE.continuation ? fragments + 1 : 1;
          return [fragments > 16 ? { ...withPayload(frame, Buffer.from(NOT_TAKEN)), fin: true } : frame];
        };
      }),
      closingUpon((content) => String(content).endsWith(NOT_TAKEN), 1008),
    ),
  },
  'ws-empty-close-for-bad-codes': {
    summary: 'answers a Close with a code that is not assigned with none',
    patch: eachOutbound((frame) =>
      frame.opcode === OPCODE.close && closeCodeOf(frame) === 1002
        ? withPayload(frame, Buffer.alloc(0))
        : frame,
    ),
  },
  'ws-bounds-frames': {
    summary: 'refuses a frame of 64 KiB with 1009, and takes the same message in fragments',
    changes: ['websocket.max-message'],
    patch: boundingFrames,
  },
  'ws-destroys-behind-1009': {
    summary:
      'closes with 1009 as soon as it has read a long length, and destroys the socket, unread content or not',
    changes: ['websocket.max-message'],
    patch: endingLong('destroyed behind'),
  },
  'ws-takes-small-messages': {
    summary: 'refuses messages of more than 16 KiB with 1009',
    changes: ['websocket.max-message'],
    patch: closingUpon((content) => content.length > SMALL, 1009),
  },
});
