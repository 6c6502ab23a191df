import { check, clause, rfc6455, rfc9110 } from '../../harness/check/suite.ts';
import { closes } from '../../harness/probe/websocket/frames.ts';
import * as handshake from '../../harness/probe/websocket/handshake-forms.ts';
import { opening, taken } from '../../harness/probe/websocket/ordinary-client.ts';

/** §4.2.2, item 5: a server that takes the handshake answers it with 101. */
export const firstHandshakeCheck = check('websocket.handshake', {
  title: 'opens a WebSocket at the configured address',
  grounds: [clause('websocket.transport'), clause('websocket.address'), rfc6455('4.2.2', 'MUST')],
  judge: ({ expect }) => expect(opening).toBeOpened(),
});

/** How the service answers an opening handshake that is in order, in whatever form it comes (RFC 6455 §4). */
export const handshakeChecks = [
  // §4.2.2, item 5.4: SHA-1 of the key and the GUID, in base64.
  check('websocket.accept', {
    title: 'answers with the Sec-WebSocket-Accept that the key calls for',
    grounds: [rfc6455('4.2.2', 'MUST')],
    judge: ({ expect }) =>
      expect(taken).toConform('the accept value of the key', (conversation) =>
        conversation.acceptIsRight ? null : (conversation.accept ?? 'none'),
      ),
  }),

  // §4.2.2, item 5.4: each handshake has a key of its own.
  check('websocket.accept-per-connection', {
    title: 'computes Sec-WebSocket-Accept anew for each connection',
    grounds: [rfc6455('4.2.2', 'MUST')],
    async judge({ probe, expect }) {
      const { accept: first } = await probe(taken);
      await expect(closes).toConform('another accept value', ({ accept }) =>
        accept !== null && accept === first ? 'that of the first connection' : null,
      );
    },
  }),

  // §4.2.2, item 5.2: the field that is answered.
  check('websocket.upgrade-field', {
    title: 'says Upgrade: websocket in its 101',
    grounds: [rfc6455('4.2.2', 'MUST')],
    judge: ({ expect }) =>
      expect(taken).toConform('Upgrade: websocket', ({ handshake }) => {
        const value = handshake?.field('upgrade');
        return value?.toLowerCase() === 'websocket' ? null : (value ?? 'none');
      }),
  }),

  // §4.2.2, item 5.3: as a token of a list.
  check('websocket.connection-field', {
    title: 'says Connection: Upgrade in its 101',
    grounds: [rfc6455('4.2.2', 'MUST')],
    judge: ({ expect }) =>
      expect(taken).toConform('the token Upgrade in Connection', ({ handshake: answer }) => {
        const isThere = answer?.elements('connection').some((token) => token.toLowerCase() === 'upgrade');
        return isThere ? null : (answer?.field('connection') ?? 'none');
      }),
  }),

  // §4.2.1, items 3 and 4; RFC 9110 §5.1 for the field names.
  check('websocket.other-spelling', {
    title: 'takes field names and tokens of the handshake in any letter case',
    grounds: [rfc6455('4.2.1', 'MUST')],
    judge: ({ expect }) => expect(handshake.otherSpelling).toBeOpened(),
  }),

  // RFC 9110 §5.3: the order of fields with different names has no meaning.
  check('websocket.other-order', {
    title: 'takes the fields of the handshake in any order',
    grounds: [rfc9110('5.3', 'MUST')],
    judge: ({ expect }) => expect(handshake.otherOrder).toBeOpened(),
  }),

  // RFC 9110 §5.3: `Connection` is a list, whose members may stand in one line each.
  check('websocket.connection-in-two-lines', {
    title: 'takes a handshake whose Connection comes in two lines',
    grounds: [rfc9110('5.3', 'MUST')],
    judge: ({ expect }) => expect(handshake.connectionInTwoLines).toBeOpened(),
  }),

  // §1.5, §5.2: both are sequences of octets; how TCP cuts them has no meaning.
  check('websocket.octet-by-octet', {
    title: 'takes a handshake and a Ping that come octet by octet',
    grounds: [rfc6455('4.2.1', 'MUST')],
    async judge({ expect }) {
      await expect(handshake.octetByOctet).toBeOpened();
      await expect(handshake.octetByOctet).toAnswerPings();
    },
  }),
];
