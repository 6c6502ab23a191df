import type { ConversationView } from '../../evidence/conversation/view.ts';
import { OPCODE } from '../../evidence/frame.ts';
import type { HandshakeStimulus } from '../../session/handshake.ts';
import { type Probe, probe, type Stimuli } from '../../session.ts';
import { closePayload } from '../../transport/websocket/frames.ts';
import { Blocked } from '../../verdict.ts';
import { conversation, converse, type Talk } from './talk.ts';

/**
 * An ordinary client: it opens a connection, pings three times, each after the other's answer, and closes. The twin
 * of every other conversation: what is refused or ended while this one is not taken would prove nothing.
 */
export const opening: Probe<ConversationView> = conversation(
  'websocket-opening',
  { purpose: 'a WebSocket as configured' },
  async (talk) => {
    const answered =
      (await talk.ping('conform')) && (await talk.ping('')) && (await talk.ping(Buffer.alloc(125, 0xfe)));
    // What is not answered has been waited for already.
    if (answered) await talk.closeWhole(closePayload(1000, 'conform'));
    else await talk.close(closePayload(1000, 'conform'));
  },
);

/** A handshake that is tried only when an ordinary one is taken. */
export function held(
  name: string,
  stimulus: HandshakeStimulus,
  talk: (talk: Talk) => Promise<void> = async () => {},
): Probe<ConversationView> {
  return conversation(name, stimulus, talk, requireTaken);
}

/** A conversation that is held only when an ordinary one is; its own handshake must be taken as well. */
export function heldOpen(
  name: string,
  stimulus: HandshakeStimulus,
  talk: (talk: Talk) => Promise<void>,
): Probe<ConversationView> {
  return probe(name, async (stimuli) => {
    await requireAlive(stimuli);
    return openOne(stimuli, stimulus, talk);
  });
}

/** Several of them at the same time. */
export function heldOpenEach(
  name: string,
  talks: readonly (readonly [purpose: string, talk: (talk: Talk) => Promise<void>])[],
): Probe<readonly ConversationView[]> {
  return probe(name, async (stimuli) => {
    await requireAlive(stimuli);
    return Promise.all(talks.map(([purpose, talk]) => openOne(stimuli, { purpose }, talk)));
  });
}

export async function openOne(
  stimuli: Stimuli,
  stimulus: HandshakeStimulus,
  talk: (talk: Talk) => Promise<void>,
): Promise<ConversationView> {
  const view = await converse(stimuli, stimulus, talk);
  if (!view.opened) throw new Blocked(`no connection for ${stimulus.purpose}: ${answerOf(view)}`);
  refuseGivenUp(view);
  return view;
}

/** The ordinary handshake, where it was taken. */
export const taken: Probe<ConversationView> = probe('websocket-taken', async (stimuli) => {
  await requireTaken(stimuli);
  return stimuli.ask(opening);
});

export async function requireTaken(stimuli: Stimuli): Promise<void> {
  const twin = await stimuli.ask(opening);
  if (twin.opened) return;
  throw new Blocked(
    `an ordinary opening handshake is not taken (${answerOf(twin)}), so this would prove nothing`,
  );
}

/** The ordinary conversation, where the connection stayed open until we closed it. */
export const kept: Probe<ConversationView> = probe('websocket-kept', async (stimuli) => {
  await requireKept(stimuli);
  return stimuli.ask(opening);
});

export async function requireKept(stimuli: Stimuli): Promise<void> {
  await requireTaken(stimuli);
  const twin = await stimuli.ask(opening);
  refuseGivenUp(twin);
  const { serverClose, clientClose, ended } = twin;
  const over = serverClose ?? ended;
  if (over === null || (clientClose !== null && over.atMs >= clientClose.atMs)) return;
  const how = serverClose ? `a Close (${serverClose.code ?? 'no code'})` : 'the end of TCP';
  throw new Blocked(`an ordinary connection is not kept: ${how} came unasked, so this would prove nothing`);
}

/** And the service shows, in some way, that somebody is there: otherwise each further wait would be in vain. */
export async function requireAlive(stimuli: Stimuli): Promise<void> {
  await requireKept(stimuli);
  const { serverFrames, ended } = await stimuli.ask(opening);
  if (serverFrames.length > 0 || ended !== null) return;
  throw new Blocked(
    'an ordinary connection shows no sign of life: neither Pong nor Close, nor the end of TCP',
  );
}

/** What was not heard to its end, for it was too much, shows nothing of how it would have ended. */
function refuseGivenUp({ to, conversation: { failure } }: ConversationView): void {
  if (failure !== null) throw new Blocked(`${to} was not heard to its end: ${failure.message}`);
}

function answerOf(view: ConversationView): string {
  const { status, redirect, conversation } = view;
  if (status === null) return conversation.failure?.message ?? 'no answer';
  return redirect === null ? `status ${status}` : `status ${status}, to ${redirect}`;
}

/** A conversation in which something rests on a Ping, held only when ordinary ones are answered. */
function pinged(
  name: string,
  stimulus: HandshakeStimulus,
  talk: (talk: Talk) => Promise<void>,
): Probe<ConversationView> {
  return probe(name, async (stimuli) => {
    await requireAlive(stimuli);
    await requirePong(stimuli);
    return openOne(stimuli, stimulus, talk);
  });
}

export async function requirePong(stimuli: Stimuli): Promise<void> {
  const { unansweredPings } = await stimuli.ask(opening);
  if (unansweredPings.length > 0)
    throw new Blocked('an ordinary Ping is not answered, so this would prove nothing');
}

/** RFC 6455 §5.5.3: nobody asked for this Pong; whether the connection stands is asked with a Ping. */
export const unsolicitedPong = pinged(
  'websocket-unsolicited-pong',
  { purpose: 'a WebSocket with a Pong that nobody asked for' },
  async (talk) => {
    await talk.frame(OPCODE.pong, 'unasked');
    await talk.ping('still there?');
    await talk.close(closePayload());
  },
);

/** RFC 6455 §5.5.3: of several Pings the latest alone may be answered, and that one must be. */
export const pingBurst = pinged(
  'websocket-ping-burst',
  { purpose: 'a WebSocket with ten Pings at once' },
  async (talk) => {
    await talk.pingsAtOnce(PINGS);
    await talk.close(closePayload());
  },
);

const PINGS = Array.from({ length: 10 }, (_, index) => `conform ${index}`);

/** RFC 6455 §5.4: the message is never ended, so that nothing comes of it. */
export const pingBetweenFragments = pinged(
  'websocket-ping-between-fragments',
  { purpose: 'a WebSocket with a Ping after the first fragment of a message' },
  async (talk) => {
    await talk.text('conform', { fin: false });
    await talk.ping('between');
    await talk.close(closePayload(4999, 'conform'));
  },
);
