import { check } from '../../harness/check/check.ts';
import { hasWebSocket } from '../../harness/check/requirement.ts';
import { clause, rfc6455, rfc9110 } from '../../harness/contract/ground.ts';
import { closes } from '../../harness/probe/websocket/closing.ts';
import * as handshake from '../../harness/probe/websocket/handshake.ts';
import { opening, taken } from '../../harness/probe/websocket/websocket.ts';

const applies = [hasWebSocket];

/** §4.2.2, item 5: a server that takes the handshake answers it with 101. */
export const firstHandshakeCheck = check(
  'websocket.handshake',
  {
    title: 'opens a WebSocket at the configured address',
    grounds: [clause('websocket.transport'), clause('websocket.address'), rfc6455('4.2.2', 'MUST')],
    applies,
    provenBy: ['ws-refuses-handshake'],
  },
  async ({ probe, expectConversation }) => {
    expectConversation(await probe(opening)).toBeOpened();
  },
);

/** How the service answers an opening handshake that is in order, in whatever form it comes (RFC 6455 §4). */
export const handshakeChecks = [
  // §4.2.2, item 5.4: SHA-1 of the key and the GUID, in base64.
  check(
    'websocket.accept',
    {
      title: 'answers with the Sec-WebSocket-Accept that the key calls for',
      grounds: [rfc6455('4.2.2', 'MUST')],
      applies,
      provenBy: ['ws-wrong-accept'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(taken)).toConform('the accept value of the key', (conversation) =>
        conversation.acceptIsRight ? null : (conversation.accept ?? 'none'),
      );
    },
  ),

  // §4.2.2, item 5.4: each handshake has a key of its own.
  check(
    'websocket.accept-per-connection',
    {
      title: 'computes Sec-WebSocket-Accept anew for each connection',
      grounds: [rfc6455('4.2.2', 'MUST')],
      applies,
      provenBy: ['ws-repeats-accept'],
    },
    async ({ probe, expectConversation }) => {
      const first = await probe(taken);
      expectConversation(...(await probe(closes))).toConform('another accept value', ({ accept }) =>
        accept !== null && accept === first.accept ? 'that of the first connection' : null,
      );
    },
  ),

  // §4.2.2, item 5.2.
  check(
    'websocket.upgrade-field',
    {
      title: 'says Upgrade: websocket in its 101',
      grounds: [rfc6455('4.2.2', 'MUST')],
      applies,
      provenBy: ['ws-omits-upgrade-field'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(taken)).toConform('Upgrade: websocket', ({ handshake }) => {
        const value = handshake?.field('upgrade');
        return value?.toLowerCase() === 'websocket' ? null : (value ?? 'none');
      });
    },
  ),

  // §4.2.2, item 5.3.
  check(
    'websocket.connection-field',
    {
      title: 'says Connection: Upgrade in its 101',
      grounds: [rfc6455('4.2.2', 'MUST')],
      applies,
      provenBy: ['ws-omits-connection-field'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(taken)).toConform('the token Upgrade in Connection', ({ handshake }) => {
        const value = handshake?.field('connection');
        const tokens = (value ?? '').split(',').map((token) => token.trim().toLowerCase());
        return tokens.includes('upgrade') ? null : (value ?? 'none');
      });
    },
  ),

  // §4.2.1, items 3 and 4; RFC 9110 §5.1 for the field names.
  check(
    'websocket.other-spelling',
    {
      title: 'takes field names and tokens of the handshake in any letter case',
      grounds: [rfc6455('4.2.1', 'MUST')],
      applies,
      provenBy: ['ws-case-sensitive-tokens'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(handshake.otherSpelling)).toBeOpened();
    },
  ),

  // RFC 9110 §5.3.
  check(
    'websocket.other-order',
    {
      title: 'takes the fields of the handshake in any order',
      grounds: [rfc9110('5.3', 'MUST')],
      applies,
      provenBy: ['ws-wants-field-order'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(handshake.otherOrder)).toBeOpened();
    },
  ),

  // RFC 9110 §5.3: `Connection` is a list, whose members may stand in one line each.
  check(
    'websocket.connection-in-two-lines',
    {
      title: 'takes a handshake whose Connection comes in two lines',
      grounds: [rfc9110('5.3', 'MUST')],
      applies,
      provenBy: ['ws-reads-one-connection-line'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(handshake.connectionInTwoLines)).toBeOpened();
    },
  ),

  // §1.5, §5.2: both are sequences of octets; how TCP cuts them has no meaning.
  check(
    'websocket.octet-by-octet',
    {
      title: 'takes a handshake and a Ping that come octet by octet',
      grounds: [rfc6455('4.2.1', 'MUST')],
      applies,
      provenBy: ['ws-wants-handshake-whole'],
    },
    async ({ probe, expectConversation }) => {
      const piecemeal = await probe(handshake.octetByOctet);
      expectConversation(piecemeal).toBeOpened();
      expectConversation(piecemeal).toAnswerPings();
    },
  ),
];
