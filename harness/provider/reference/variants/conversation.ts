import { REALTIME, tableOf, type Variant } from '../conduct/deviation.ts';
import { onAnswer, onReceipt, type Patch } from '../conduct/patch.ts';
import {
  closingWithCode,
  each,
  inWebSocket,
  keyFromSubprotocol,
  OVERLOADED,
  onOpen,
  onOutbound,
} from '../conduct/websocket-patch.ts';
import { asProblem } from '../http/answer-changes.ts';
import { queryParameters, withField, withoutField } from '../http/message.ts';
import { type Frame, isData, OPCODE, withPayload } from '../websocket/frame.ts';
import type { FrameRule } from '../websocket/gate.ts';

/** Whole messages in two frames. */
const inTwoFrames: FrameRule = () => (frame) => {
  if (!isData(frame) || !frame.fin || frame.payload.length < 2) return [frame];
  const rest: Frame = { ...frame, opcode: OPCODE.continuation };
  return [
    { ...withPayload(frame, frame.payload.subarray(0, 1)), fin: false },
    withPayload(rest, frame.payload.subarray(1)),
  ];
};

/** Connections at the same time. */
const FEW = 9;

const takingFew: Patch = (conduct) => {
  let open = 0;
  const counting = onOpen((socket) => {
    open += 1;
    socket.on('close', () => {
      open -= 1;
    });
  });
  return inWebSocket(({ judge }) => ({
    judge: (request, kernel) => {
      const verdict = judge(request, kernel);
      return verdict.accepted && open >= FEW ? { accepted: false, answer: OVERLOADED } : verdict;
    },
  }))(counting(conduct));
};

/** Octets of the largest message that is taken by the variant that takes only small ones. */
const SMALL = 16 * 1024;

export const WEBSOCKET_VARIANTS = tableOf<Variant>(REALTIME, {
  'version-refusal-400': {
    summary: 'answers a handshake of another version with 400 and the version it speaks',
    patch: onAnswer('upgrade-required', (answer) =>
      asProblem(withoutField(withoutField(answer, 'Upgrade'), 'Connection'), 400, 'Bad Request'),
    ),
  },
  'no-compression': {
    summary: 'declines permessage-deflate',
    shows: ['websocket.deflate'],
    patch: inWebSocket(() => ({ compression: false })),
  },
  'ws-sends-fragments': {
    summary: 'sends its messages in two frames',
    patch: onOutbound(inTwoFrames),
  },
  'ws-closes-without-code': {
    summary: 'answers a Close with an empty one',
    patch: onOutbound(
      each((frame) => (frame.opcode === OPCODE.close ? withPayload(frame, Buffer.alloc(0)) : frame)),
    ),
  },
  'ws-greets': {
    summary: 'sends a message of its own before it echoes',
    patch: onOpen((socket) => socket.send('welcome')),
  },
  'ws-pings-first': {
    summary: 'sends a Ping and a Pong of its own as soon as a connection opens',
    shows: ['websocket.heartbeat'],
    patch: onOpen((socket) => {
      socket.ping('are you there?');
      socket.pong('here I am');
    }),
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
  'ws-closes-4401': {
    setting: 'close code',
    summary: 'opens the connection first and closes it with 4401 when the credential is bad',
    patch: closingWithCode(4401),
  },
  'ws-takes-few-connections': {
    summary: 'takes nine connections at the same time, and refuses more with 503',
    shows: ['websocket.connections'],
    patch: takingFew,
  },
  'ws-takes-small-messages': {
    summary: 'refuses messages of more than 16 KiB with 1009',
    shows: ['websocket.max-message'],
    patch: onOpen((socket) => {
      socket.on('message', (content: Buffer) => {
        if (content.length > SMALL) socket.close(1009);
      });
    }),
  },
});
