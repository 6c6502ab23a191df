import { connecting, type Probe } from '../../../../harness/engine/session/probe.ts';
import type { ConversationView } from '../../../../harness/wire/conversation/view.ts';
import { echoes } from '../echo.ts';
import { otherOrder, otherSpelling } from '../handshake-forms.ts';
import { besideOthers } from '../liveness/liveness.ts';
import { alive, answersPings } from '../ordinary-client.ts';
import { keptTogether, makeRoom } from '../side-by-side.ts';
import { type Errand, type Ride, rideOf, runErrand } from './errand.ts';
import * as errands from './errands.ts';

/** Lawful ends of connections, and what is said before them: each held only where ordinary ones are kept. */

function beside(name: string, twin: Probe<unknown>, errand: Errand): Probe<ConversationView> {
  return connecting(name, { needs: [twin] }, async (port) => {
    await port.ask(twin);
    return runErrand(port, errand, besideOthers(errand));
  });
}

export const lawfulMessage = beside('websocket-lawful-message', alive, errands.LAWFUL_MESSAGE);
export const unsolicitedPong = beside('websocket-unsolicited-pong', answersPings, errands.UNSOLICITED_PONG);
export const pingBurst = beside('websocket-ping-burst', answersPings, errands.PING_BURST);
export const pingBetweenFragments = beside(
  'websocket-ping-between-fragments',
  answersPings,
  errands.PING_BETWEEN_FRAGMENTS,
);
export const closedInTraffic = beside('websocket-closed-in-traffic', echoes, errands.CLOSED_IN_TRAFFIC);
export const closeWithinMessage = beside(
  'websocket-close-within-message',
  alive,
  errands.CLOSE_WITHIN_MESSAGE,
);

function each(name: string, all: readonly (readonly [Errand, Ride])[]): Probe<readonly ConversationView[]> {
  return connecting(name, { needs: [alive], mayNeed: [keptTogether], cost: all.length }, async (port) => {
    await port.ask(alive);
    await makeRoom(port);
    return Promise.all(all.map(([errand, ride]) => runErrand(port, errand, ride)));
  });
}

export const halfClosed = each(
  'websocket-half-closed',
  errands.HALF_CLOSES.map((errand) => [errand, besideOthers(errand)]),
);

export const closes = each('websocket-closes', [
  // So ends another errand, which is about something else.
  [errands.CLOSED, besideOthers(errands.PING_BURST)],
  [errands.GOING_AWAY, rideOf(otherSpelling, (view) => view)],
  [errands.CLOSED_WITH_REASON, rideOf(otherOrder, (view) => view)],
]);
