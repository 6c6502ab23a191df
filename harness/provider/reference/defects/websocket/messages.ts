import { type Defect, REALTIME, tableOf } from '../../conduct/deviation.ts';
import { cuttingAtPing, each, onInbound, onOutbound } from '../../conduct/websocket-patch.ts';
import { isData, OPCODE, withPayload } from '../../websocket/frame.ts';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Messages (RFC 6455 §5.6) that do not come back as they were sent. */
export const WEBSOCKET_MESSAGE_DEFECTS = tableOf<Defect>(REALTIME, {
  'ws-corrupts-message': {
    summary: 'sends messages back altered',
    breaks: 'the first octet of an echoed message is another one',
    trips: ['websocket.echo-text', 'websocket.exchange'],
    patch: onOutbound(
      each((frame) => {
        if (!isData(frame) || frame.payload.length === 0) return frame;
        const payload = Buffer.from(frame.payload);
        payload[0] = (payload[0] ?? 0) ^ 1;
        return { ...frame, payload };
      }),
    ),
  },
  'ws-binary-as-text': {
    summary: 'sends binary messages back as text (RFC 6455 §5.6)',
    breaks: 'the echo of a binary message is a text message',
    trips: ['websocket.echo-kind'],
    drags: { checks: ['websocket.server-utf8'], because: 'octets that are no UTF-8 come back as text' },
    patch: onOutbound(
      each((frame) => (frame.opcode === OPCODE.binary ? { ...frame, opcode: OPCODE.text } : frame)),
    ),
  },
  'ws-swallows-empty-messages': {
    summary: 'takes a message without content for none',
    breaks: 'an empty message is not sent back',
    trips: ['websocket.echo-empty'],
    patch: onInbound(
      each((frame) =>
        frame.fin &&
        frame.payload.length === 0 &&
        (frame.opcode === OPCODE.text || frame.opcode === OPCODE.binary)
          ? null
          : frame,
      ),
    ),
  },
  'ws-misreads-16-bit-lengths': {
    summary: 'loses the last octet of a payload whose length stands in 16 bits (RFC 6455 §5.2)',
    breaks: 'a message of 126 octets comes back as 125',
    trips: ['websocket.echo-lengths'],
    drags: { checks: ['websocket.echo-long'], because: 'long messages are cut at the same place' },
    patch: onInbound(
      each((frame) =>
        isData(frame) && frame.lengthOctets === 2 ? withPayload(frame, frame.payload.subarray(0, -1)) : frame,
      ),
    ),
  },
  'ws-truncates-long-messages': {
    summary: 'cuts a message whose length stands in 64 bits (RFC 6455 §5.2)',
    breaks: 'a message of 65,536 octets comes back as 65,535',
    trips: ['websocket.echo-long'],
    patch: onInbound(
      each((frame) =>
        isData(frame) && frame.lengthOctets === 8
          ? withPayload(frame, frame.payload.subarray(0, 65_535))
          : frame,
      ),
    ),
  },
  'ws-wrong-too-big-code': {
    summary: 'refuses a long message as a protocol error (RFC 6455 §7.4.1)',
    breaks: 'a message of 65,536 octets ends the connection with 1002',
    trips: ['websocket.too-big-code'],
    patch: onInbound(
      each((frame) => (isData(frame) && frame.lengthOctets === 8 ? { ...frame, opcode: 3 } : frame)),
    ),
  },
  'ws-loses-fragments': {
    summary: 'keeps the first and the last fragment of a message only (RFC 6455 §5.4)',
    breaks: 'a message in three fragments comes back without the second',
    trips: ['websocket.echo-fragments'],
    drags: {
      checks: ['websocket.stray-continuation'],
      because: 'a continuation without a beginning is lost as well',
    },
    patch: onInbound(each((frame) => (frame.opcode === OPCODE.continuation && !frame.fin ? null : frame))),
  },
  'ws-ping-cuts-message': {
    summary: 'loses the rest of a message that a Ping comes within (RFC 6455 §5.4)',
    breaks: 'such a message comes back with its first fragment only',
    trips: ['websocket.echo-around-ping', 'websocket.exchange-fragments'],
    patch: onInbound(cuttingAtPing),
  },
  'ws-strips-bom': {
    summary: 'takes U+FEFF at the beginning of a text away (RFC 6455 §5.6)',
    breaks: 'such a text comes back without its first character',
    trips: ['websocket.echo-characters'],
    patch: onOutbound(
      each((frame) =>
        frame.opcode === OPCODE.text && frame.payload.subarray(0, 3).equals(BYTE_ORDER_MARK)
          ? withPayload(frame, frame.payload.subarray(3))
          : frame,
      ),
    ),
  },
});
