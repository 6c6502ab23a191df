import { given, hasWebSocket, suite } from '../harness/check/suite.ts';
import { closingChecks } from './websocket/closing.ts';
import { compressionChecks } from './websocket/compression.ts';
import { credentialChecks } from './websocket/credentials.ts';
import { dialectChecks } from './websocket/dialects.ts';
import { frameChecks } from './websocket/frames.ts';
import { firstHandshakeCheck, handshakeChecks } from './websocket/handshake.ts';
import { handshakeRefusalChecks } from './websocket/handshake-refusals.ts';
import { livenessChecks, reconnectCheck } from './websocket/liveness.ts';
import { messageChecks } from './websocket/messages.ts';
import { negotiationChecks } from './websocket/negotiation.ts';
import { pusherChecks } from './websocket/pusher.ts';

/** Checks that need errors, pings and closes alone always run; those that need an answer want an echo or a dialect. */
const checks = [
  firstHandshakeCheck,
  reconnectCheck,
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
];

export const websocket = suite('websocket', 'WebSocket', given([hasWebSocket], checks));
