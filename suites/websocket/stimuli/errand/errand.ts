import { unlessUnjudged } from '../../../../harness/base/verdict.ts';
import type { ServiceConfig } from '../../../../harness/config/service.ts';
import type { Port, Probe } from '../../../../harness/engine/session/probe.ts';
import type { HandshakeStimulus } from '../../../../harness/engine/session/websocket/handshake-stimulus.ts';
import type { OpenConversation } from '../../../../harness/engine/session/websocket/open-conversation.ts';
import type { ConversationView } from '../../../../harness/wire/conversation/view.ts';

/**
 * What a client says until its connection ends. It may go along on one that another probe has opened and is done with.
 * What comes of it there is believed where it is in order. Where it is not, it is said again on a connection of its own,
 * so that a fault shows where it is and nowhere else.
 */
export interface Errand {
  /** Completes `a WebSocket`: `closed with 1001`. */
  readonly what: string;
  readonly say: (conversation: OpenConversation, config: ServiceConfig) => Promise<void>;
  /** Whether what came of it is in order beyond doubt, whatever was said on the connection before. */
  readonly isInOrder: (view: ConversationView, config: ServiceConfig) => boolean;
  /** Whether there is anything to say; there is when left out. */
  readonly isFor?: (config: ServiceConfig) => boolean;
  /** What has to be in order before it is said. */
  readonly after?: Probe<unknown>;
}

/** Whether there is anything to say, and a service that does what it must: each wait for another would be in vain. */
export function mayGoAlong(
  { config, websocket }: Pick<Port, 'config' | 'websocket'>,
  { isFor }: Errand,
): boolean {
  return !websocket.waitsInVain && isFor?.(config) !== false;
}

/** A handshake, with an errand that goes along on its connection. */
export async function carry(
  port: Pick<Port, 'ask' | 'config' | 'websocket'>,
  stimulus: HandshakeStimulus,
  errand: Errand | undefined,
): Promise<ConversationView> {
  const { ask, config, websocket } = port;
  if (errand === undefined || !mayGoAlong(port, errand)) return websocket.converse(stimulus);
  const isReady = errand.after === undefined || (await ask(errand.after).catch(unlessUnjudged)) !== null;
  if (!isReady) return websocket.converse(stimulus);
  return websocket.converse(stimulus, (conversation) => errand.say(conversation, config));
}

/**
 * Where an errand may have gone along: on a connection of a probe that was asked for already, where what came of it is
 * as it should be.
 */
export type Ride = (
  borrow: Port['borrow'],
  isAsItShould: (view: ConversationView) => boolean,
) => Promise<ConversationView | null>;

/** On the connection of that probe which is found in what it has yielded, if there was one. */
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

/** What came of it on a ride; null where it took none, or what came of it leaves a doubt. */
export async function onTheWay(
  { borrow, config }: Pick<Port, 'borrow' | 'config'>,
  errand: Errand,
  ride: Ride | null,
): Promise<ConversationView | null> {
  return ride === null ? null : ride(borrow, (view) => isInOrder(view, errand, config));
}

/** The same, or else what came of it on a connection of its own. */
export async function runErrand(
  port: Pick<Port, 'borrow' | 'config' | 'websocket'>,
  errand: Errand,
  ride: Ride | null,
  alone: HandshakeStimulus = { purpose: `a WebSocket ${errand.what}` },
): Promise<ConversationView> {
  const shared = await onTheWay(port, errand, ride);
  return shared ?? port.websocket.hold(alone, (conversation) => errand.say(conversation, port.config));
}

function isInOrder(view: ConversationView, errand: Errand, config: ServiceConfig): boolean {
  const { opened, faults, conversation } = view;
  if (!opened || faults.length > 0 || conversation.failure !== null) return false;
  return errand.isInOrder(view, config);
}
