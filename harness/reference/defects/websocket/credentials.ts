import type { HandshakeRule } from '../../behavior/behavior.ts';
import { type Defect, REALTIME, tableOf } from '../../behavior/deviation.ts';
import { inWebSocket } from '../../behavior/patches/parts.ts';
import { onAnswer, onHead, type Patch, together } from '../../behavior/patches/patch.ts';
import {
  closingWithCode,
  keyFromSubprotocol,
  onSwitching,
  withoutRule,
} from '../../behavior/patches/websocket.ts';
import { REVOKED_KEY } from '../../credentials.ts';
import type { HttpAnswer } from '../../http/answer.ts';
import { lacking, withMembers } from '../../http/answer-changes.ts';
import { fieldValue, queryParameters } from '../../http/message.ts';

/** Changes how handshakes with a bad credential are refused; null lets them pass. */
const onRefusal = (
  change: (answer: HttpAnswer, ...of: Parameters<HandshakeRule['refuses']>) => HttpAnswer | null,
): Patch =>
  inWebSocket(({ rules }) => ({
    rules: rules.map((rule): HandshakeRule => {
      if (rule.name !== 'credential') return rule;
      return {
        ...rule,
        refuses: (...of) => {
          const answer = rule.refuses(...of);
          return answer === null ? null : change(answer, ...of);
        },
      };
    }),
  }));

export const WEBSOCKET_CREDENTIAL_DEFECTS = tableOf<Defect>(REALTIME, {
  'ws-accepts-without-credential': {
    cause: 'A WebSocket handshake without a credential is accepted',
    fails: ['websocket.missing-credential'],
    patch: withoutRule('credential'),
  },
  'ws-101-then-close': {
    cause: 'A refused WebSocket client gets 101 and a close, not an HTTP error',
    fails: ['websocket.refusal-before-opening'],
    patch: closingWithCode(1008),
  },
  'ws-accepts-any-origin': {
    setting: 'origin',
    cause: 'Pages of every origin may open a WebSocket',
    fails: ['websocket.foreign-origin'],
    patch: withoutRule('origin'),
  },
  'ws-accepts-any-key': {
    cause: 'A WebSocket handshake with a wrong key is accepted',
    fails: ['websocket.wrong-credential'],
    patch: onRefusal((answer) => (answer.responseKind === 'wrong-credential' ? null : answer)),
  },
  'ws-accepts-revoked-key': {
    setting: 'revoked keys',
    cause: 'A WebSocket handshake with a key that was revoked is accepted',
    fails: ['websocket.refused-keys'],
    patch: onRefusal((answer, request) =>
      fieldValue(request, 'authorization')?.endsWith(REVOKED_KEY) ? null : answer,
    ),
  },
  'ws-accepts-key-prefix': {
    cause: 'A WebSocket handshake with the first part of the key is accepted',
    fails: ['websocket.near-credential'],
    patch: onRefusal((answer, request, { access }) => {
      const [, presented = ''] = /^bearer +(.+)$/i.exec(fieldValue(request, 'authorization') ?? '') ?? [];
      const isPrefix = presented !== '' && access.keys.some(({ value }) => value.startsWith(presented));
      return isPrefix ? null : answer;
    }),
  },
  'ws-refusal-without-challenge': {
    cause: 'The 401 of a WebSocket handshake has no WWW-Authenticate header',
    fails: ['websocket.refusal-challenge'],
    patch: onRefusal(lacking('WWW-Authenticate')),
  },
  'ws-echoes-key': {
    cause: 'The refusal of a WebSocket handshake repeats the credential',
    fails: ['websocket.key-not-echoed'],
    patch: onAnswer('upgrade-required', (answer, request) =>
      withMembers(answer, { received: fieldValue(request, 'authorization') }),
    ),
  },
  'ws-accepts-key-in-query': {
    cause: 'A WebSocket handshake takes the key in the query as well, where logs keep it',
    fails: ['websocket.key-in-query'],
    patch: onRefusal((answer, request, { access }) => {
      const key = queryParameters(request.query).get('api_key');
      return access.keys.some(({ value }) => value === key) ? null : answer;
    }),
  },
  'ws-closes-with-other-code': {
    setting: 'close code',
    cause: 'A refused WebSocket client is closed with another code than configured',
    fails: ['websocket.refusal-code'],
    patch: closingWithCode(4000),
  },
  'ws-selects-key-as-subprotocol': {
    setting: 'key in subprotocol',
    cause: 'The 101 repeats the key as the selected subprotocol',
    fails: ['websocket.key-not-echoed'],
    patch: (behavior) => {
      let carried: string | null = null;
      return together(
        keyFromSubprotocol,
        onHead((head) => {
          carried = /^sec-websocket-protocol:.*(bearer\.[\w-]+)/im.exec(head)?.[1] ?? null;
          return head;
        }),
        onSwitching((lines) => {
          const others = lines.filter((line) => !/^sec-websocket-protocol:/i.test(line));
          return carried === null ? lines : [...others, `Sec-WebSocket-Protocol: ${carried}`];
        }),
      )(behavior);
    },
  },
});
