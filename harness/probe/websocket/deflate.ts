import { NotApplicable } from '../../base/verdict.ts';
import { OPCODE } from '../../evidence/conversation/frame.ts';
import type { ConversationView } from '../../evidence/conversation/view.ts';
import { type Probe, probe, risky } from '../../session/probe.ts';
import type { Conversing } from '../../session/websocket/conversation.ts';
import type { OpenConversation } from '../../session/websocket/open-conversation.ts';
import { Deflation, deflatedToEnd } from '../../transport/websocket/deflate.ts';
import { echoes } from './echo.ts';
import { deflateOffer } from './handshake-forms.ts';
import { alive } from './ordinary-client.ts';
import { type Exchange, inSeries } from './series.ts';
import { holdEach } from './side-by-side.ts';

/** permessage-deflate (RFC 7692): what is offered, and what is said where it was taken. */

const NAME = 'permessage-deflate';

/** Who declines a plain offer will hardly take another, and is not bothered with them. */
const compresses: Probe<ConversationView> = probe('websocket-compresses', async ({ ask }) => {
  const offer = await ask(deflateOffer);
  if (!offer.isCompressing) throw new NotApplicable(`${NAME} is declined`);
  return offer;
});

/** One handshake for each offer. */
function offered(name: string, ...offers: readonly string[]): Probe<readonly ConversationView[]> {
  return probe(name, async ({ ask, websocket }) => {
    await ask(compresses);
    return Promise.all(
      offers.map((offer) =>
        websocket.converse(
          {
            purpose: `a WebSocket handshake that offers ${offer}`,
            fields: [['Sec-WebSocket-Extensions', offer]],
          },
          async () => {},
        ),
      ),
    );
  });
}

/** §7.1: a parameter that does not exist, a value that is none, a parameter twice. */
export const unfitOffers = risky(
  offered(
    'websocket-deflate-unfit-offers',
    `${NAME}; conform_unknown`,
    `${NAME}; server_max_window_bits=7`,
    `${NAME}; server_max_window_bits`,
    `${NAME}; server_no_context_takeover; server_no_context_takeover`,
  ),
);
/** §7.1.1, §7.1.2: each parameter. */
export const serverContextOffer = offered(
  'websocket-deflate-server-context-offer',
  `${NAME}; server_no_context_takeover`,
);
export const serverWindowOffers = offered(
  'websocket-deflate-server-window-offers',
  ...[8, 15].map((bits) => `${NAME}; server_max_window_bits=${bits}`),
);
export const clientWindowOffers = offered(
  'websocket-deflate-client-window-offers',
  `${NAME}; client_max_window_bits`,
  ...[8, 15].map((bits) => `${NAME}; client_max_window_bits=${bits}`),
);
/** §5: offers in the order of preference. */
export const fallbackOffer = offered('websocket-deflate-fallback-offer', `${NAME}; conform_unknown, ${NAME}`);
/** §5.1: of several offers that are in order one is taken, or none. */
export const severalOffers = offered(
  'websocket-deflate-several-offers',
  `${NAME}; server_max_window_bits=12, ${NAME}; server_no_context_takeover`,
  `${NAME}; client_max_window_bits, ${NAME}`,
);

type Sending = readonly [purpose: string, conversing: Conversing];

/** Conversations in which permessage-deflate was agreed on; held only where the service takes it. */
function deflated(
  name: string,
  twin: Probe<unknown>,
  sendings: readonly Sending[],
  offer = NAME,
): Probe<readonly ConversationView[]> {
  return probe(name, async (port) => {
    await port.ask(twin);
    await port.ask(compresses);
    return holdEach(
      port,
      sendings.map(([purpose, conversing]) => [
        { purpose, fields: [['Sec-WebSocket-Extensions', offer]] },
        conversing,
      ]),
    );
  });
}

function ended(name: string, ...sendings: readonly Sending[]): Probe<readonly ConversationView[]> {
  const stimulus = deflated(
    name,
    alive,
    sendings.map(
      ([purpose, send]): Sending => [
        purpose,
        async (conversation) => {
          await send(conversation);
          await conversation.mustEnd();
        },
      ],
    ),
  );
  return risky(stimulus);
}

/** §6: RSV1 has its meaning on the first frame of a message, and on no other. */
export const reservedBitOnControl = ended('websocket-deflate-reserved-bit-on-control', [
  'a compressing WebSocket with RSV1 on a Ping',
  (conversation) => conversation.frame(OPCODE.ping, 'conform', { rsv: 4 }),
]);
export const reservedBitOnContinuation = ended('websocket-deflate-reserved-bit-on-continuation', [
  'a compressing WebSocket with RSV1 on a second fragment',
  async (conversation) => {
    await conversation.text('con', { fin: false });
    await conversation.frame(OPCODE.continuation, 'form', { rsv: 4 });
  },
]);
/** RFC 1951 §3.2.3: a block of type 11 does not exist. */
export const badData = ended('websocket-deflate-bad-data', [
  'a compressing WebSocket with a message that cannot be inflated',
  (conversation) => conversation.frame(OPCODE.binary, Uint8Array.of(0xff, 0xff, 0xff, 0xff), { rsv: 4 }),
]);

/** RFC 6455 §8.1: what comes of it is to be UTF-8, and begins with an octet that no text has. */
export const badUtf8 = ended('websocket-deflate-bad-utf8', [
  'a compressing WebSocket with compressed text that is not UTF-8',
  (conversation) =>
    conversation.deflatedMessage('text', conversation.deflated(Uint8Array.of(0xff, 0xfe, 0x63))),
]);

/** Long enough that servers which leave short messages uncompressed compress it; the second part repeats the first. */
const TEXT = 'conform looks at compressed messages. '.repeat(60);

function echoed(
  name: string,
  purpose: string,
  send: (conversation: OpenConversation) => Promise<unknown>,
  offer = NAME,
): Probe<readonly ConversationView[]> {
  const whole: Sending = [
    `a compressing WebSocket with ${purpose}`,
    async (conversation) => {
      await send(conversation);
      await conversation.close(1000);
    },
  ];
  return deflated(name, echoes, [whole], offer);
}

/** Without repetition in it, so that only a look at the message before makes it short. */
const NOVEL = Array.from({ length: 1_500 }, (_, index) => ((index * 7_919) % 94) + 33 + (index % 7))
  .map((code) => String.fromCharCode(Math.min(code, 126)))
  .join('');

const around =
  (between: (conversation: OpenConversation) => Promise<unknown>): Exchange =>
  async (conversation) => {
    await conversation.deflatedMessage('text', conversation.deflated(TEXT), 2, () => between(conversation));
    return conversation.returned(Buffer.from(TEXT));
  };

const series = inSeries({
  name: 'websocket-deflate-series',
  purpose: 'a compressing WebSocket with messages of many forms',
  fields: [['Sec-WebSocket-Extensions', NAME]],
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
  },
});

export const deflatedEcho = series('websocket-deflate-echo');
export const contextEcho = series('websocket-deflate-context');
export const plainEcho = series('websocket-deflate-plain');
export const emptyEcho = series('websocket-deflate-empty');
export const fragmentedEcho = series('websocket-deflate-fragments');
export const echoAroundPing = series('websocket-deflate-around-ping');
export const echoAroundPong = series('websocket-deflate-around-pong');

/** §7.2.3.4 */
export const finalBlockEcho = echoed(
  'websocket-deflate-final-block',
  'a compressed message whose block is marked as the last',
  async (conversation) => {
    await conversation.deflatedMessage('text', deflatedToEnd(Buffer.from(TEXT)));
    await conversation.returned(Buffer.from(TEXT));
  },
);
/** §7.1.1: neither side refers to messages before. */
export const withoutContextEcho = echoed(
  'websocket-deflate-without-context',
  'two equal compressed messages, without context takeover',
  async (conversation) =>
    (await conversation.deflatedEcho('text', NOVEL)) && (await conversation.deflatedEcho('text', NOVEL)),
  `${NAME}; server_no_context_takeover; client_no_context_takeover`,
);

/** §7.1.2.1: a second message like the first lies further back than the window of 512 octets reaches. */
export const smallWindowEcho = echoed(
  'websocket-deflate-small-window',
  'two equal messages, in a window of 512 octets',
  async (conversation) => {
    if (!conversation.isCompressing) return;
    if (await conversation.deflatedEcho('text', NOVEL)) await conversation.deflatedEcho('text', NOVEL);
  },
  `${NAME}; server_max_window_bits=9`,
);

/** Octets that a few compressed ones stand for: more than services take in a message, few enough to do no harm. */
export const BOMB_OCTETS = 64 * 1024 * 1024;
/** On the wire: what comes back of it is longer, a greeting or a complaint is shorter. */
export const BULK_OCTETS = 1024;

/** Inflated it is a thousand times as long. What comes back may be more than is heard out. */
export const bomb: Probe<ConversationView> = risky(
  probe('websocket-deflate-bomb', async ({ ask, websocket }) => {
    await ask(echoes);
    await ask(compresses);
    return websocket.converse(
      {
        purpose: 'a compressing WebSocket with a message of 64 KiB that stands for 64 MiB',
        fields: [['Sec-WebSocket-Extensions', NAME]],
      },
      async (conversation) => {
        await conversation.frame(OPCODE.binary, bombPayload(), { rsv: 4 });
        await conversation.bulk(BULK_OCTETS);
        await conversation.close(1000);
      },
    );
  }),
);

let bombOctets: Uint8Array | undefined;

function bombPayload(): Uint8Array {
  bombOctets ??= new Deflation(false).next(new Uint8Array(BOMB_OCTETS));
  return bombOctets;
}
