import { check, observation } from '../../harness/check/check.ts';
import { hasWebSocket } from '../../harness/check/requirement.ts';
import { practice, rfc6455 } from '../../harness/contract/ground.ts';
import * as handshake from '../../harness/probe/websocket/handshake.ts';
import { opening } from '../../harness/probe/websocket/websocket.ts';

const applies = [hasWebSocket];

/** Handshakes that are no good (RFC 6455 §4.2). Each is paired with an ordinary one, which must be taken. */
export const handshakeRefusalChecks = [
  // §4.2.2, item 4: an unknown version is refused with an HTTP error.
  check(
    'websocket.other-version',
    {
      title: 'refuses a version of the protocol that nobody speaks',
      grounds: [rfc6455('4.2.2', 'MUST')],
      applies,
      provenBy: ['ws-ignores-version'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(handshake.otherVersion)).toBeRefused();
    },
  ),

  // §4.2.2, item 4 and §4.4: the refusal names the versions that the server speaks. Its status is free.
  check(
    'websocket.supported-version',
    {
      title: 'names the version that it speaks when it refuses another',
      grounds: [rfc6455('4.4', 'MUST')],
      applies,
      provenBy: ['ws-version-refusal-without-header'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const refused = await probe(handshake.otherVersion);
      if (refused.opened || refused.handshake === null) return notApplicable('no version was refused');
      expectConversation(refused).toConform('13 in Sec-WebSocket-Version', ({ handshake }) => {
        const value = handshake?.field('sec-websocket-version');
        const versions = (value ?? '').split(',').map((version) => version.trim());
        return versions.includes('13') ? null : `${value ?? 'none'} (status ${handshake?.status})`;
      });
    },
  ),

  // §4.2.1, item 6.
  check(
    'websocket.missing-version',
    {
      title: 'refuses a handshake without a version',
      grounds: [rfc6455('4.2.1', 'MUST')],
      applies,
      provenBy: ['ws-ignores-version'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(handshake.withoutVersion)).toBeRefused();
    },
  ),

  // §4.2.1, item 5.
  check(
    'websocket.missing-key',
    {
      title: 'refuses a handshake without a key',
      grounds: [rfc6455('4.2.1', 'MUST')],
      applies,
      provenBy: ['ws-accepts-missing-key'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(handshake.withoutKey)).toBeRefused();
    },
  ),

  // §4.2.1, item 5 wants 16 octets in base64, but §4.2.2 calls decoding the key unnecessary.
  observation(
    'websocket.short-key',
    {
      title: 'looks at the length of the key, or does not',
      grounds: [rfc6455('4.2.2', 'MAY')],
      applies,
      shownBy: ['ws-accepts-missing-key'],
    },
    async ({ probe, observe, note }) => {
      const { status } = await probe(handshake.shortKey);
      observe('websocket.short-key', status);
      note(status === null ? 'no answer' : `status ${status}`);
    },
  ),

  // §4.2.1, item 1.
  check(
    'websocket.post',
    {
      title: 'refuses a handshake by POST',
      grounds: [rfc6455('4.2.1', 'MUST')],
      applies,
      provenBy: ['ws-upgrades-post'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(handshake.byPost)).toBeRefused();
    },
  ),

  // §4.2.1, item 1: at least 1.1. Most servers do not look, and no client asks.
  observation(
    'websocket.http-1-0',
    {
      title: 'refuses a handshake in HTTP/1.0, or takes it',
      grounds: [rfc6455('4.2.1', 'MAY')],
      applies,
      shownBy: ['ws-upgrades-http-1-0'],
    },
    async ({ probe, observe, note }) => {
      const { status } = await probe(handshake.oldHttp);
      observe('websocket.http-1-0', status);
      note(status === null ? 'no answer' : `status ${status}`);
    },
  ),

  // §4.1: a client may follow a redirect; most do not.
  observation(
    'websocket.redirect',
    {
      title: 'sends clients to another address, or takes them where they come',
      grounds: [rfc6455('4.1', 'MAY')],
      applies,
      shownBy: ['ws-redirects-handshake'],
    },
    async ({ probe, observe, note }) => {
      const { redirect } = await probe(opening);
      observe('websocket.redirect', redirect);
      note(redirect === null ? 'no redirect' : `to ${redirect}`);
    },
  ),

  // §4.2.1, item 4. A proxy in front of the service writes Connection itself, and lawfully so.
  check(
    'websocket.missing-connection',
    {
      title: 'does not switch protocols without Connection: Upgrade',
      grounds: [rfc6455('4.2.1', 'MUST')],
      applies,
      provenBy: ['ws-upgrades-without-connection'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const conversation = await probe(handshake.withoutConnection);
      if (conversation.opened && conversation.intermediary !== null) {
        return notApplicable(`a server in front may have added the field (${conversation.intermediary})`);
      }
      expectConversation(conversation).toStayClosed();
    },
  ),

  // §4.2.1, item 3.
  check(
    'websocket.missing-upgrade',
    {
      title: 'does not switch protocols for a plain GET',
      grounds: [rfc6455('4.2.1', 'MUST')],
      applies,
      provenBy: ['ws-upgrades-plain-get'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(handshake.withoutUpgrade)).toStayClosed();
    },
  ),

  // §4.2.1, item 3.
  check(
    'websocket.other-upgrade',
    {
      title: 'does not take another protocol for WebSocket',
      grounds: [rfc6455('4.2.1', 'MUST')],
      applies,
      provenBy: ['ws-upgrades-any-protocol'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const conversation = await probe(handshake.otherUpgrade);
      if (conversation.opened && conversation.intermediary !== null) {
        return notApplicable(`a server in front may have changed the field (${conversation.intermediary})`);
      }
      expectConversation(conversation).toStayClosed();
    },
  ),

  // 200, 400, 404, 405 and 426 are all in order; silence is not.
  check(
    'websocket.plain-http',
    {
      title: 'answers a plain GET of its address with HTTP',
      grounds: [practice('orderly answers')],
      applies,
      provenBy: ['ws-drops-plain-http'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(handshake.withoutUpgrade)).toConform(
        'an HTTP answer',
        ({ status, conversation }) => (status === null ? (conversation.failure?.message ?? 'none') : null),
      );
    },
  ),
];
