import { type Defect, REALTIME, tableOf } from '../../behavior/deviation.ts';
import { onAnswer, onFirstOctets, onHead, type Patch, together } from '../../behavior/patches/patch.ts';
import {
  omittingLine,
  onAccepted,
  onSwitching,
  onSwitchingLine,
  withoutRule,
  withRule,
} from '../../behavior/patches/websocket.ts';
import { upgradeRequired } from '../../behavior/preconditions.ts';
import { problem } from '../../http/answer.ts';
import { asProblem, dropped, lacking } from '../../http/answer-changes.ts';
import { fieldValue, listMembers, withField } from '../../http/message.ts';

function reversed(text: string): string {
  return [...text].reverse().join('');
}

const addingLine = (line: string): Patch => onSwitching((lines) => [...lines, line]);

/** A handshake that lacks `Connection: Upgrade`, with it added. */
function withConnectionUpgrade(head: string): string {
  if (!/^upgrade: *websocket/im.test(head) || /^connection:.*upgrade/im.test(head)) return head;
  return `${head.replace(/\r\nconnection:[^\r]*/gi, '')}\r\nConnection: Upgrade`;
}

/** A plain GET of an address where WebSockets are taken, made into a handshake. */
function withHandshake(head: string): string {
  if (!/^GET \/(?:ws|app\/)/.test(head) || /^upgrade:/im.test(head)) return head;
  const lines = [
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${ANY_KEY}`,
  ];
  return [head.replace(/\r\nconnection:[^\r]*/gi, ''), ...lines].join('\r\n');
}

/** A handshake whose version comes before Upgrade, made unrecognisable. */
function withoutLateUpgrade(head: string): string {
  const [version, upgrade] = [/^sec-websocket-version:/im, /^upgrade:/im].map((line) => head.search(line));
  const isLate = version !== undefined && upgrade !== undefined && version !== -1 && version < upgrade;
  return isLate ? head.replace(/\r\nupgrade:[^\r]*/i, '') : head;
}

/** Of several Connection lines the first alone. */
function withFirstConnection(head: string): string {
  let seen = 0;
  return head.replace(/\r\nconnection:[^\r]*/gi, (line) => (seen++ === 0 ? line : ''));
}

const ANY_KEY = Buffer.alloc(16).toString('base64');

/** Answers every handshake with the accept value of the first. */
const repeatingAccept: Patch = (behavior) => {
  let first: string | undefined;
  return onSwitchingLine((line) => {
    if (!/^sec-websocket-accept:/i.test(line)) return line;
    first ??= line;
    return first;
  })(behavior);
};

export const WEBSOCKET_HANDSHAKE_DEFECTS = tableOf<Defect>(REALTIME, {
  'ws-selects-bad-subprotocol': {
    cause: 'A subprotocol with a space in it is selected',
    fails: ['websocket.bad-subprotocol'],
    patch: (behavior) => {
      const BAD = /^Sec-WebSocket-Protocol: conform bad\r?\n?/im;
      let offered = false;
      return together(
        onHead((head) => {
          offered = BAD.test(head);
          return offered ? head.replace(BAD, '').trimEnd() : head;
        }),
        onSwitching((lines) => (offered ? [...lines, 'Sec-WebSocket-Protocol: conform bad'] : lines)),
      )(behavior);
    },
  },
  'ws-length-on-101': {
    cause: 'The 101 has a Content-Length',
    fails: ['websocket.switching-length'],
    patch: addingLine('Content-Length: 0'),
  },
  'ws-coding-on-101': {
    // RFC 9112 §6.1
    cause: 'The 101 has a Transfer-Encoding',
    fails: ['websocket.switching-length'],
    patch: addingLine('Transfer-Encoding: chunked'),
  },
  'ws-wrong-accept': {
    cause: 'Sec-WebSocket-Accept does not belong to the key that was sent',
    fails: ['websocket.accept'],
    patch: onSwitchingLine((line) =>
      line.replace(/^(sec-websocket-accept: )(.*)=$/i, (_, name, value) => `${name}${reversed(value)}=`),
    ),
  },
  'ws-ignores-version': {
    cause: 'A WebSocket handshake of another version is accepted',
    fails: ['websocket.other-version', 'websocket.missing-version'],
    patch: withoutRule('version'),
  },
  'ws-version-refusal-without-header': {
    cause: 'A refused WebSocket version is not told which one is supported',
    fails: ['websocket.supported-version'],
    patch: onAnswer('upgrade-required', lacking('Sec-WebSocket-Version')),
  },
  'ws-accepts-missing-key': {
    cause: 'A WebSocket handshake without Sec-WebSocket-Key is accepted',
    fails: ['websocket.missing-key'],
    changes: ['websocket.short-key'],
    patch: withoutRule('key'),
  },
  'ws-accepts-missing-host': {
    // RFC 6455 §4.2.1, item 2
    cause: 'A WebSocket handshake without Host is accepted',
    fails: ['websocket.missing-host'],
    patch: withoutRule('host'),
  },
  'ws-invents-subprotocol': {
    cause: 'The 101 selects a subprotocol that nobody offered',
    fails: ['websocket.unoffered-subprotocol'],
    patch: addingLine('Sec-WebSocket-Protocol: chat'),
  },
  'ws-invents-extension': {
    cause: 'The 101 selects an extension that nobody offered',
    fails: ['websocket.unoffered-extension'],
    patch: addingLine('Sec-WebSocket-Extensions: x-unoffered'),
  },
  'ws-upgrades-without-connection': {
    cause: 'A WebSocket handshake without a Connection header is accepted',
    fails: ['websocket.missing-connection'],
    patch: onHead(withConnectionUpgrade),
  },
  'ws-wants-field-order': {
    cause: 'A WebSocket handshake with its headers in another order is refused',
    fails: ['websocket.other-order'],
    patch: onHead(withoutLateUpgrade),
  },
  'ws-reads-one-connection-line': {
    cause: 'A WebSocket handshake with Connection in two lines is refused',
    fails: ['websocket.connection-in-two-lines'],
    patch: onHead(withFirstConnection),
  },
  'ws-upgrades-http-1-0': {
    // RFC 6455 §4.2.1
    cause: 'A WebSocket handshake in HTTP/1.0 is accepted',
    changes: ['websocket.http-1-0'],
    patch: onHead((head) =>
      /^upgrade: *websocket/im.test(head) ? head.replace(/ HTTP\/1\.0/, ' HTTP/1.1') : head,
    ),
  },
  'ws-redirects-handshake': {
    cause: 'The WebSocket handshake is answered {status:301}, a redirect',
    changes: ['websocket.redirect'],
    alsoFails: { 'websocket.handshake': 'the plain handshake is redirected like the others' },
    patch: onAccepted(() => {
      const answer = asProblem(301)(upgradeRequired());
      return { accepted: false, answer: withField(answer, 'Location', '/elsewhere') };
    }),
  },
  'ws-upgrades-post': {
    cause: 'A WebSocket handshake by POST is accepted',
    fails: ['websocket.post'],
    patch: withoutRule('method'),
  },
  'ws-case-sensitive-tokens': {
    cause: 'A WebSocket handshake with its tokens in another letter case is refused',
    fails: ['websocket.other-spelling'],
    alsoFails: {
      'websocket.connection-in-two-lines': 'it takes Connection for one token, which two lines do not give',
    },
    patch: withRule((request) =>
      fieldValue(request, 'upgrade') === 'websocket' && fieldValue(request, 'connection') === 'Upgrade'
        ? null
        : problem('malformed'),
    ),
  },
  'ws-drops-plain-http': {
    cause: 'A plain GET of the WebSocket address gets no response',
    fails: ['websocket.plain-http'],
    patch: onAnswer('upgrade-required', dropped, (request) => listMembers(request, 'upgrade').length === 0),
  },
  'ws-refuses-handshake': {
    cause: 'A right WebSocket handshake is answered {status:400}',
    fails: ['websocket.handshake'],
    patch: withRule(() => problem('malformed')),
  },
  'ws-repeats-accept': {
    cause: 'Sec-WebSocket-Accept is the same on every connection',
    fails: ['websocket.accept-per-connection'],
    alsoFails: { 'websocket.accept': 'the value fits the first connection alone' },
    patch: repeatingAccept,
  },
  'ws-omits-upgrade-field': {
    cause: 'The 101 has no Upgrade header',
    fails: ['websocket.upgrade-field'],
    patch: omittingLine(/^upgrade:/i),
  },
  'ws-omits-connection-field': {
    cause: 'The 101 has no Connection header',
    fails: ['websocket.connection-field'],
    patch: omittingLine(/^connection:/i),
  },
  'ws-wants-handshake-whole': {
    cause: 'A WebSocket handshake that comes in pieces is refused',
    fails: ['websocket.octet-by-octet'],
    patch: onFirstOctets((text, segments) => (segments > 3 && /^upgrade:/im.test(text) ? `? ${text}` : text)),
  },
  'ws-needs-no-upgrade': {
    cause: 'A WebSocket handshake without Upgrade is accepted',
    fails: ['websocket.upgrade-left-out'],
    patch: onHead((head) =>
      /^sec-websocket-key:/im.test(head) && !/^upgrade:/im.test(head)
        ? `${head}\r\nUpgrade: websocket`
        : head,
    ),
  },
  'ws-selects-no-subprotocol': {
    setting: 'graphql',
    cause: 'None of the offered subprotocols is selected',
    fails: ['websocket.subprotocol-selected'],
    patch: omittingLine(/^sec-websocket-protocol:/i),
  },
  'ws-upgrades-plain-get': {
    cause: 'A plain GET of the WebSocket address is answered 101',
    fails: ['websocket.missing-upgrade'],
    patch: onHead(withHandshake),
  },
  'ws-upgrades-any-protocol': {
    cause: 'An upgrade to another protocol is accepted as WebSocket',
    fails: ['websocket.other-upgrade'],
    patch: onHead((head) => head.replace(/^upgrade:[^\r]*/im, 'Upgrade: websocket')),
  },
  'ws-unoffered-window-bits': {
    cause: 'The answer to permessage-deflate has a parameter that was not offered',
    fails: ['websocket.deflate-answer'],
    patch: onSwitchingLine((line) =>
      line.replace(/^(sec-websocket-extensions:(?!.*client_max).*)$/i, '$1; client_max_window_bits=12'),
    ),
  },
});
