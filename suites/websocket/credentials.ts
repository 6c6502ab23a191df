import { check, observation } from '../../harness/check/check.ts';
import { hasWebSocket } from '../../harness/check/requirement.ts';
import {
  handshakeCredential,
  keyInHeader,
  keyInQuery,
  noRefusalCode,
  refusalCode,
} from '../../harness/check/websocket-requirement.ts';
import { clause, practice, rfc9110 } from '../../harness/contract/ground.ts';
import type { ConversationView } from '../../harness/evidence/conversation/view.ts';
import {
  keyInHeader as handshakeKeyInHeader,
  keyInQuery as handshakeKeyInQuery,
  nearCredentials,
  otherVersion,
  refusals,
  withoutCredential,
  wrongCredential,
} from '../../harness/probe/websocket/handshake.ts';
import { taken } from '../../harness/probe/websocket/websocket.ts';

const applies = [hasWebSocket, handshakeCredential];

/** Who may connect. A service may refuse the handshake, or open it and close it at once: equal security. */
export const credentialChecks = [
  check(
    'websocket.missing-credential',
    {
      title: 'turns away a handshake without a credential',
      grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
      applies,
      provenBy: ['ws-accepts-without-credential'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(withoutCredential)).toBeTurnedAway();
    },
  ),

  check(
    'websocket.wrong-credential',
    {
      title: 'turns away a handshake with a wrong key',
      grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
      applies,
      provenBy: ['ws-accepts-any-key'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(wrongCredential)).toBeTurnedAway();
    },
  ),

  check(
    'websocket.near-credential',
    {
      title: 'turns away a handshake with a key that is nearly right',
      grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
      applies,
      provenBy: ['ws-accepts-key-prefix'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(nearCredentials))).toBeTurnedAway();
    },
  ),

  // RFC 6455 §4.2.2, item 2: the server may authenticate the client, with 401. What opens first has a door open.
  check(
    'websocket.refusal-before-opening',
    {
      title: 'refuses a bad credential with an HTTP error, before it switches protocols',
      grounds: [practice('OWASP API2:2023')],
      applies: [...applies, noRefusalCode],
      provenBy: ['ws-101-then-close'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(...(await probe(refusals))).toConform(
        'status 4xx',
        ({ status, closeCode, opened }) => {
          if (status !== null && status >= 400 && status < 500) return null;
          if (status === null) return 'no HTTP answer';
          return opened && closeCode !== null ? `101 and the close code ${closeCode}` : `status ${status}`;
        },
      );
    },
  ),

  // RFC 6455 §7.4.2: 4000 to 4999 are for those who agree on them.
  check(
    'websocket.refusal-code',
    {
      title: 'refuses a bad credential with an HTTP error, or with the documented close code',
      grounds: [clause('auth.scheme'), practice('documented close codes')],
      applies: [...applies, refusalCode],
      provenBy: ['ws-closes-with-other-code'],
    },
    async ({ service, probe, expectConversation }) => {
      const code = service.websocket?.refusalCode ?? null;
      expectConversation(...(await probe(refusals))).toConform(
        `status 4xx, or the close code ${code}`,
        ({ status, opened, isOver, closeCode, afterwards }) => {
          if (status !== null && status >= 400 && status < 500) return null;
          if (!opened) return status === null ? 'no HTTP answer' : `status ${status}`;
          if (closeCode === code) return null;
          return isOver ? `the close code ${closeCode ?? 'none'}` : `status 101 and ${afterwards}`;
        },
      );
    },
  ),

  // RFC 9110 §11.6.1: a 401 carries WWW-Authenticate with at least one challenge.
  check(
    'websocket.refusal-challenge',
    {
      title: 'sends a well-formed challenge with 401',
      grounds: [rfc9110('11.6.1', 'MUST')],
      applies,
      provenBy: ['ws-refusal-without-challenge'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      const unauthorised = (await probe(refusals)).filter(({ status }) => status === 401);
      if (unauthorised.length === 0) return notApplicable('no handshake was answered 401');
      expectConversation(...unauthorised).toConform('WWW-Authenticate with a challenge', ({ handshake }) => {
        if (!handshake) return 'no answer';
        const { challenges, faults } = handshake.challenges;
        return faults[0] ?? (challenges.length > 0 ? null : 'none');
      });
    },
  ),

  check(
    'websocket.key-not-echoed',
    {
      title: 'never sends a key, or part of one, back in its answer to a handshake',
      grounds: [practice('OWASP API8:2023')],
      applies,
      provenBy: ['ws-echoes-key', 'ws-selects-key-as-subprotocol'],
    },
    async ({ probe, expectConversation }) => {
      const conversations = [...(await probe(refusals)), await probe(taken), await probe(otherVersion)];
      expectConversation(...conversations).toConform('no credential in the answer', ({ handshake }) => {
        const place = handshake?.credentialTrace ?? null;
        return place === null ? null : `one in ${place}`;
      });
    },
  ),

  // Addresses end up in logs, histories and Referer fields.
  check(
    'websocket.key-in-query',
    {
      title: 'does not take the key from the query of the handshake where the header works',
      grounds: [practice('OWASP API2:2023')],
      applies: [hasWebSocket, handshakeCredential, keyInHeader],
      provenBy: ['ws-accepts-key-in-query'],
    },
    async ({ probe, expectConversation, notApplicable }) => {
      // Where no credential is asked for, the key in the query opens nothing.
      if (isServed(await probe(withoutCredential)))
        return notApplicable('no credential opens the connection as well');
      expectConversation(await probe(handshakeKeyInQuery)).toBeTurnedAway();
    },
  ),

  // Browsers cannot set header fields of a handshake; whatever else connects can, and should be able to.
  check(
    'websocket.key-needs-query',
    {
      title: 'takes the key of the handshake from the header as well, where clients send it in the query',
      grounds: [practice('OWASP API2:2023')],
      applies: [hasWebSocket, handshakeCredential, keyInQuery],
      provenBy: ['ws-key-in-query-only'],
    },
    async ({ probe, expectConversation }) => {
      expectConversation(await probe(handshakeKeyInHeader)).toConform('an open connection', (conversation) =>
        isServed(conversation)
          ? null
          : `${refusalOf(conversation)}: the key must be in the address, which logs keep`,
      );
    },
  ),

  observation(
    'websocket.refusal',
    {
      title: 'refuses a missing and a wrong credential each in one way',
      grounds: [clause('errors.codes')],
      applies,
      shownBy: ['refuses-403-for-wrong-key'],
    },
    async ({ probe, observe, note }) => {
      const missing = refusalOf(await probe(withoutCredential));
      const wrong = refusalOf(await probe(wrongCredential));
      observe('websocket.refusal', { missing, wrong });
      note(`missing ${missing}, wrong ${wrong}`);
    },
  ),
];

function isServed({ opened, isOver }: ConversationView): boolean {
  return opened && !isOver;
}

/** The status, or how the connection was closed after 101. */
function refusalOf(conversation: ConversationView): number | string {
  if (conversation.status === null) return 'no answer';
  if (!conversation.opened) return conversation.status;
  return conversation.isOver ? `101, then close code ${conversation.closeCode ?? 'none'}` : 'not refused';
}
