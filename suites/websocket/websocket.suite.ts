import { given, hasWebSocket, suite } from '../../harness/engine/check/suite.ts';
import { closingChecks } from './closing.ts';
import { compressionChecks } from './compression.ts';
import { credentialChecks } from './credentials.ts';
import { dialectChecks } from './dialects.ts';
import { frameChecks } from './frames.ts';
import { firstHandshakeCheck, handshakeChecks, negotiationChecks } from './handshake.ts';
import { handshakeRefusalChecks } from './handshake-refusals.ts';
import { idleChecks, othersKeptCheck } from './idle.ts';
import { livenessChecks, reconnectCheck } from './liveness.ts';
import { messageChecks } from './messages.ts';
import { pusherChecks } from './pusher.ts';

/** Checks that need errors, pings and closes alone always run; those that need an answer want an echo or a dialect. */
const checks = [
  firstHandshakeCheck,
  reconnectCheck,
  ...idleChecks,
  ...handshakeChecks,
  ...handshakeRefusalChecks,
  ...negotiationChecks,
  ...credentialChecks,
  ...messageChecks,
  ...frameChecks,
  ...closingChecks,
  ...compressionChecks,
  ...livenessChecks,
  ...dialectChecks,
  ...pusherChecks,
  othersKeptCheck,
];

export const websocket = suite('websocket', 'WebSocket', given([hasWebSocket], checks));
