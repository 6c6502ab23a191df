import { check, observation, practice, rfc6455 } from '../../harness/check/suite.ts';
import * as handshake from '../../harness/probe/websocket/handshake-forms.ts';
import { opening } from '../../harness/probe/websocket/ordinary-client.ts';

/** Handshakes that are no good (RFC 6455 §4.2). Each is paired with an ordinary one, which must be taken. */
export const handshakeRefusalChecks = [
  // §4.2.2, item 4: an unknown version is refused with an HTTP error.
  check('websocket.other-version', {
    title: 'refuses a version of the protocol that nobody speaks',
    grounds: [rfc6455('4.2.2', 'MUST')],
    judge: ({ expect }) => expect(handshake.otherVersion).toBeRefused(),
  }),

  // §4.2.2, item 4 and §4.4: the refusal names the versions that the server speaks. Its status is free.
  check('websocket.supported-version', {
    title: 'names the version that it speaks when it refuses another',
    grounds: [rfc6455('4.4', 'MUST')],
    judge: ({ expect }) =>
      expect(handshake.otherVersion)
        .where(({ opened, status }) => !opened && status !== null, 'no version was refused')
        .toConform('13 in Sec-WebSocket-Version', ({ handshake: answer }) => {
          if (answer?.elements('sec-websocket-version').includes('13')) return null;
          return `${answer?.field('sec-websocket-version') ?? 'none'} (status ${answer?.status})`;
        }),
  }),

  // §4.2.1, item 6: the version is required.
  check('websocket.missing-version', {
    title: 'refuses a handshake without a version',
    grounds: [rfc6455('4.2.1', 'MUST')],
    judge: ({ expect }) => expect(handshake.withoutVersion).toBeRefused(),
  }),

  // §4.2.1, item 5: so is the key.
  check('websocket.missing-key', {
    title: 'refuses a handshake without a key',
    grounds: [rfc6455('4.2.1', 'MUST')],
    judge: ({ expect }) => expect(handshake.withoutKey).toBeRefused(),
  }),

  // §4.2.1, item 5 wants 16 octets in base64, but §4.2.2 calls decoding the key unnecessary.
  observation('websocket.short-key', {
    title: 'looks at the length of the key, or does not',
    grounds: [rfc6455('4.2.2', 'MAY')],
    async observe({ probe }) {
      const { status } = await probe(handshake.shortKey);
      return { seen: status, note: status === null ? 'no answer' : `status ${status}` };
    },
  }),

  // §4.2.1, item 1: the method is GET.
  check('websocket.post', {
    title: 'refuses a handshake by POST',
    grounds: [rfc6455('4.2.1', 'MUST')],
    judge: ({ expect }) => expect(handshake.byPost).toBeRefused(),
  }),

  // §4.2.1, item 1: at least 1.1. Most servers do not look, and no client asks.
  observation('websocket.http-1-0', {
    title: 'refuses a handshake in HTTP/1.0, or takes it',
    grounds: [rfc6455('4.2.1', 'MAY')],
    async observe({ probe }) {
      const { status } = await probe(handshake.oldHttp);
      return { seen: status, note: status === null ? 'no answer' : `status ${status}` };
    },
  }),

  // §4.1: a client may follow a redirect; most do not.
  observation('websocket.redirect', {
    title: 'sends clients to another address, or takes them where they come',
    grounds: [rfc6455('4.1', 'MAY')],
    async observe({ probe }) {
      const { redirect } = await probe(opening);
      return { seen: redirect, note: redirect === null ? 'no redirect' : `to ${redirect}` };
    },
  }),

  // §4.2.1, item 4. A proxy in front of the service writes Connection itself, and lawfully so.
  check('websocket.missing-connection', {
    title: 'does not switch protocols without Connection: Upgrade',
    grounds: [rfc6455('4.2.1', 'MUST')],
    async judge({ probe, expect, notApplicable }) {
      const { opened } = await probe(handshake.withoutConnection);
      const intermediary = opened ? await probe(handshake.inFront) : null;
      if (intermediary !== null) {
        notApplicable(`a server in front may have added the field (${intermediary})`);
      }
      await expect(handshake.withoutConnection).toStayClosed();
    },
  }),

  // §4.2.1, item 3: who wants a WebSocket says so in Upgrade.
  check('websocket.missing-upgrade', {
    title: 'does not switch protocols for a plain GET',
    grounds: [rfc6455('4.2.1', 'MUST')],
    judge: ({ expect }) => expect(handshake.withoutUpgrade).toStayClosed(),
  }),

  // §4.2.1, item 3: and not another protocol.
  check('websocket.other-upgrade', {
    title: 'does not take another protocol for WebSocket',
    grounds: [rfc6455('4.2.1', 'MUST')],
    async judge({ probe, expect, notApplicable }) {
      const { opened } = await probe(handshake.otherUpgrade);
      const intermediary = opened ? await probe(handshake.inFront) : null;
      if (intermediary !== null) {
        notApplicable(`a server in front may have changed the field (${intermediary})`);
      }
      await expect(handshake.otherUpgrade).toStayClosed();
    },
  }),

  // 200, 400, 404, 405 and 426 are all in order; silence is not.
  check('websocket.plain-http', {
    title: 'answers a plain GET of its address with HTTP',
    grounds: [practice('orderly answers')],
    judge: ({ expect }) =>
      expect(handshake.withoutUpgrade).toConform('an HTTP answer', ({ status, conversation }) =>
        status === null ? (conversation.failure?.message ?? 'none') : null,
      ),
  }),
];
