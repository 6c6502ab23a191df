import {
  type ConversationView,
  check,
  observation,
  practice,
  rfc6455,
} from '../../harness/engine/check/suite.ts';
import { missingHost } from '../framing/framing.suite.ts';
import * as handshake from './stimuli/handshake-forms.ts';
import { opening } from './stimuli/ordinary-client.ts';

/** With which status it is answered. */
const told = ({ status }: ConversationView) => ({
  seen: status,
  note: status === null ? 'no answer' : `status ${status}`,
});

/** Handshakes that are no good (RFC 6455 §4.2). Each is paired with an ordinary one, which must be taken. */
export const handshakeRefusalChecks = [
  check('websocket.other-version', {
    title: 'refuses a version of WebSocket that does not exist',
    headline: 'A handshake of an unknown version gets {answer}',
    why: 'Client and service go on in different versions, and misread each other.',
    change: 'Answer 426 with Sec-WebSocket-Version: 13 to any other version.',
    grounds: [rfc6455('4.2.2', 'MUST')],
    uses: [handshake.otherVersion],
    judge: ({ expect }) => expect().toBeRefused(),
  }),

  // §4.2.2, item 4 and §4.4: the refusal names the versions that the server speaks. Its status is free.
  check('websocket.supported-version', {
    title: 'names the version that it speaks when it refuses another',
    headline: 'The refusal of a version does not name the right one: {got}',
    why: 'A client cannot find out which version to use.',
    change: 'Send Sec-WebSocket-Version: 13 with the refusal.',
    grounds: [rfc6455('4.4', 'MUST')],
    uses: [handshake.otherVersion],
    judge: ({ expect }) =>
      expect()
        .where(({ opened, status }) => !opened && status !== null, 'no version was refused')
        .toConform('13 in Sec-WebSocket-Version', ({ handshake: answer }) => {
          if (answer?.elements('sec-websocket-version').includes('13')) return null;
          return `${answer?.field('sec-websocket-version') ?? 'none'} (status ${answer?.status})`;
        }),
  }),

  // §4.2.1, item 6: the version is required.
  check('websocket.missing-version', {
    title: 'refuses a handshake without a version',
    headline: 'A handshake without a version gets {answer}',
    why: 'Whoever sends no version may not speak this one.',
    change: 'Answer 400 or 426 where Sec-WebSocket-Version is missing.',
    grounds: [rfc6455('4.2.1', 'MUST')],
    uses: [handshake.withoutVersion],
    judge: ({ expect }) => expect().toBeRefused(),
  }),

  // §4.2.1, item 5: so is the key.
  check('websocket.missing-key', {
    title: 'refuses a handshake without Sec-WebSocket-Key',
    headline: 'A handshake without Sec-WebSocket-Key gets {answer}',
    why: 'Without it the service cannot prove that it has read the handshake, and the client has to give up.',
    change: 'Answer 400 where Sec-WebSocket-Key is missing.',
    grounds: [rfc6455('4.2.1', 'MUST')],
    uses: [handshake.withoutKey],
    judge: ({ expect }) => expect().toBeRefused(),
  }),

  // §4.2.1, item 2, and RFC 9112 §3.2. Most libraries leave it to what stands before them.
  check('websocket.missing-host', {
    title: 'refuses a handshake without Host',
    headline: 'A handshake without Host gets {answer}',
    why: 'Without Host it is open which site was meant, and rules that go by the site do not hold.',
    change: 'Answer 400 where Host is missing, also to a handshake.',
    grounds: [practice('RFC 6455 §4.2.1 and RFC 9112 §3.2')],
    restsOn: [missingHost],
    uses: [handshake.withoutHost],
    judge: ({ expect }) => expect().toStayClosed(),
  }),

  // §4.2.1, item 5 wants 16 octets in base64, but §4.2.2 calls decoding the key unnecessary.
  observation('websocket.short-key', {
    title: 'accepts a Sec-WebSocket-Key that is too short, or refuses it',
    why: 'It shows how strictly the service reads a handshake.',
    grounds: [rfc6455('4.2.2', 'MAY')],
    uses: [handshake.shortKey],
    observe: async ({ probe }) => told(await probe(handshake.shortKey)),
  }),

  // §4.2.1, item 1: the method is GET.
  check('websocket.post', {
    title: 'refuses a handshake by POST',
    headline: 'A handshake by POST gets {answer}',
    why: 'Rules that guard GET do not see it, in proxies as in the service.',
    change: 'Answer 405 or 400 to a handshake that is no GET.',
    grounds: [rfc6455('4.2.1', 'MUST')],
    uses: [handshake.byPost],
    judge: ({ expect }) => expect().toBeRefused(),
  }),

  // §4.2.1, item 1: at least 1.1. Most servers do not look, and no client asks.
  observation('websocket.http-1-0', {
    title: 'refuses a handshake in HTTP/1.0, or accepts it',
    why: 'Some old proxies still speak HTTP/1.0.',
    grounds: [rfc6455('4.2.1', 'MAY')],
    uses: [handshake.oldHttp],
    observe: async ({ probe }) => told(await probe(handshake.oldHttp)),
  }),

  // §4.1: a client may follow a redirect; most do not.
  observation('websocket.redirect', {
    title: 'redirects clients to another address, or serves them where they come',
    why: 'Most WebSocket clients do not follow a redirect.',
    grounds: [rfc6455('4.1', 'MAY')],
    uses: [opening],
    async observe({ probe }) {
      const { redirect } = await probe(opening);
      return { seen: redirect, note: redirect === null ? 'no redirect' : `to ${redirect}` };
    },
  }),

  // §4.2.1, item 4. A proxy in front of the service writes Connection itself, and lawfully so.
  check('websocket.missing-connection', {
    title: 'does not switch protocols without Connection: Upgrade',
    headline: 'A handshake without Connection: Upgrade gets {answer}',
    why: 'A proxy that does not see the upgrade goes on reading HTTP, and mixes up what follows.',
    change: 'Answer 400 where Connection does not name Upgrade.',
    grounds: [rfc6455('4.2.1', 'MUST')],
    uses: [handshake.withoutConnection, handshake.inFront],
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
    headline: 'A plain GET of the WebSocket address gets {answer}',
    why: 'Browsers and monitors that ask for the address cannot read what comes.',
    change: 'Answer 101 only where Upgrade names websocket, and 426 or 404 otherwise.',
    grounds: [rfc6455('4.2.1', 'MUST')],
    uses: [handshake.withoutUpgrade],
    judge: ({ expect }) => expect().toStayClosed(),
  }),

  check('websocket.upgrade-left-out', {
    title: 'does not switch protocols without Upgrade',
    headline: 'A handshake without Upgrade gets {answer}',
    why: 'Proxies pass it on as an ordinary request, and cannot read what comes back.',
    change: 'Answer 400 or 426 where Upgrade does not name websocket, whatever else the request has.',
    grounds: [rfc6455('4.2.1', 'MUST')],
    uses: [handshake.upgradeLeftOut, handshake.inFront],
    async judge({ probe, expect, notApplicable }) {
      const { opened } = await probe(handshake.upgradeLeftOut);
      const intermediary = opened ? await probe(handshake.inFront) : null;
      if (intermediary !== null) {
        notApplicable(`a server in front may have added the field (${intermediary})`);
      }
      await expect(handshake.upgradeLeftOut).toStayClosed();
    },
  }),

  // §4.2.1, item 3: and not another protocol.
  check('websocket.other-upgrade', {
    title: 'does not take another protocol for WebSocket',
    headline: 'A handshake for another protocol gets {answer}',
    why: 'The client speaks another protocol, and cannot read a single byte.',
    change: 'Answer 101 only where Upgrade names websocket.',
    grounds: [rfc6455('4.2.1', 'MUST')],
    uses: [handshake.otherUpgrade, handshake.inFront],
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
    headline: 'A plain GET of the WebSocket address is not answered: {got}',
    why: 'Monitors, and people with a browser, take the service for down.',
    change: 'Answer 426 or 404 instead of closing the connection.',
    grounds: [practice('orderly answers')],
    uses: [handshake.withoutUpgrade],
    judge: ({ expect }) =>
      expect().toConform('an HTTP answer', ({ status, conversation }) =>
        status === null ? (conversation.failure?.message ?? 'none') : null,
      ),
  }),
];
