import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import { connecting, derived, type Probe, risky } from '../../../harness/engine/session/probe.ts';
import { type Conversing, requireHeardOut } from '../../../harness/engine/session/websocket/conversation.ts';
import type { HandshakeStimulus } from '../../../harness/engine/session/websocket/handshake-stimulus.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import { OPCODE } from '../../../harness/wire/conversation/frame.ts';
import { deflatedRepeatedly, deflatedToEnd } from '../../../harness/wire/conversation/inflation.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import type { FieldLine } from '../../../harness/wire/exchange.ts';
import { echoes, echoesAsConfigured } from './echo.ts';
import { carry, type Errand, onTheWay, type Ride, rideOf, runErrand } from './errand.ts';
import { alive, taken } from './ordinary-client.ts';
import { alongHandshake, type Exchange } from './series.ts';
import { keptTogether, makeRoom } from './side-by-side.ts';

/** permessage-deflate (RFC 7692): what is offered, and what is said if it was taken. */

export const NAME = 'permessage-deflate';

/** The offer of Chromium, and of libraries that let the service bound their window (§7.1.2.2). */
const BROWSERS = `${NAME}; client_max_window_bits`;

const fieldsOf = (offer: string): readonly FieldLine[] => [['Sec-WebSocket-Extensions', offer]];

/** The answers to a plain offer and, where that is not taken, to the one of browsers. */
export const commonOffers: Probe<readonly [plain: ConversationView, ...browsers: ConversationView[]]> =
  connecting(
    'websocket-deflate-common-offers',
    { needs: () => [deflateOffer], usualCost: 0 },
    async ({ ask, websocket }) => {
      const plain = await ask(deflateOffer);
      if (plain.isCompressing) return [plain];
      const purpose = 'a WebSocket handshake that offers permessage-deflate as browsers do';
      return [plain, await websocket.converse({ purpose, fields: fieldsOf(BROWSERS) })];
    },
  );

/** The offer that the service takes. One that declines both gets no other. */
export const compresses: Probe<string> = derived(
  'websocket-compresses',
  () => [commonOffers],
  async ({ ask }) => {
    const offers = await ask(commonOffers);
    if (!offers.some(({ isCompressing }) => isCompressing)) throw new NotApplicable(`${NAME} is declined`);
    return offers[0].isCompressing ? NAME : BROWSERS;
  },
);

/** A service that bounds the window of its clients takes no offer that says nothing of it. */
function forTaker(offer: string, taken: string): string {
  const all = offer.split(', ').map((each) => {
    const isOpen = taken === BROWSERS && !each.includes('client_max_window_bits');
    return isOpen ? `${each}; client_max_window_bits` : each;
  });
  return all.join(', ');
}

/** Long enough to be compressed by servers that leave short messages as they are. */
const TEXT = 'conform looks at compressed messages. '.repeat(60);

/** Without repetition, so that only a reference to the message before makes it short. */
export const NOVEL = Array.from({ length: 1_500 }, (_, index) => ((index * 7_919) % 94) + 33 + (index % 7))
  .map((code) => String.fromCharCode(Math.min(code, 126)))
  .join('');

const around =
  (between: (conversation: OpenConversation) => Promise<unknown>): Exchange =>
  async (conversation) => {
    await conversation.deflatedMessage('text', conversation.deflated(TEXT), 2, () => between(conversation));
    return conversation.returned(Buffer.from(TEXT));
  };

export const {
  handshake: deflateOffer,
  deflatedEcho,
  contextEcho,
  plainEcho,
  emptyEcho,
  fragmentedEcho,
  echoAroundPing,
  echoAroundPong,
  finalBlockEcho,
} = alongHandshake({
  name: 'websocket-deflate-offer',
  stimulus: { purpose: 'a WebSocket handshake that offers permessage-deflate', fields: fieldsOf(NAME) },
  held: taken,
  when: echoesAsConfigured,
  fits: (conversation) => conversation.isCompressing,
  fields: async (ask) => fieldsOf(await ask(compresses)),
  twins: [echoes, compresses],
  exchanges: {
    deflatedEcho: [
      'websocket-deflate-echo',
      'a compressing WebSocket with a compressed message',
      (conversation) => conversation.deflatedEcho('text', TEXT),
    ],
    // §7.2.3.2: the second message is only a reference to the first, unless the service has declined those.
    contextEcho: [
      'websocket-deflate-context',
      'a compressing WebSocket with a compressed message that refers to the one before',
      async (conversation) => {
        const text = NOVEL.slice(0, conversation.clientWindow / 4);
        return (
          (await conversation.deflatedEcho('text', text)) && (await conversation.deflatedEcho('text', text))
        );
      },
    ],
    plainEcho: [
      'websocket-deflate-plain',
      'a compressing WebSocket with a message that is not compressed',
      (conversation) => conversation.echo('text', 'conform'),
    ],
    // §7.2.3.6
    emptyEcho: [
      'websocket-deflate-empty',
      'a compressing WebSocket with an empty compressed message',
      (conversation) => conversation.deflatedEcho('text', ''),
    ],
    fragmentedEcho: [
      'websocket-deflate-fragments',
      'a compressing WebSocket with a compressed message in three fragments',
      (conversation) => conversation.deflatedEcho('text', TEXT, 3),
    ],
    echoAroundPing: [
      'websocket-deflate-around-ping',
      'a compressing WebSocket with a Ping within a compressed message',
      around((conversation) => conversation.ping('within')),
    ],
    echoAroundPong: [
      'websocket-deflate-around-pong',
      'a compressing WebSocket with a Pong within a compressed message',
      around((conversation) => conversation.frame(OPCODE.pong, 'within')),
    ],
    // §7.2.3.4
    finalBlockEcho: [
      'websocket-deflate-final-block',
      'a compressing WebSocket with a compressed message whose block is marked as the last',
      async (conversation) => {
        await conversation.deflatedMessage('text', deflatedToEnd(Buffer.from(TEXT)));
        return conversation.returned(Buffer.from(TEXT));
      },
    ],
  },
});

/** It has to end the connection. With a code for malformed messages it certainly did. */
function ending(what: string, say: (conversation: OpenConversation) => Promise<unknown>): Errand {
  return {
    what,
    async say(conversation) {
      if (!conversation.isCompressing) return;
      await say(conversation);
      await conversation.mustEnd();
    },
    isInOrder: ({ isCompressing, unaskedEnd, ended }) =>
      isCompressing && ended !== null && MALFORMED.includes(unaskedEnd?.code ?? null),
  };
}

/** RFC 6455 §7.4.1: the protocol is broken, or what is in the message. */
const MALFORMED: readonly (number | null)[] = [1002, 1007];

/** §6: RSV1 has its meaning on the first frame of a message, and on no other. */
const BIT_ON_CONTROL = ending('with RSV1 on a Ping', (conversation) =>
  conversation.frame(OPCODE.ping, 'conform', { rsv: 4 }),
);
const BIT_ON_CONTINUATION = ending('with RSV1 on a second fragment', async (conversation) => {
  await conversation.text('con', { fin: false });
  await conversation.frame(OPCODE.continuation, 'form', { rsv: 4 });
});
/** RFC 1951 §3.2.3: a block of type 11 does not exist. */
const BAD_DATA = ending('with a message that cannot be inflated', (conversation) =>
  conversation.frame(OPCODE.binary, Uint8Array.of(0xff, 0xff, 0xff, 0xff), { rsv: 4 }),
);
/** RFC 6455 §8.1: inflated, it begins with an octet that no text has. */
const BAD_UTF8 = ending('with compressed text that is not UTF-8', (conversation) =>
  conversation.deflatedMessage('text', conversation.deflated(Uint8Array.of(0xff, 0xfe, 0x63))),
);

/** Two equal messages, of which a reference to the first makes the second short. */
function twice(what: string, isAgreed: (view: ConversationView) => boolean): Errand {
  return {
    what,
    async say(conversation) {
      if (!conversation.isCompressing) return;
      if (await conversation.deflatedEcho('text', NOVEL)) await conversation.deflatedEcho('text', NOVEL);
      await conversation.close(1000);
    },
    isInOrder: (view) =>
      isAgreed(view) &&
      view.echoes.length === 2 &&
      view.echoes.every(({ isSame }) => isSame) &&
      view.unaskedEnd === null &&
      view.serverClose !== null,
    after: echoesAsConfigured,
  };
}

/** §7.1.1: neither side refers to earlier messages. */
const WITHOUT_CONTEXT = twice(
  'with two equal compressed messages, without context takeover',
  ({ isCompressing, extensions }) =>
    isCompressing &&
    extensions.extensions.some(({ parameters }) => parameters.has('server_no_context_takeover')),
);
/** §7.1.2.1: the first message is further back than the window reaches. */
const SMALL_WINDOW = twice(
  'with two equal messages, in a window of 512 octets',
  ({ isCompressing, deflateAnswerFault }) => isCompressing && deflateAnswerFault === null,
);

/** More octets than services take in a message, few enough to do no harm. */
const BOMB_OCTETS = 64 * 1024 * 1024;
/** Octets on the wire: the message is longer, a greeting or an error is shorter. */
export const BULK_OCTETS = 1024;

const PIECE_OCTETS = 1024 * 1024;

const BOMB: Errand = {
  what: 'with a message of 64 KiB that stands for 64 MiB',
  async say(conversation) {
    if (!conversation.isCompressing) return;
    const payload = deflatedRepeatedly(new Uint8Array(PIECE_OCTETS), BOMB_OCTETS / PIECE_OCTETS);
    await conversation.frame(OPCODE.binary, payload, { rsv: 4 });
    await conversation.bulk(BULK_OCTETS);
    await conversation.close(1000);
  },
  isInOrder: ({ isCompressing, unaskedEnd, serverFrames }) =>
    isCompressing &&
    // RFC 6455 §7.4.1: too big.
    unaskedEnd?.code === 1009 &&
    serverFrames.every(({ frame }) => frame.length < BULK_OCTETS),
  isFor: ({ safety }) => safety.findSizeLimits,
  after: echoesAsConfigured,
};

/** One handshake for each offer, with the errand that goes along if it is taken. */
function offered(name: string, ...offers: readonly (readonly [offer: string, along?: Errand])[]) {
  const needs = [compresses, ...offers.flatMap(([, errand]) => errand?.after ?? [])];
  return connecting(`websocket-deflate-${name}`, { needs, cost: offers.length }, async (port) => {
    const taken = await port.ask(compresses);
    return Promise.all(
      offers.map(([each, errand]) => {
        const offer = forTaker(each, taken);
        return carry(
          port,
          { purpose: `a WebSocket handshake that offers ${offer}`, fields: fieldsOf(offer) },
          errand,
        );
      }),
    );
  });
}

/** §7.1: a parameter that does not exist, a value that is none, a parameter twice. */
export const unfitOffers = risky(
  offered(
    'unfit-offers',
    [`${NAME}; conform_unknown`],
    [`${NAME}; server_max_window_bits=7`],
    [`${NAME}; server_max_window_bits`],
    [`${NAME}; server_no_context_takeover; server_no_context_takeover`],
  ),
);
/** §7.1.1, §7.1.2: each parameter. */
export const serverContextOffer = offered('server-context-offer', [
  `${NAME}; server_no_context_takeover`,
  WITHOUT_CONTEXT,
]);
export const serverWindowOffers = offered(
  'server-window-offers',
  [`${NAME}; server_max_window_bits=8`],
  [`${NAME}; server_max_window_bits=9`, SMALL_WINDOW],
);
export const clientWindowOffers = risky(
  offered(
    'client-window-offers',
    [`${NAME}; client_max_window_bits`, BIT_ON_CONTROL],
    [`${NAME}; client_max_window_bits=8`, BIT_ON_CONTINUATION],
    [`${NAME}; client_max_window_bits=15`, BAD_DATA],
  ),
);
/** §5: offers in the order of preference. */
export const fallbackOffer = offered('fallback-offer', [`${NAME}; conform_unknown, ${NAME}`]);
/** §5.1: of several offers that are in order one is taken, or none. */
export const severalOffers = risky(
  offered(
    'several-offers',
    [`${NAME}; server_max_window_bits=12, ${NAME}; server_no_context_takeover`, BAD_UTF8],
    [`${NAME}; client_max_window_bits, ${NAME}`, BOMB],
  ),
);

/** On the connection that the offer at that place has opened. */
const along = (offers: Probe<readonly ConversationView[]>, place: number): Ride =>
  rideOf(offers, (views) => views[place]);

/** An errand on a connection on which permessage-deflate was agreed on. */
function compressed(
  name: string,
  errand: Errand,
  ride: Ride,
  twin: Probe<unknown> = alive,
  special: string | null = null,
): Probe<ConversationView> {
  return connecting(
    `websocket-deflate-${name}`,
    { needs: [twin, compresses], mayNeed: [keptTogether] },
    async (port) => {
      await port.ask(twin);
      const taken = await port.ask(compresses);
      await makeRoom(port);
      if (special === null) return runErrand(port, errand, ride, alone(errand, taken));
      const offer = forTaker(special, taken);
      const shared = await onTheWay(port, errand, ride);
      const say: Conversing = (conversation) => errand.say(conversation, port.config);
      const view = shared ?? (await port.websocket.converse(alone(errand, offer), say));
      if (!view.opened && view.status !== null)
        throw new Blocked(`a handshake with that offer is refused (status ${view.status})`);
      requireHeardOut(view);
      return view;
    },
  );
}

function alone({ what }: Errand, offer: string): HandshakeStimulus {
  return { purpose: `a compressing WebSocket ${what}`, fields: fieldsOf(offer) };
}

export const reservedBitOnControl = risky(
  compressed('reserved-bit-on-control', BIT_ON_CONTROL, along(clientWindowOffers, 0)),
);
export const reservedBitOnContinuation = risky(
  compressed('reserved-bit-on-continuation', BIT_ON_CONTINUATION, along(clientWindowOffers, 1)),
);
export const badData = risky(compressed('bad-data', BAD_DATA, along(clientWindowOffers, 2)));
export const badUtf8 = risky(compressed('bad-utf8', BAD_UTF8, along(severalOffers, 0)));

export const withoutContextEcho = compressed(
  'without-context',
  WITHOUT_CONTEXT,
  along(serverContextOffer, 0),
  echoes,
  `${NAME}; server_no_context_takeover; client_no_context_takeover`,
);
export const smallWindowEcho = compressed(
  'small-window',
  SMALL_WINDOW,
  along(serverWindowOffers, 1),
  echoes,
  `${NAME}; server_max_window_bits=9`,
);

/** `converse`: the answer may be too long to be read to its end. */
export const bomb = risky(
  connecting('websocket-deflate-bomb', { needs: [echoes, compresses] }, async (port) => {
    await port.ask(echoes);
    const taken = await port.ask(compresses);
    const shared = await onTheWay(port, BOMB, along(severalOffers, 1));
    if (shared !== null) return shared;
    return port.websocket.converse(alone(BOMB, taken), (conversation) => BOMB.say(conversation, port.config));
  }),
);
