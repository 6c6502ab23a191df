import { type Defect, REALTIME, tableOf } from '../../behavior/deviation.ts';
import {
  cuttingAt,
  eachInbound,
  eachOutbound,
  endingLong,
  endingTooBig,
  onInbound,
  upon,
} from '../../behavior/patches/frames.ts';
import { type Patch, together } from '../../behavior/patches/patch.ts';
import {
  boundingFrames,
  closingUpon,
  demandingLogin,
  greetingLate,
  onMessage,
} from '../../behavior/patches/websocket.ts';
import { isData, OPCODE, withPayload } from '../../websocket/frame.ts';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Ends TCP upon a message of 64 KiB and more. */
const droppingLong = onMessage((socket, content) => {
  if (content.length > 65_535) socket.terminate();
});

/** Sends JSON that answers a question in other texts. */
const repacking = (change: (text: string) => string): Patch =>
  eachOutbound((frame) => {
    const text = frame.payload.toString('utf8');
    return isData(frame) && text.startsWith('{"ask"') ? withPayload(frame, Buffer.from(change(text))) : frame;
  });

/** Messages (RFC 6455 §5.6) that do not come back as they were sent. */
export const WEBSOCKET_MESSAGE_DEFECTS = tableOf<Defect>(REALTIME, {
  'ws-corrupts-message': {
    cause: 'Messages come back changed',
    fails: ['websocket.echo-text', 'websocket.exchange'],
    patch: eachOutbound((frame) => {
      if (!isData(frame) || frame.payload.length === 0) return frame;
      const payload = Buffer.from(frame.payload);
      payload[0] = (payload[0] ?? 0) ^ 1;
      return { ...frame, payload };
    }),
  },
  'ws-encodes-twice': {
    setting: 'login by message',
    cause: 'JSON is sent within a JSON string',
    fails: ['websocket.exchange'],
    patch: repacking((text) => JSON.stringify(text)),
  },
  'ws-joins-messages': {
    setting: 'login by message',
    cause: 'Two JSON texts are sent in one message',
    fails: ['websocket.exchange'],
    patch: repacking((text) => `{"said":"hello"}\n${text}`),
  },
  'ws-greets-and-never-answers': {
    setting: 'loose answers',
    cause: 'A message is never answered: what comes is the greeting',
    fails: ['websocket.exchange'],
    patch: greetingLate(null),
  },
  'ws-ignores-login': {
    setting: 'login by message',
    cause: 'The documented login is not answered',
    fails: ['websocket.login'],
    patch: eachInbound((frame) => (frame.payload.includes('login') ? null : frame)),
  },
  'ws-forgets-login': {
    setting: 'login by message',
    cause: 'A message after the documented login is not answered as documented',
    fails: ['websocket.exchange'],
    patch: demandingLogin(false),
  },
  'ws-binary-as-text': {
    cause: 'A binary message comes back as text',
    fails: ['websocket.echo-kind'],
    patch: eachOutbound(upon(OPCODE.binary, (frame) => ({ ...frame, opcode: OPCODE.text }))),
  },
  'ws-swallows-empty-messages': {
    cause: 'An empty message is lost',
    fails: ['websocket.echo-empty'],
    patch: eachInbound((frame) =>
      frame.fin &&
      frame.payload.length === 0 &&
      (frame.opcode === OPCODE.text || frame.opcode === OPCODE.binary)
        ? null
        : frame,
    ),
  },
  'ws-misreads-16-bit-lengths': {
    cause: 'A message of 126 bytes or more comes back shortened',
    fails: ['websocket.echo-lengths'],
    alsoFails: { 'websocket.echo-long': 'long messages are cut at the same place' },
    patch: eachInbound((frame) =>
      isData(frame) && frame.lengthOctets === 2 ? withPayload(frame, frame.payload.subarray(0, -1)) : frame,
    ),
  },
  'ws-truncates-long-messages': {
    cause: 'A message of 64 KiB or more comes back shortened',
    fails: ['websocket.echo-long'],
    patch: eachInbound((frame) =>
      isData(frame) && frame.lengthOctets === 8
        ? withPayload(frame, frame.payload.subarray(0, 65_535))
        : frame,
    ),
  },
  'ws-wrong-too-big-code': {
    // RFC 6455 §7.4.1
    cause: 'A message that is too big is refused with the wrong close code',
    fails: ['websocket.too-big-code'],
    patch: eachInbound((frame) =>
      isData(frame) && frame.lengthOctets === 8 ? { ...frame, opcode: 3 } : frame,
    ),
  },
  'ws-wrong-too-big-code-in-fragments': {
    // RFC 6455 §7.4.1
    cause: 'A message in fragments that is too big is refused with the wrong close code',
    fails: ['websocket.too-big-code'],
    patch: together(
      boundingFrames,
      onInbound(() => {
        let length = 0;
        return (frame) => {
          if (!isData(frame)) return [frame];
          length = frame.payload.length + (frame.opcode === OPCODE.continuation ? length : 0);
          return [length > frame.payload.length && length > 65_535 ? { ...frame, opcode: 3 } : frame];
        };
      }),
    ),
  },
  'ws-drops-too-big': {
    cause: 'A message that is too big ends the connection without a Close frame',
    fails: ['websocket.too-big-code'],
    patch: droppingLong,
  },
  'ws-resets-too-big': {
    cause: 'A message that is too big ends the connection by a reset',
    fails: ['websocket.too-big-code'],
    changes: ['websocket.max-message'],
    patch: endingLong('reset instead'),
  },
  'ws-resets-too-big-once-read': {
    cause: 'A message that is too big ends the connection by a reset',
    fails: ['websocket.too-big-code'],
    changes: ['websocket.max-message'],
    patch: together(
      endingTooBig('reset instead'),
      closingUpon((content) => content.length > 65_535, 1009),
    ),
  },
  'ws-drops-too-big-in-fragments': {
    cause: 'A message in fragments that is too big ends the connection without a Close frame',
    fails: ['websocket.too-big-code'],
    patch: together(boundingFrames, droppingLong),
  },
  'ws-loses-fragments': {
    cause: 'A fragment within a message is lost',
    fails: ['websocket.echo-fragments'],
    alsoFails: { 'websocket.stray-continuation': 'a continuation without a beginning is lost as well' },
    patch: eachInbound((frame) => (frame.opcode === OPCODE.continuation && !frame.fin ? null : frame)),
  },
  'ws-ping-cuts-message': {
    cause: 'A Ping within a message cuts the message off',
    fails: ['websocket.echo-around-ping'],
    patch: onInbound(cuttingAt(OPCODE.ping)),
  },
  'ws-pong-cuts-message': {
    cause: 'A Pong within a message cuts the message off',
    fails: ['websocket.echo-around-pong'],
    patch: onInbound(cuttingAt(OPCODE.pong)),
  },
  'ws-cuts-long-binary': {
    cause: 'A binary message of 126 bytes or more comes back shortened',
    fails: ['websocket.echo-binary-lengths'],
    patch: eachInbound((frame) =>
      frame.opcode === OPCODE.binary && frame.lengthOctets === 2
        ? withPayload(frame, frame.payload.subarray(0, -1))
        : frame,
    ),
  },
  'ws-swallows-empty-binary': {
    // RFC 6455 §5.6
    cause: 'An empty binary message is lost',
    fails: ['websocket.echo-binary-lengths'],
    patch: eachInbound((frame) =>
      frame.opcode === OPCODE.binary && frame.payload.length === 0 ? null : frame,
    ),
  },
  'ws-forgets-many-fragments': {
    cause: 'Of a message in many fragments the rest is lost',
    fails: ['websocket.echo-many-fragments'],
    patch: onInbound(() => {
      let fragments = 0;
      return (frame) => {
        if (!isData(frame)) return [frame];
        fragments = frame.opcode === OPCODE.continuation ? fragments + 1 : 1;
        return [fragments > 32 ? withPayload(frame, Buffer.alloc(0)) : frame];
      };
    }),
  },
  'ws-ping-cuts-json': {
    cause: 'A Ping within a JSON message cuts the message off',
    fails: ['websocket.exchange-fragments'],
    patch: onInbound(cuttingAt(OPCODE.ping, ({ payload }) => payload[0] === '{'.charCodeAt(0))),
  },
  'ws-strips-bom': {
    // RFC 6455 §5.6
    cause: 'A byte order mark at the start of a text is lost',
    fails: ['websocket.echo-characters'],
    patch: eachOutbound((frame) =>
      frame.opcode === OPCODE.text && frame.payload.subarray(0, 3).equals(BYTE_ORDER_MARK)
        ? withPayload(frame, frame.payload.subarray(3))
        : frame,
    ),
  },
});
