import { constants, inflateRawSync } from 'node:zlib';
import { type Defect, REALTIME, tableOf } from '../../behavior/deviation.ts';
import { cuttingAt, each, onCompressedInbound, onCompressedOutbound } from '../../behavior/patches/frames.ts';
import { inWebSocket } from '../../behavior/patches/parts.ts';
import { onHead, type Patch, together } from '../../behavior/patches/patch.ts';
import { onSwitchingLine } from '../../behavior/patches/websocket.ts';
import { problem } from '../../http/answer.ts';
import { fieldValue } from '../../http/message.ts';
import { type Frame, isData, OPCODE, withPayload } from '../../websocket/frame.ts';

/** RFC 7692 §6: RSV1. */
const COMPRESSED = 4;

const isCompressed = ({ rsv, opcode }: Frame): boolean => rsv === COMPRESSED && opcode < OPCODE.close;

/** A frame that ends the connection in place of this one. */
const refused = (frame: Frame): Frame => ({ ...frame, opcode: 3, rsv: 0 });

const withoutReservedBits = (concerns: (frame: Frame) => boolean): Patch =>
  onCompressedInbound(each((frame) => (concerns(frame) ? { ...frame, rsv: 0 } : frame)));

const onCompressed = (change: (frame: Frame) => Frame | null): Patch =>
  onCompressedInbound(each((frame) => (isCompressed(frame) ? change(frame) : frame)));

/** Takes a parameter out of the selected extension. */
const withoutParameter = (name: string): Patch =>
  onSwitchingLine((line) =>
    /^sec-websocket-extensions:/i.test(line) ? line.replace(new RegExp(`; *${name}(=\\d+)?`), '') : line,
  );

const inOffer = (change: (offer: string) => string): Patch =>
  onHead((head) => head.replace(/^sec-websocket-extensions:.*$/im, change));

/** Refuses handshakes with such an offer, in place of declining it. */
const refusingOffers = (offers: RegExp): Patch =>
  inWebSocket(({ judge }) => ({
    judge: (request, kernel) =>
      offers.test(fieldValue(request, 'sec-websocket-extensions') ?? '')
        ? { accepted: false, answer: problem('broken') }
        : judge(request, kernel),
  }));

/** Whether the message refers to no earlier one. */
function standsAlone({ payload }: Frame): boolean {
  try {
    inflateRawSync(Buffer.concat([payload, Buffer.of(0, 0, 0xff, 0xff)]), {
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    return true;
  } catch {
    return false;
  }
}

/** Ways to get permessage-deflate (RFC 7692) wrong. */
export const WEBSOCKET_COMPRESSION_DEFECTS = tableOf<Defect>(REALTIME, {
  'ws-takes-unfit-deflate-offer': {
    cause: 'A permessage-deflate offer with an unknown parameter is accepted',
    fails: ['websocket.deflate-unfit-offer'],
    alsoFails: {
      'websocket.deflate-server-context': 'parameters that fit are not looked at either',
      'websocket.deflate-server-window': 'parameters that fit are not looked at either',
    },
    changes: ['websocket.deflate-fallback'],
    patch: inOffer(() => 'Sec-WebSocket-Extensions: permessage-deflate'),
  },
  'ws-forgets-server-no-context': {
    cause: 'The service ignores that server_no_context_takeover was asked for',
    fails: ['websocket.deflate-server-context'],
    patch: withoutParameter('server_no_context_takeover'),
  },
  'ws-forgets-server-window': {
    cause: 'The service ignores that server_max_window_bits was asked for',
    fails: ['websocket.deflate-server-window'],
    patch: withoutParameter('server_max_window_bits'),
  },
  'ws-ignores-server-window': {
    cause: 'The service compresses with a larger window than it agreed to',
    fails: ['websocket.deflate-window-kept'],
    patch: together(
      inOffer((offer) => offer.replace(/server_max_window_bits=9$/, 'server_max_window_bits=14')),
      onSwitchingLine((line) => line.replace('window_bits=14', 'window_bits=9')),
    ),
  },
  'ws-refuses-small-window': {
    cause: 'A handshake that offers a small window for compression is refused',
    fails: ['websocket.deflate-offer-declined'],
    patch: refusingOffers(/window_bits=8$/),
  },
  'ws-refuses-without-context': {
    cause: 'A handshake that offers compression without context takeover is refused',
    fails: ['websocket.deflate-offer-declined'],
    patch: refusingOffers(/^permessage-deflate; server_no_context_takeover$/),
  },
  'ws-forgets-which-offer': {
    cause: 'The answer to several offers of permessage-deflate fits none of them',
    fails: ['websocket.deflate-several-offers'],
    patch: onSwitchingLine((line) => line.replace('; server_max_window_bits=12', '')),
  },
  'ws-widens-client-window': {
    cause: 'The service allows a larger client window than was offered',
    fails: ['websocket.deflate-client-window'],
    patch: onSwitchingLine((line) => line.replace(/client_max_window_bits=\d+/, 'client_max_window_bits=15')),
  },
  'ws-ignores-rsv1-on-control': {
    cause: 'A Ping that is marked as compressed is accepted',
    fails: ['websocket.deflate-reserved-bit-on-control'],
    alsoFails: { 'websocket.reserved-bit-on-ping': 'a ping is a control frame' },
    patch: withoutReservedBits((frame) => frame.opcode >= OPCODE.close && frame.rsv === COMPRESSED),
  },
  'ws-ignores-rsv1-on-continuation': {
    cause: 'A later fragment that is marked as compressed is accepted',
    fails: ['websocket.deflate-reserved-bit-on-continuation'],
    alsoFails: { 'websocket.reserved-bit-on-continuation': 'where nothing is compressed as well' },
    patch: withoutReservedBits((frame) => frame.opcode === OPCODE.continuation && frame.rsv === COMPRESSED),
  },
  'ws-ignores-bad-deflate': {
    cause: 'A message that cannot be inflated is accepted',
    fails: ['websocket.deflate-bad-data'],
    alsoFails: {
      'websocket.deflate-reserved-bit-on-continuation':
        'the second fragment with RSV1 cannot be inflated either',
      'websocket.reserved-bit-on-continuation': 'such a fragment is left out like any',
    },
    patch: onCompressed((frame) => (((frame.payload[0] ?? 0) & 6) === 6 ? null : frame)),
  },
  'ws-corrupts-compressed': {
    cause: 'Compressed messages come back changed',
    fails: ['websocket.deflate-echo'],
    patch: onCompressed((frame) =>
      frame.fin && frame.payload.length > 8 ? withPayload(frame, frame.payload.subarray(0, -8)) : frame,
    ),
  },
  'ws-wants-all-compressed': {
    cause: 'A message without compression ends the connection',
    fails: ['websocket.deflate-plain'],
    patch: (behavior) => {
      let agreed = false;
      return together(
        onHead((head) => {
          agreed = /^sec-websocket-extensions:/im.test(head);
          return head;
        }),
        onCompressedInbound(() => {
          const wanted = agreed;
          return (frame) => {
            const isPlain =
              frame.rsv === 0 && (frame.opcode === OPCODE.text || frame.opcode === OPCODE.binary);
            return [wanted && isPlain && frame.fin ? refused(frame) : frame];
          };
        }),
      )(behavior);
    },
  },
  'ws-loses-empty-compressed': {
    cause: 'An empty compressed message is lost',
    fails: ['websocket.deflate-empty'],
    patch: onCompressed((frame) => (frame.fin && frame.payload.length <= 2 ? null : frame)),
  },
  'ws-loses-compressed-fragments': {
    cause: 'A compressed message in fragments is lost',
    fails: ['websocket.deflate-fragments'],
    patch: onCompressedInbound(() => {
      let compressed = false;
      return (frame) => {
        if (isData(frame) && frame.opcode !== OPCODE.continuation) compressed = isCompressed(frame);
        const isLost = compressed && frame.opcode === OPCODE.continuation && !frame.fin;
        return isLost ? [] : [frame];
      };
    }),
  },
  'ws-ping-cuts-compressed': {
    cause: 'A Ping within a compressed message breaks the message',
    fails: ['websocket.deflate-around-ping'],
    patch: onCompressedInbound(cuttingAt(OPCODE.ping, isCompressed)),
  },
  'ws-pong-cuts-compressed': {
    cause: 'A Pong within a compressed message breaks the message',
    fails: ['websocket.deflate-around-pong'],
    patch: onCompressedInbound(cuttingAt(OPCODE.pong, isCompressed)),
  },
  'ws-checks-no-compressed-utf8': {
    cause: 'Compressed text that is not UTF-8 is accepted',
    fails: ['websocket.deflate-bad-utf8'],
    patch: onCompressed((frame) =>
      frame.opcode === OPCODE.text && frame.payload.length < 16 ? { ...frame, opcode: OPCODE.binary } : frame,
    ),
  },
  'ws-takes-bare-window': {
    cause: 'A permessage-deflate offer whose server window has no value is accepted',
    fails: ['websocket.deflate-unfit-offer'],
    patch: inOffer((offer) => offer.replace(/server_max_window_bits$/, 'server_max_window_bits=15')),
  },
  'ws-forgets-deflate-context': {
    cause: 'A compressed message that refers to the one before ends the connection',
    fails: ['websocket.deflate-context'],
    patch: onCompressed((frame) => (frame.fin && !standsAlone(frame) ? refused(frame) : frame)),
  },
  'ws-refuses-final-block': {
    cause: 'A compressed message whose block is marked as the last ends the connection',
    fails: ['websocket.deflate-final-block'],
    patch: onCompressed((frame) => (((frame.payload[0] ?? 0) & 1) === 1 ? refused(frame) : frame)),
  },
  'ws-breaks-no-context': {
    cause: 'The service compresses against earlier messages although it agreed not to',
    fails: ['websocket.deflate-without-context'],
    patch: (behavior) => {
      let asked = false;
      return together(
        onHead((head) => {
          asked = /extensions: permessage-deflate; server_no_context_takeover(?!; server)/i.test(head);
          return asked ? head.replace('; server_no_context_takeover', '') : head;
        }),
        onSwitchingLine((line) =>
          asked && /^sec-websocket-extensions:/i.test(line) ? `${line}; server_no_context_takeover` : line,
        ),
      )(behavior);
    },
  },
  'ws-sends-bad-deflate': {
    cause: 'The service sends compressed messages that cannot be inflated',
    fails: ['websocket.deflate-server-data'],
    patch: onCompressedOutbound(
      each((frame) => {
        if (!isCompressed(frame)) return frame;
        const payload = Buffer.from(frame.payload);
        payload[0] = (payload[0] ?? 0) | 6;
        return { ...frame, payload };
      }),
    ),
  },
  'ws-inflates-without-limit': {
    cause: 'A small compressed message may grow without limit',
    fails: ['websocket.deflate-bomb'],
    patch: inWebSocket(() => ({ messageLimit: 128 * 1024 * 1024 })),
  },
});
