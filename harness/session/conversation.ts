import type { ServiceConfig } from '../config/service.ts';
import type { Conversation } from '../evidence/conversation.ts';
import type { EvidenceId } from '../evidence/exchange.ts';
import { socketAddressOf } from '../transport/address.ts';
import type { Budget } from '../transport/pace/budget.ts';
import type { TransportOptions } from '../transport/transport.ts';
import { openConversation } from '../transport/websocket/websocket.ts';
import { NotApplicable } from '../verdict.ts';
import { credentialUse } from './credential.ts';
import { dialectOf } from './dialects/dialects.ts';
import { credentialOf, type HandshakeStimulus, openingRequest, type Talking } from './handshake.ts';
import { placeInHandshake } from './handshake-credential.ts';

interface Means {
  readonly config: ServiceConfig;
  readonly transport: TransportOptions;
  readonly budget: Budget;
}

interface Occasion {
  readonly id: EvidenceId;
  readonly signal: AbortSignal;
}

/** A conversation is kept whole for as long as the session lasts, so no service is heard out without end. */
const LIMITS = { octets: 8 * 1024 * 1024, events: 2_000 };

/**
 * One WebSocket connection from its handshake to its end. The handshake counts as one request of the budget, and
 * the connection takes one of its places for as long as it lasts, so that few are open at the same time.
 *
 * @throws NotApplicable where the service has no WebSocket endpoint.
 */
export async function converse(
  { config, transport, budget }: Means,
  stimulus: HandshakeStimulus,
  talking: Talking,
  { id, signal }: Occasion,
): Promise<Conversation> {
  const { websocket, credentials } = config;
  if (websocket === null) throw new NotApplicable('no websocket is configured for this service');
  const { baseUrl, clock, redaction, userAgent } = transport;
  const { target } = socketAddressOf(baseUrl, websocket.url);
  const choice = credentialOf(stimulus, websocket);
  const credential = credentialUse(choice);
  const bare = openingRequest(stimulus, {
    websocket,
    dialect: await dialectOf(websocket),
    target,
    userAgent,
  });
  // The target has the path of the base URL already.
  const means = { websocket, credentials, redaction };
  const request = placeInHandshake(bare, choice, means, { at: clock.wallNow() });
  const opening = {
    endpoint: websocket.url,
    request,
    limits: LIMITS,
    ...(stimulus.httpVersion && { form: { httpVersion: stimulus.httpVersion } }),
    ...(stimulus.octetByOctet && { octetPauseMs: 0 }),
    ...(stimulus.automatic && { automatic: stimulus.automatic }),
  };
  const about = { id, purpose: stimulus.purpose, credential, signal };
  const run: Budget['run'] = stimulus.beside
    ? async (send, until) => {
        await budget.take(until);
        return send();
      }
    : budget.run;
  return run(async () => {
    const converser = await openConversation(transport, opening, about);
    if (converser.open) {
      await talking(converser).catch((error: unknown) => {
        converser.finish();
        throw error;
      });
    }
    return converser.finish();
  }, signal);
}
