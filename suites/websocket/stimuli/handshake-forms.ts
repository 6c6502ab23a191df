import { unlessInapplicable } from '../../../harness/base/verdict.ts';
import { connecting, derived, type Probe, risky } from '../../../harness/engine/session/probe.ts';
import type { HandshakeStimulus } from '../../../harness/engine/session/websocket/handshake-stimulus.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { randomKey } from '../../../harness/wire/http/request.ts';
import { CLOSED_WITH_REASON, GOING_AWAY } from './errand/errands.ts';
import { answersPings, conversed, held, heldWith, opening, taken } from './ordinary-client.ts';
import { tryService } from './service-shown.ts';

export const BAD_SUBPROTOCOL = 'conform bad';

/** The opening handshake in other forms, each asked only when the ordinary one is taken. */

export const otherSpelling = heldWith(
  'websocket-other-spelling',
  {
    purpose: 'a WebSocket handshake with field names and tokens in other letter case',
    fields: [
      ['upgrade', 'WebSocket'],
      ['connection', 'keep-alive, UPGRADE'],
      ['sec-websocket-key', randomKey()],
      ['sec-websocket-version', '13'],
    ],
  },
  GOING_AWAY,
);

/** RFC 9110 §5.3: the order of fields with different names has no meaning. */
export const otherOrder = heldWith(
  'websocket-other-order',
  {
    purpose: 'a WebSocket handshake whose fields come in another order',
    fields: [
      ['Sec-WebSocket-Version', '13'],
      ['Sec-WebSocket-Key', randomKey()],
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
    ],
  },
  CLOSED_WITH_REASON,
);
/** §4.2.1, item 1: 1.1 or higher. */
export const oldHttp = held('websocket-http-1-0', {
  purpose: 'a WebSocket handshake in HTTP/1.0',
  httpVersion: '1.0',
});

/** How TCP cuts octets says nothing: neither handshake nor frames need come whole. */
export const octetByOctet = conversed(
  'websocket-octet-by-octet',
  { purpose: 'a WebSocket handshake and a Ping, octet by octet', octetByOctet: true },
  async (conversation) => {
    await conversation.ping('piecemeal', 1);
  },
  [answersPings],
);

export const otherVersion = held('websocket-other-version', {
  purpose: 'a WebSocket handshake with version 12',
  fields: [['Sec-WebSocket-Version', '12']],
});
export const withoutVersion = risky(
  held('websocket-without-version', {
    purpose: 'a WebSocket handshake without a version',
    without: ['sec-websocket-version'],
  }),
);
export const withoutKey = risky(
  held('websocket-without-key', {
    purpose: 'a WebSocket handshake without a key',
    without: ['sec-websocket-key'],
  }),
);
/** RFC 9112 §3.2: Host is left out. */
export const withoutHost = risky(
  held('websocket-without-host', { purpose: 'a WebSocket handshake without Host', without: ['host'] }),
);
export const shortKey = risky(
  held('websocket-short-key', {
    purpose: 'a WebSocket handshake with a key of 8 octets',
    fields: [['Sec-WebSocket-Key', 'Y29uZm9ybXM=']],
  }),
);
export const byPost = risky(
  held('websocket-by-post', {
    purpose: 'a WebSocket handshake by POST',
    method: 'POST',
    fields: [['Content-Length', '0']],
  }),
);
export const withoutConnection = held('websocket-without-connection', {
  purpose: 'a WebSocket handshake without Connection: Upgrade',
  fields: [['Connection', 'keep-alive']],
});
export const withoutUpgrade = held('websocket-without-upgrade', {
  purpose: 'a plain GET of the WebSocket address',
  without: ['upgrade', 'connection', 'sec-websocket-key', 'sec-websocket-version'],
});
export const otherUpgrade = held('websocket-other-upgrade', {
  purpose: 'a WebSocket handshake for another protocol',
  fields: [['Upgrade', 'conform/1']],
});
/** What any answer to a handshake tells of a server in front; null for nothing. Some say who they are in refusals alone. */
export const inFront: Probe<string | null> = derived(
  'websocket-in-front',
  [opening, withoutConnection, otherUpgrade, withoutUpgrade, otherVersion, withoutKey],
  async ({ ask }) => {
    for (const each of [opening, withoutConnection, otherUpgrade, withoutUpgrade, otherVersion, withoutKey]) {
      const { intermediary } = await ask(each);
      if (intermediary !== null) return intermediary;
    }
    return null;
  },
);
/** §4.1: a subprotocol is a token, and a space stands in none. */
export const badSubprotocol = risky(
  held('websocket-bad-subprotocol', {
    purpose: 'a WebSocket handshake that offers a subprotocol with a space in it',
    fields: [['Sec-WebSocket-Protocol', BAD_SUBPROTOCOL]],
  }),
);
/** What comes of it besides the answer is waited for: the service may open the connection and close it at once. */
export const foreignOrigin = held(
  'websocket-foreign-origin',
  {
    purpose: 'a WebSocket handshake from a page of another origin',
    fields: [['Origin', 'https://conform.invalid']],
  },
  (conversation) => conversation.end(),
);

/** With a credential that is not right, or not in its place. What comes of it besides the answer is waited for. */

export const withoutCredential = tried('websocket-without-credential', {
  purpose: 'a WebSocket handshake without a credential',
  credential: 'none',
});
export const wrongCredential = tried('websocket-wrong-credential', {
  purpose: 'a WebSocket handshake with a wrong key',
  credential: { wrong: 'wrong' },
});

/** A handshake, and whether what it opened serves the client. */
function tried(name: string, stimulus: HandshakeStimulus): Probe<ConversationView> {
  return connecting(name, { needs: [taken] }, async ({ ask, config, websocket }) => {
    await ask(taken);
    return websocket.converse(stimulus, (conversation) => tryService(conversation, config));
  });
}

/** Nearly right; those that the scheme and the key do not have are left out. */
const NEARLY: readonly (readonly [
  purpose: string,
  wrong: 'truncated' | 'extended' | 'empty' | 'case-flipped',
])[] = [
  ['with the key cut short', 'truncated'],
  ['with the key and a suffix', 'extended'],
  ['with an empty key', 'empty'],
  ['with the key in other letter case', 'case-flipped'],
];

export const nearCredentials: Probe<readonly ConversationView[]> = connecting(
  'websocket-near-credentials',
  { needs: [taken], cost: NEARLY.length, credential: 'wrong' },
  async ({ ask, config, websocket }) => {
    await ask(taken);
    const held = await Promise.all(
      NEARLY.map(([what, wrong]) =>
        websocket
          .converse({ purpose: `a WebSocket handshake ${what}`, credential: { wrong } }, (conversation) =>
            tryService(conversation, config),
          )
          .catch(unlessInapplicable),
      ),
    );
    return held.filter((conversation) => conversation !== null);
  },
);

/** With each of the keys that the config says must be refused. */
export const refusedKeys: Probe<readonly ConversationView[]> = connecting(
  'websocket-refused-keys',
  { needs: [taken], cost: ({ credentials }) => credentials.refused.length, credential: 'wrong' },
  async ({ ask, config, websocket }) => {
    await ask(taken);
    return Promise.all(
      config.credentials.refused.map(({ position, because }, index) =>
        websocket.converse(
          {
            purpose: `a WebSocket handshake with refused key ${position} (${because})`,
            credential: { refused: index },
          },
          (conversation) => tryService(conversation, config),
        ),
      ),
    );
  },
);

export const keyInQuery = held(
  'websocket-key-in-query',
  {
    purpose: 'a WebSocket handshake with the key in the query instead of the header',
    credential: { placed: { in: 'query', name: 'api_key' } },
  },
  (conversation) => conversation.end(),
);

export const keyInHeader = held(
  'websocket-key-in-header',
  {
    purpose: 'a WebSocket handshake with the key in the header instead of the query',
    credential: { placed: { in: 'authorization', name: 'Authorization' } },
  },
  (conversation) => conversation.end(),
);

/** Handshakes whose credential must not be accepted. */
export const refusals: Probe<readonly ConversationView[]> = derived(
  'websocket-refusals',
  [taken, withoutCredential, wrongCredential],
  async ({ ask }) => {
    await ask(taken);
    return Promise.all([ask(withoutCredential), ask(wrongCredential)]);
  },
);
