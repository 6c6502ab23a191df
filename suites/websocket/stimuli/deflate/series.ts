import { NotApplicable } from '../../../../harness/base/verdict.ts';
import { derived, type Probe } from '../../../../harness/engine/session/probe.ts';
import type { OpenConversation } from '../../../../harness/engine/session/websocket/open-conversation.ts';
import { OPCODE } from '../../../../harness/wire/conversation/frame.ts';
import { deflatedToEnd } from '../../../../harness/wire/conversation/inflation.ts';
import type { ConversationView } from '../../../../harness/wire/conversation/view.ts';
import type { FieldLine } from '../../../../harness/wire/exchange.ts';
import { echoes, echoesAsConfigured } from '../echo.ts';
import { taken } from '../ordinary-client.ts';
import { alongHandshake, type Exchange } from '../series.ts';

/** permessage-deflate (RFC 7692) as a plain offer agrees on it, and the messages that are said then. */

export const NAME = 'permessage-deflate';
/** §7.1: an offer without parameters. */
export const PLAIN: readonly FieldLine[] = [['Sec-WebSocket-Extensions', NAME]];

/** Who declines a plain offer will hardly take another, and is not bothered with them. */
export const compresses: Probe<ConversationView> = derived(
  'websocket-compresses',
  () => [deflateOffer],
  async ({ ask }) => {
    const offer = await ask(deflateOffer);
    if (!offer.isCompressing) throw new NotApplicable(`${NAME} is declined`);
    return offer;
  },
);

/** Long enough that servers which leave short messages uncompressed compress it; the second part repeats the first. */
const TEXT = 'conform looks at compressed messages. '.repeat(60);

/** Without repetition in it, so that only a look at the message before makes it short. */
export const NOVEL = Array.from({ length: 1_500 }, (_, index) => ((index * 7_919) % 94) + 33 + (index % 7))
  .map((code) => String.fromCharCode(Math.min(code, 126)))
  .join('');

const around =
  (between: (conversation: OpenConversation) => Promise<unknown>): Exchange =>
  async (conversation) => {
    await conversation.deflatedMessage('text', conversation.deflated(TEXT), 2, () => between(conversation));
    return conversation.returned(Buffer.from(TEXT));
  };

const series = alongHandshake({
  name: 'websocket-deflate-offer',
  stimulus: { purpose: 'a WebSocket handshake that offers permessage-deflate', fields: PLAIN },
  held: taken,
  when: echoesAsConfigured,
  fits: (conversation) => conversation.isCompressing,
  fields: PLAIN,
  twins: [echoes, compresses],
  exchanges: {
    'websocket-deflate-echo': [
      'a compressing WebSocket with a compressed message',
      (conversation) => conversation.deflatedEcho('text', TEXT),
    ],
    // §7.2.3.2: the second message is nothing but a reference to the first, unless the service does without them.
    'websocket-deflate-context': [
      'a compressing WebSocket with a compressed message that refers to the one before',
      async (conversation) =>
        (await conversation.deflatedEcho('text', NOVEL)) && (await conversation.deflatedEcho('text', NOVEL)),
    ],
    'websocket-deflate-plain': [
      'a compressing WebSocket with a message that is not compressed',
      (conversation) => conversation.echo('text', 'conform'),
    ],
    // §7.2.3.6
    'websocket-deflate-empty': [
      'a compressing WebSocket with an empty compressed message',
      (conversation) => conversation.deflatedEcho('text', ''),
    ],
    'websocket-deflate-fragments': [
      'a compressing WebSocket with a compressed message in three fragments',
      (conversation) => conversation.deflatedEcho('text', TEXT, 3),
    ],
    'websocket-deflate-around-ping': [
      'a compressing WebSocket with a Ping within a compressed message',
      around((conversation) => conversation.ping('within')),
    ],
    'websocket-deflate-around-pong': [
      'a compressing WebSocket with a Pong within a compressed message',
      around((conversation) => conversation.frame(OPCODE.pong, 'within')),
    ],
    // §7.2.3.4
    'websocket-deflate-final-block': [
      'a compressing WebSocket with a compressed message whose block is marked as the last',
      async (conversation) => {
        await conversation.deflatedMessage('text', deflatedToEnd(Buffer.from(TEXT)));
        return conversation.returned(Buffer.from(TEXT));
      },
    ],
  },
});

export const deflateOffer = series.handshake;
export const deflatedEcho = series.of('websocket-deflate-echo');
export const contextEcho = series.of('websocket-deflate-context');
export const plainEcho = series.of('websocket-deflate-plain');
export const emptyEcho = series.of('websocket-deflate-empty');
export const fragmentedEcho = series.of('websocket-deflate-fragments');
export const echoAroundPing = series.of('websocket-deflate-around-ping');
export const echoAroundPong = series.of('websocket-deflate-around-pong');

export const finalBlockEcho = series.of('websocket-deflate-final-block');
