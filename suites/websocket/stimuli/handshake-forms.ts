import { unlessInapplicable } from '../../../harness/base/verdict.ts';
import type { CredentialChoice } from '../../../harness/config/credential/placing.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import { connecting, derived, type Port, type Probe, risky } from '../../../harness/engine/session/probe.ts';
import type { Conversing } from '../../../harness/engine/session/websocket/conversation.ts';
import type { HandshakeStimulus } from '../../../harness/engine/session/websocket/handshake-stimulus.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { randomKey } from '../../../harness/wire/http/request.ts';
import { CLOSED_WITH_REASON, GOING_AWAY } from './errand.ts';
import { fitsPair, mayFitPair } from './message-pair.ts';
import { answersPings, conversed, held, heldWith, opening, taken } from './ordinary-client.ts';

/** The opening handshake in other forms, each sent only if the ordinary one is taken. */

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

type Form = Omit<HandshakeStimulus, 'purpose'>;

const form = (name: string, what: string, stimulus: Form, conversing?: Conversing) =>
  held(`websocket-${name}`, { purpose: `a WebSocket handshake ${what}`, ...stimulus }, conversing);
const risk = (...row: Parameters<typeof form>) => risky(form(...row));

export const oldHttp = form('http-1-0', 'in HTTP/1.0', { httpVersion: '1.0' });

export const octetByOctet = conversed(
  'websocket-octet-by-octet',
  { purpose: 'a WebSocket handshake and a Ping, octet by octet', octetByOctet: true },
  async (conversation) => {
    await conversation.ping('piecemeal', 1);
  },
  [answersPings],
);

export const otherVersion = form('other-version', 'with version 12', {
  fields: [['Sec-WebSocket-Version', '12']],
});
export const withoutVersion = risk('without-version', 'without a version', {
  without: ['sec-websocket-version'],
});
export const withoutKey = risk('without-key', 'without a key', { without: ['sec-websocket-key'] });
/** RFC 9112 §3.2 */
export const withoutHost = risk('without-host', 'without Host', { without: ['host'] });
export const shortKey = risk('short-key', 'with a key of 8 octets', {
  fields: [['Sec-WebSocket-Key', 'Y29uZm9ybXM=']],
});
export const byPost = risk('by-post', 'by POST', { method: 'POST', fields: [['Content-Length', '0']] });
export const withoutConnection = form('without-connection', 'without Connection: Upgrade', {
  fields: [['Connection', 'keep-alive']],
});
export const withoutUpgrade = held('websocket-without-upgrade', {
  purpose: 'a plain GET of the WebSocket address',
  without: ['upgrade', 'connection', 'sec-websocket-key', 'sec-websocket-version'],
});
/** In every other way it is one for a WebSocket. */
export const upgradeLeftOut = form('upgrade-left-out', 'without Upgrade', { without: ['upgrade'] });
export const otherUpgrade = form('other-upgrade', 'for another protocol', {
  fields: [['Upgrade', 'conform/1']],
});

const TELLING = [opening, withoutConnection, otherUpgrade, withoutUpgrade, otherVersion, withoutKey];
/** A server in front, by the answers to handshakes; null if unknown. Some name themselves only in refusals. */
export const inFront: Probe<string | null> = derived('websocket-in-front', TELLING, async ({ ask }) => {
  for (const each of TELLING) {
    const { intermediary } = await ask(each);
    if (intermediary !== null) return intermediary;
  }
  return null;
});

/** §4.1: a subprotocol is a token, and a space stands in none. */
export const badSubprotocol = risk('bad-subprotocol', 'that offers a subprotocol with a space in it', {
  fields: [['Sec-WebSocket-Protocol', 'conform bad']],
});

/** The service may open the connection and close it at once. */
const untilEnd: Conversing = (conversation) => conversation.end();

export const foreignOrigin = form(
  'foreign-origin',
  'from a page of another origin',
  { fields: [['Origin', 'https://conform.invalid']] },
  untilEnd,
);
export const keyInQuery = form(
  'key-in-query',
  'with the key in the query instead of the header',
  { credential: { placed: { in: 'query', name: 'api_key' } } },
  untilEnd,
);
export const keyInHeader = form(
  'key-in-header',
  'with the key in the header instead of the query',
  { credential: { placed: { in: 'authorization', name: 'Authorization' } } },
  untilEnd,
);

/** A message whose answer the config names shows whether a connection serves its client, and is not only open. */
const TRIED = 'conform: is anybody served?';

export function isKnownToAnswer({ websocket }: ServiceConfig): boolean {
  return websocket?.echo === true || (websocket?.exchange?.length ?? 0) > 0;
}

/** Unless the connection is ended, sends a message that is answered wherever clients are served. */
async function tryService(conversation: OpenConversation, { websocket }: ServiceConfig): Promise<void> {
  await conversation.end();
  if (websocket?.echo) return void (await conversation.echo('text', TRIED));
  const [pair] = websocket?.exchange ?? [];
  if (pair === undefined) return;
  await conversation.text(pair.send);
  await conversation.message('for the answer', (message) => mayFitPair(message, pair));
}

/** The answer to that message, in words; null if none. */
export function serviceShown({ echoes, messages }: ConversationView, { websocket }: ServiceConfig) {
  if (websocket?.echo) return echoes.some(({ isSame }) => isSame) ? 'the message back' : null;
  const [pair] = websocket?.exchange ?? [];
  const isAnswered = pair !== undefined && messages.some((message) => fitsPair(message, pair));
  return isAnswered ? 'the answer of the config to its message' : null;
}

/** A handshake with another credential, and whether the connection that it opens serves the client. */
function tried(
  { config, websocket }: Pick<Port, 'config' | 'websocket'>,
  what: string,
  credential: CredentialChoice,
) {
  const stimulus = { purpose: `a WebSocket handshake ${what}`, credential };
  return websocket.converse(stimulus, (conversation) => tryService(conversation, config));
}

export const withoutCredential = connecting(
  'websocket-without-credential',
  { needs: [taken] },
  async (port) => {
    await port.ask(taken);
    return tried(port, 'without a credential', 'none');
  },
);
export const wrongCredential = connecting('websocket-wrong-credential', { needs: [taken] }, async (port) => {
  await port.ask(taken);
  return tried(port, 'with a wrong key', { wrong: 'wrong' });
});

/** Keys that are nearly right. */
const NEARLY = [
  ['with the key cut short', 'truncated'],
  ['with the key and a suffix', 'extended'],
  ['with an empty key', 'empty'],
  ['with the key in other letter case', 'case-flipped'],
] as const;

/** Those that the scheme and the key do not have are left out. */
export const nearCredentials = connecting(
  'websocket-near-credentials',
  { needs: [taken], cost: NEARLY.length, credential: 'wrong' },
  async (port) => {
    await port.ask(taken);
    const held = await Promise.all(
      NEARLY.map(([what, wrong]) => tried(port, what, { wrong }).catch(unlessInapplicable)),
    );
    return held.filter((conversation) => conversation !== null);
  },
);

/** With each of the keys that the config says must be refused. */
export const refusedKeys = connecting(
  'websocket-refused-keys',
  { needs: [taken], cost: ({ credentials }) => credentials.refused.length, credential: 'wrong' },
  async (port) => {
    await port.ask(taken);
    return Promise.all(
      port.config.credentials.refused.map(({ position, because }, index) =>
        tried(port, `with refused key ${position} (${because})`, { refused: index }),
      ),
    );
  },
);

/** Handshakes whose credential must not be accepted. */
export const refusals = derived(
  'websocket-refusals',
  [taken, withoutCredential, wrongCredential],
  async ({ ask }) => {
    await ask(taken);
    return Promise.all([ask(withoutCredential), ask(wrongCredential)]);
  },
);
