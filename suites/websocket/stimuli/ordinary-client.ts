import { Blocked } from '../../../harness/base/verdict.ts';
import { connecting, derived, type Probe } from '../../../harness/engine/session/probe.ts';
import {
  answerOf,
  type Conversing,
  requireHeardOut,
} from '../../../harness/engine/session/websocket/conversation.ts';
import type { Handshake } from '../../../harness/engine/session/websocket/handshake-stimulus.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { carry, type Errand } from './errand.ts';

/** An ordinary client: it pings three times and closes. If it is not served, refusals of other clients prove nothing. */
export const opening = conversed('websocket-opening', 'a WebSocket as configured', async (conversation) => {
  const answered =
    (await conversation.ping('conform')) &&
    (await conversation.ping('')) &&
    (await conversation.ping(Buffer.alloc(125, 0xfe)));
  // What is not answered has been waited for already.
  if (answered) await conversation.closeWhole(1000, 'conform');
  else await conversation.close(1000, 'conform');
});

/** A conversation, if these are as they should be. */
export function conversed(
  name: string,
  stimulus: Handshake,
  conversing?: Conversing,
  twins: readonly Probe<unknown>[] = [],
): Probe<ConversationView> {
  return connecting(name, { needs: [...twins] }, async ({ ask, websocket }) => {
    for (const twin of twins) await ask(twin);
    return websocket.converse(stimulus, conversing);
  });
}

/** A handshake, if the ordinary one is taken. */
export function held(name: string, stimulus: Handshake, conversing?: Conversing): Probe<ConversationView> {
  return conversed(name, stimulus, conversing, [taken]);
}

/** The same, with an errand that goes along. */
export function heldWith(
  name: string,
  stimulus: Handshake,
  errand: Errand | undefined,
): Probe<ConversationView> {
  return connecting(name, { needs: [taken, ...(errand?.after ? [errand.after] : [])] }, async (port) => {
    await port.ask(taken);
    return carry(port, stimulus, errand);
  });
}

/** A conversation whose handshake must be taken, if the ordinary one is held. */
export function heldOpen(name: string, stimulus: Handshake, conversing: Conversing): Probe<ConversationView> {
  return connecting(name, { needs: [alive] }, async ({ ask, websocket }) => {
    await ask(alive);
    return websocket.hold(stimulus, conversing);
  });
}

/** The ordinary handshake, if it was taken. */
export const taken = derived('websocket-taken', [opening], async ({ ask }) => {
  const twin = await ask(opening);
  if (twin.opened) return twin;
  throw new Blocked(`an ordinary handshake is not accepted (${answerOf(twin)}), so this would prove nothing`);
});

/** The ordinary conversation, if it stayed open until we closed it. */
export const kept = derived('websocket-kept', [taken], async ({ ask }) => {
  const twin = await ask(taken);
  requireHeardOut(twin);
  const { serverClose, unaskedEnd } = twin;
  if (unaskedEnd === null) return twin;
  const how = serverClose ? `a Close (${serverClose.code ?? 'no code'})` : 'the end of TCP';
  throw new Blocked(`an ordinary connection is not kept: ${how} came unasked, so this would prove nothing`);
});

/** The same, if the service has answered in some way; if not, each further wait would time out. */
export const alive = derived('websocket-alive', [kept], async ({ ask }) => {
  const twin = await ask(kept);
  if (twin.serverFrames.length > 0 || twin.ended !== null) return twin;
  throw new Blocked(
    'an ordinary connection shows no sign of life: neither Pong nor Close, nor the end of TCP',
  );
});

/** And its Pings were answered. */
export const answersPings = derived('websocket-answers-pings', [alive], async ({ ask }) => {
  const twin = await ask(alive);
  if (twin.unansweredPings.length === 0) return twin;
  throw new Blocked('an ordinary Ping is not answered, so this would prove nothing');
});
