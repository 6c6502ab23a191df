import { Blocked } from '../../base/verdict.ts';
import { OPCODE } from '../../evidence/conversation/frame.ts';
import type { ConversationView } from '../../evidence/conversation/view.ts';
import { type Probe, probe } from '../../session/probe.ts';
import { answerOf, type Conversing, requireHeardOut } from '../../session/websocket/conversation.ts';
import { dialectOf } from '../../session/websocket/dialects/dialects.ts';
import type { HandshakeStimulus } from '../../session/websocket/handshake-stimulus.ts';

/**
 * An ordinary client: it opens a connection, pings three times, each after the other's answer, and closes. The twin
 * of every other conversation: what is refused or ended while this one is not taken would prove nothing.
 */
export const opening: Probe<ConversationView> = conversed(
  'websocket-opening',
  { purpose: 'a WebSocket as configured' },
  async (conversation) => {
    const answered =
      (await conversation.ping('conform')) &&
      (await conversation.ping('')) &&
      (await conversation.ping(Buffer.alloc(125, 0xfe)));
    // What is not answered has been waited for already.
    if (answered) await conversation.closeWhole(1000, 'conform');
    else await conversation.close(1000, 'conform');
  },
);

/** A conversation as a probe of its own, held only when these are as they should be. */
export function conversed(
  name: string,
  stimulus: HandshakeStimulus,
  conversing?: Conversing,
  twins: readonly Probe<unknown>[] = [],
): Probe<ConversationView> {
  return probe(name, async ({ ask, websocket }) => {
    for (const twin of twins) await ask(twin);
    return websocket.converse(stimulus, conversing);
  });
}

/** A handshake that is tried only when an ordinary one is taken. */
export function held(
  name: string,
  stimulus: HandshakeStimulus,
  conversing?: Conversing,
): Probe<ConversationView> {
  return conversed(name, stimulus, conversing, [taken]);
}

/** A conversation that is held only when an ordinary one is; its own handshake must be taken as well. */
export function heldOpen(
  name: string,
  stimulus: HandshakeStimulus,
  conversing: Conversing,
): Probe<ConversationView> {
  return probe(name, async ({ ask, websocket }) => {
    await ask(alive);
    return websocket.hold(stimulus, conversing);
  });
}

/** The ordinary handshake, where it was taken. */
export const taken: Probe<ConversationView> = probe('websocket-taken', async ({ ask }) => {
  const twin = await ask(opening);
  if (twin.opened) return twin;
  throw new Blocked(`an ordinary handshake is not accepted (${answerOf(twin)}), so this would prove nothing`);
});

/** The ordinary conversation, where the connection stayed open until we closed it. */
export const kept: Probe<ConversationView> = probe('websocket-kept', async ({ ask }) => {
  const twin = await ask(taken);
  requireHeardOut(twin);
  const { serverClose, unaskedEnd } = twin;
  if (unaskedEnd === null) return twin;
  const how = serverClose ? `a Close (${serverClose.code ?? 'no code'})` : 'the end of TCP';
  throw new Blocked(`an ordinary connection is not kept: ${how} came unasked, so this would prove nothing`);
});

/** And the service shows, in some way, that somebody is there: otherwise each further wait would be in vain. */
export const alive: Probe<ConversationView> = probe('websocket-alive', async ({ ask }) => {
  const twin = await ask(kept);
  if (twin.serverFrames.length > 0 || twin.ended !== null) return twin;
  throw new Blocked(
    'an ordinary connection shows no sign of life: neither Pong nor Close, nor the end of TCP',
  );
});

/** A conversation in which something rests on a Ping, held only when ordinary ones are answered. */
function pinged(name: string, stimulus: HandshakeStimulus, conversing: Conversing): Probe<ConversationView> {
  return probe(name, async ({ ask, websocket }) => {
    await ask(answersPings);
    return websocket.hold(stimulus, conversing);
  });
}

/** The ordinary conversation, where its Pings were answered. */
export const answersPings: Probe<ConversationView> = probe('websocket-answers-pings', async ({ ask }) => {
  const twin = await ask(alive);
  if (twin.unansweredPings.length === 0) return twin;
  throw new Blocked('an ordinary Ping is not answered, so this would prove nothing');
});

/**
 * A whole message in good order, one of the config or of its dialect where there is one: some endpoints take none, or none that they do
 * not know, and end the connection upon it.
 */
export const lawfulMessage: Probe<ConversationView> = probe(
  'websocket-lawful-message',
  async ({ ask, config, websocket }) => {
    await ask(alive);
    const [pair] = config.websocket?.exchange ?? [];
    const { heartbeat } = config.websocket ? await dialectOf(config.websocket) : {};
    return websocket.hold({ purpose: 'a WebSocket with a lawful message' }, async (conversation) => {
      await conversation.text(pair?.send ?? heartbeat?.send ?? 'conform');
      if (await conversation.silence(MESSAGE_REFUSED_MS)) await conversation.close(1000);
    });
  },
);

/** How long the end of a connection is waited for upon a message that is not taken, in ms. */
const MESSAGE_REFUSED_MS = 500;

/** RFC 6455 §5.5.3: nobody asked for this Pong; whether the connection stands is asked with a Ping. */
export const unsolicitedPong = pinged(
  'websocket-unsolicited-pong',
  { purpose: 'a WebSocket with a Pong that nobody asked for' },
  async (conversation) => {
    await conversation.frame(OPCODE.pong, 'unasked');
    await conversation.ping('still there?');
    await conversation.close();
  },
);

/** RFC 6455 §5.5.3: of several Pings the latest alone may be answered, and that one must be. */
export const pingBurst = pinged(
  'websocket-ping-burst',
  { purpose: 'a WebSocket with ten Pings at once' },
  async (conversation) => {
    await conversation.pingsAtOnce(PINGS);
    await conversation.close();
  },
);

const PINGS = Array.from({ length: 10 }, (_, index) => `conform ${index}`);

/** RFC 6455 §5.4: the message is never ended, so that nothing comes of it. */
export const pingBetweenFragments = pinged(
  'websocket-ping-between-fragments',
  { purpose: 'a WebSocket with a Ping after the first fragment of a message' },
  async (conversation) => {
    await conversation.text('conform', { fin: false });
    await conversation.ping('between');
    await conversation.close(4999, 'conform');
  },
);
