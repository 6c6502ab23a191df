import { unlessUnjudged } from '../../../harness/base/verdict.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import type { Port, Probe } from '../../../harness/engine/session/probe.ts';
import { dialectOf } from '../../../harness/engine/session/websocket/dialects/dialects.ts';
import type { Handshake } from '../../../harness/engine/session/websocket/handshake-stimulus.ts';
import type { OpenConversation } from '../../../harness/engine/session/websocket/open-conversation.ts';
import { OPCODE } from '../../../harness/wire/conversation/frame.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { closePayload } from '../../../harness/wire/websocket/frames.ts';
import { answerIn, exchange, inFragments, type Sending, whole } from './message-pair.ts';

/**
 * The last frames that a client sends on a connection. They may go along on one that another probe has opened and no longer
 * needs. Unless the result is in order, they are sent again on a connection of their own: a fault shows nowhere else.
 */
export interface Errand {
  /** Completes `a WebSocket`: `closed with 1001`. */
  readonly what: string;
  readonly say: (conversation: OpenConversation, config: ServiceConfig) => Promise<void>;
  /** Whether the result is in order beyond doubt, whatever was sent on the connection before. */
  readonly isInOrder: (view: ConversationView, config: ServiceConfig) => boolean;
  /** Whether it applies; always if left out. */
  readonly isFor?: (config: ServiceConfig) => boolean;
  /** Has to be in order before it. */
  readonly after?: Probe<unknown>;
}

/** Whether it applies, and the service ends connections; if it does not, each further wait would time out. */
export function mayGoAlong(
  { config, websocket }: Pick<Port, 'config' | 'websocket'>,
  { isFor }: Errand,
): boolean {
  return !websocket.closeTimedOut && isFor?.(config) !== false;
}

/** A handshake, with an errand that goes along on its connection. */
export async function carry(
  port: Pick<Port, 'ask' | 'config' | 'websocket'>,
  stimulus: Handshake,
  errand: Errand | undefined,
): Promise<ConversationView> {
  const { ask, config, websocket } = port;
  if (errand === undefined || !mayGoAlong(port, errand)) return websocket.converse(stimulus);
  const isReady = errand.after === undefined || (await ask(errand.after).catch(unlessUnjudged)) !== null;
  if (!isReady) return websocket.converse(stimulus);
  return websocket.converse(stimulus, (conversation) => errand.say(conversation, config));
}

/** The connection of another probe on which an errand went along; null if none, or if the result is not as it should be. */
export type Ride = (
  borrow: Port['borrow'],
  isAsItShould: (view: ConversationView) => boolean,
) => Promise<ConversationView | null>;

/** On the connection that `find` takes of the evidence of that probe. */
export function rideOf<E>(probe: Probe<E>, find: (yielded: E) => ConversationView | null | undefined): Ride {
  return async (borrow, isAsItShould) => {
    const found = (yielded: E) => {
      const view = find(yielded);
      return view && isAsItShould(view) ? view : null;
    };
    const yielded = await borrow(probe, (each) => [found(each)?.evidence ?? []].flat());
    return yielded === null ? null : found(yielded);
  };
}

/** The result of a ride; null if there was none, or if it leaves a doubt. */
export async function onTheWay(
  { borrow, config }: Pick<Port, 'borrow' | 'config'>,
  errand: Errand,
  ride: Ride | null,
): Promise<ConversationView | null> {
  return ride === null ? null : ride(borrow, (view) => isInOrder(view, errand, config));
}

/** The same, or the result on a connection of its own. */
export async function runErrand(
  port: Pick<Port, 'borrow' | 'config' | 'websocket'>,
  errand: Errand,
  ride: Ride | null,
  alone: Handshake = `a WebSocket ${errand.what}`,
): Promise<ConversationView> {
  const shared = await onTheWay(port, errand, ride);
  return shared ?? port.websocket.hold(alone, (conversation) => errand.say(conversation, port.config));
}

function isInOrder(view: ConversationView, errand: Errand, config: ServiceConfig): boolean {
  const { opened, faults, conversation } = view;
  if (!opened || faults.length > 0 || conversation.failure !== null) return false;
  return errand.isInOrder(view, config);
}

/** A Close, right or wrong, and the wait for the end (RFC 6455 §5.5.1). */
export async function closeWith(conversation: OpenConversation, payload: Uint8Array): Promise<void> {
  await conversation.frame(OPCODE.close, payload);
  await conversation.mustEnd();
}

/** `codes`: of the lawful answers. */
function closing(what: string, payload: Uint8Array, codes: readonly (number | null)[]): Errand {
  return {
    what: `closed with ${what}`,
    say: (conversation) => closeWith(conversation, payload),
    isInOrder: ({ clientFrames, serverClose, unaskedEnd, ended }) => {
      const isSent = clientFrames.some(
        ({ frame }) => frame.opcode === OPCODE.close && Buffer.compare(frame.payload, payload) === 0,
      );
      if (!isSent || unaskedEnd !== null || ended === null) return false;
      return serverClose !== null && codes.includes(serverClose.code);
    },
  };
}

/** RFC 6455 §5.5.1: each is answered with its code. */
export const CLOSED = closing('no code', closePayload(), [null, 1000]);
export const GOING_AWAY = closing('1001', closePayload(1001), [1000, 1001]);
export const CLOSED_WITH_REASON = closing('3000 and a reason', closePayload(3000, 'conform'), [1000, 3000]);

/** RFC 6455 §5.4: a control frame may come within a message. */
export const CLOSE_WITHIN_MESSAGE: Errand = {
  what: 'closed after the first fragment of a message',
  async say(conversation) {
    await conversation.text('conform', { fin: false });
    await conversation.closeWhole(1000);
  },
  isInOrder: (view) => isWithin(view) && isClosed(view, 1000),
};

/** RFC 9293 §3.6: one side of TCP ends before the other. */
export const HALF_CLOSES: readonly Errand[] = [
  {
    what: 'whose client ends its side of TCP',
    say: (conversation) => conversation.leave(),
    isInOrder: (view) => isLeft(view) && !isWithin(view),
  },
  {
    what: 'whose client ends its side of TCP within a message',
    async say(conversation) {
      await conversation.text('conform', { fin: false });
      await conversation.leave();
    },
    isInOrder: (view) => isLeft(view) && isWithin(view),
  },
];

function isLeft({ conversation: { events }, ended, clientClose }: ConversationView): boolean {
  const left = events.find(({ type }) => type === 'fin');
  return left !== undefined && ended !== null && ended.atMs >= left.atMs && clientClose === null;
}

/** Our last message was not ended. */
function isWithin({ clientFrames }: ConversationView): boolean {
  const last = clientFrames.findLast(({ frame }) => frame.opcode < OPCODE.close);
  return last !== undefined && !last.frame.fin;
}

/** The service answered our Close with that code, and nothing was amiss before. */
function isClosed(view: ConversationView, code: number | null): boolean {
  const { clientClose, serverClose, lawfulCloseCode, unaskedEnd, unansweredPings } = view;
  if (clientClose?.code !== code || serverClose === null || unaskedEnd !== null) return false;
  return unansweredPings.length === 0 && [null, 1000, code].includes(lawfulCloseCode);
}

/** RFC 6455 §5.5.3. A Ping shows whether the connection still works. */
export const UNSOLICITED_PONG: Errand = {
  what: 'with a Pong that nobody asked for',
  async say(conversation) {
    await conversation.frame(OPCODE.pong, 'unasked');
    await conversation.ping('still there?');
    await conversation.close();
  },
  isInOrder: (view) => hasSaid(view, 'unasked') && isClosed(view, null),
};

const PINGS = Array.from({ length: 10 }, (_, index) => `conform ${index}`);

/** RFC 6455 §5.5.3: of several Pings only the latest must be answered. */
export const PING_BURST: Errand = {
  what: 'with ten Pings at once',
  async say(conversation) {
    await conversation.pingsAtOnce(PINGS);
    await conversation.close();
  },
  isInOrder: (view) => hasSaid(view, PINGS.at(-1) ?? '') && isClosed(view, null),
};

/** RFC 6455 §5.4. The message is never ended, so that it has no effect. */
export const PING_BETWEEN_FRAGMENTS: Errand = {
  what: 'with a Ping after the first fragment of a message',
  async say(conversation) {
    await conversation.text('conform', { fin: false });
    await conversation.ping('between');
    await conversation.close(4999, 'conform');
  },
  isInOrder: (view) => hasSaid(view, 'between') && isWithin(view) && isClosed(view, 4999),
};

function hasSaid({ clientFrames }: ConversationView, payload: string): boolean {
  return clientFrames.some(({ frame }) => Buffer.compare(frame.payload, Buffer.from(payload)) === 0);
}

/** Milliseconds in which a service ends the connection over a message that it does not accept. */
const MESSAGE_REFUSED_MS = 500;

/** A message of the config or the dialect if there is one: some endpoints end the connection over any other. */
export const LAWFUL_MESSAGE: Errand = {
  what: 'with a lawful message',
  async say(conversation, { websocket }) {
    const [pair] = websocket?.exchange ?? [];
    const { heartbeat } = websocket ? await dialectOf(websocket) : {};
    await conversation.text(pair?.send ?? heartbeat?.send ?? 'conform');
    if (await conversation.silence(MESSAGE_REFUSED_MS)) await conversation.close(1000);
  },
  isInOrder: (view) => view.sent.length > 0 && isClosed(view, 1000),
};

/** The message of the config at that place, and its answer. */
function exchanging(what: string, send: Sending, place: number): Errand {
  const pairIn = ({ websocket }: ServiceConfig) => websocket?.exchange?.[place];
  return {
    what,
    async say(conversation, config) {
      const pair = pairIn(config);
      if (pair !== undefined) await exchange(conversation, pair, { send, login: config.websocket?.login });
    },
    isInOrder: (view, config) => {
      const pair = pairIn(config);
      return pair !== undefined && isClosed(view, 1000) && answerIn(view, pair) === null;
    },
    isFor: (config) => pairIn(config) !== undefined,
  };
}

export const exchangeAt = (place: number): Errand => exchanging('with a message of the config', whole, place);
export const EXCHANGE = exchangeAt(0);

/** RFC 6455 §5.4: in fragments, with a Ping between them. */
export const piecemealAt = (place: number): Errand =>
  exchanging('with a message of the config in fragments and a Ping between them', inFragments, place);
export const EXCHANGE_IN_FRAGMENTS = piecemealAt(0);

const TRAFFIC = Array.from({ length: 50 }, (_, index) => `conform ${index}`);

/** A Close after messages that are still on their way. */
export const CLOSED_IN_TRAFFIC: Errand = {
  what: `that is closed behind ${TRAFFIC.length} messages`,
  async say(conversation) {
    await conversation.atOnce(`the texts "${TRAFFIC[0]}" to "${TRAFFIC.at(-1)}"`, TRAFFIC);
    await conversation.closeWhole(1000);
  },
  isInOrder: (view) => isClosed(view, 1000) && view.conversation.events.some(({ type }) => type === 'octets'),
  isFor: ({ websocket }) => websocket?.echo === true,
};
