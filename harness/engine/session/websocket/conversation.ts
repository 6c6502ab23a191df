import { Blocked, NotApplicable } from '../../../base/verdict.ts';
import { credentialUse, placeCredential } from '../../../config/credential/placing.ts';
import type { WebSocketConfig } from '../../../config/service.ts';
import { type ConversationView, viewConversation } from '../../../wire/conversation/view.ts';
import type { Conversation } from '../../../wire/conversation.ts';
import { handshakeKind } from '../../../wire/limit/observed/spending.ts';
import { socketAddressOf } from '../../../wire/socket/address.ts';
import type { WebSocketConnection } from '../../../wire/websocket/connection.ts';
import { type Occasion, type Reception, receptionOf } from '../turn/key-trial.ts';
import { blockedByBudget, rateLimited, type SessionContext, type Turn } from '../turn/session-context.ts';
import { dialectOf } from './dialects/dialects.ts';
import {
  credentialOf,
  type Handshake,
  type HandshakeStimulus,
  inHandshakes,
  isOrdinary,
  openingRequest,
  stimulusOf,
} from './handshake-stimulus.ts';
import { OpenConversation } from './open-conversation.ts';

/** What a probe does on the open connection. */
export type Conversing = (conversation: OpenConversation) => Promise<void>;

/** WebSocket connections. Each handshake counts as a request. */
export interface WebSocketPort {
  /** One connection from its handshake to its end. `conversing` is called once it is open. */
  converse(handshake: Handshake, conversing?: Conversing): Promise<ConversationView>;
  /** The same. @throws Blocked if no connection was opened, or not read to its end. */
  hold(handshake: Handshake, conversing: Conversing): Promise<ConversationView>;
  /** The service did not end a connection in time that it must end. */
  readonly closeTimedOut: boolean;
  /** Id of the evidence after which the service fell silent; null if it did not. */
  readonly silentSince: string | null;
  /** Allows this number of connections side by side: the service is known to keep them. */
  widen(connections: number): void;
}

/** Longest wait, in ms, for a frame that a quick service sends at once. */
const PATIENCE_MS = 5_000;
/** The same after the decisive event, such as for the end of TCP after a Close. */
const LINGER_MS = 500;

function conversationOver(
  connection: WebSocketConnection,
  { config, answerTimes, closing }: SessionContext,
): OpenConversation {
  const patienceMs = answerTimes.patienceMs(Math.min(config.timeouts.responseMs, PATIENCE_MS));
  return new OpenConversation(connection, {
    patienceMs,
    lingerMs: answerTimes.patienceMs(LINGER_MS),
    closing,
  });
}

export function webSocketPort(context: SessionContext, turn: Turn): WebSocketPort {
  const { config, outage } = context;
  const port: WebSocketPort = {
    async converse(handshake, conversing = async () => {}) {
      const stimulus = stimulusOf(handshake);
      outage.requireReachable();
      const done = await connect(
        context,
        stimulus,
        (connection) => conversing(conversationOver(connection, context)),
        turn.signal,
      ).catch(blockedByBudget);
      turn.signal.throwIfAborted();
      const { response } = done.handshake;
      // Silence after a bad handshake does not show whether the service is there.
      const onPurpose = !isOrdinary(stimulus);
      outage.saw({ to: done.purpose, id: done.id }, { response, failure: done.failure, onPurpose });
      turn.keep(done);
      if (context.limiter.isIn({ response, failure: null })) {
        throw new Blocked(rateLimited(context, { response }));
      }
      if (isOfTheMoment(done) && !isOrdinary(stimulus)) await requireTaken(context, turn.signal, done);
      if (config.websocket && credentialOf(stimulus, config.websocket) === 'right') {
        await context.key.received(handshakeReception(done, config.websocket), turn.signal);
      }
      return viewConversation(done);
    },
    async hold(handshake, conversing) {
      const view = await port.converse(handshake, conversing);
      if (!view.opened) {
        throw new Blocked(`no connection for ${stimulusOf(handshake).purpose}: ${answerOf(view)}`);
      }
      requireHeardOut(view);
      return view;
    },
    get closeTimedOut() {
      return context.closing.timedOut;
    },
    get silentSince() {
      return outage.since;
    },
    widen: (connections) => context.places.widen(connections),
  };
  return port;
}

/** A timeout or a server error may pass (RFC 9110 §15.6); 501 and 505 do not. */
function isOfTheMoment({ handshake: { response }, failure }: Conversation): boolean {
  if (response === null) return failure?.kind === 'response-timeout';
  return response.status >= 500 && response.status !== 501 && response.status !== 505;
}

/** @throws Blocked if an ordinary handshake is refused like this one at the moment. */
async function requireTaken(
  context: SessionContext,
  signal: AbortSignal,
  refused: Conversation,
): Promise<void> {
  const { outage, log } = context;
  const fate = refused.handshake.response === null ? 'not answered' : 'refused';
  const purpose = `a WebSocket as configured, for the one before was ${fate}`;
  const ordinary = await connect(context, { purpose }, pinged(context), signal).catch(blockedByBudget);
  const { handshake, failure } = log.keep(ordinary, 1);
  outage.saw({ to: purpose, id: ordinary.id }, { response: handshake.response, failure });
  const [before, now] = [refused.handshake.response, handshake.response].map((each) => each?.status);
  if (now !== before) return;
  const how = now === undefined ? 'not answered' : `answered ${now}`;
  throw new Blocked(`${how}, and so is every other handshake at this moment`);
}

/** The key may be refused by the answer to the handshake, or by the documented close code. */
function handshakeReception(done: Conversation, { refusalCode }: WebSocketConfig): Reception {
  const { response } = done.handshake;
  if (response?.status !== 101) return receptionOf(response);
  const code = viewConversation(done).serverClose?.code ?? null;
  if (refusalCode === undefined || code !== refusalCode) return { kind: 'taken' };
  return { kind: 'refused', as: `close code ${code}` };
}

/** An ordinary handshake, if it needs the key. */
export function handshakeOccasions(context: SessionContext): readonly Occasion[] {
  const { websocket } = context.config;
  const stimulus = { purpose: 'a WebSocket to see whether the key is taken at all' };
  if (websocket === null || credentialOf(stimulus, websocket) !== 'right') return [];
  return [
    {
      what: `the handshake at ${websocket.url}`,
      async send(signal) {
        const done = await connect(context, stimulus, pinged(context), signal).catch(blockedByBudget);
        return handshakeReception(context.log.keep(done, 1), websocket);
      },
    },
  ];
}

function pinged(context: SessionContext): (connection: WebSocketConnection) => Promise<void> {
  return async (connection) => {
    const conversation = conversationOver(connection, context);
    await conversation.ping('conform');
    await conversation.close(1000);
  };
}

/** @throws Blocked if the conversation was too long to be read to its end. */
export function requireHeardOut({ to, conversation: { failure } }: ConversationView): void {
  if (failure !== null) throw new Blocked(`${to} was not heard to its end: ${failure.message}`);
}

/** The answer to a handshake, for a sentence: `status 403`. */
export function answerOf(view: ConversationView): string {
  const { status, redirect, conversation } = view;
  if (status === null) return conversation.failure?.message ?? 'no answer';
  return redirect === null ? `status ${status}` : `status ${status}, to ${redirect}`;
}

/** A conversation is kept as long as the session, so its length has a bound. */
const LIMITS = { octets: 8 * 1024 * 1024, events: 2_000 };

/**
 * One WebSocket connection from its handshake to its end. It takes one request of the budget, and one of the places, so
 * that few connections are open at the same time. @throws NotApplicable if the service has no WebSocket endpoint.
 */
async function connect(
  { config, credentials, transport, versions, wire, budget, answerTimes, places, log }: SessionContext,
  stimulus: HandshakeStimulus,
  conversing: (connection: WebSocketConnection) => Promise<void>,
  signal: AbortSignal,
): Promise<Conversation> {
  const { websocket } = config;
  if (websocket === null) throw new NotApplicable('no websocket is configured for this service');
  if (versions.speaksHttp1 === false && websocket.url.startsWith('/'))
    throw new Blocked('WebSocket is judged over HTTP/1.1, and the service speaks HTTP/2 alone');
  const { baseUrl, clock, userAgent } = transport;
  const endpoint = stimulus.endpoint ?? websocket.url;
  const { target } = socketAddressOf(baseUrl, endpoint);
  const choice = credentialOf(stimulus, websocket);
  const credential = credentialUse(choice);
  const dialect = await dialectOf(websocket);
  const bare = openingRequest(stimulus, { websocket, dialect, target, userAgent });
  const placed = async () => {
    const ready = inHandshakes(await credentials.for(choice), websocket);
    // The target has the path of the base URL already.
    return placeCredential(bare, choice, ready, { at: clock.wallNow() });
  };
  // A credential that cannot be placed fails before it counts as a request.
  await placed();
  const opening = {
    endpoint,
    limits: LIMITS,
    form: {
      ...(stimulus.httpVersion && { httpVersion: stimulus.httpVersion }),
      withoutHost: stimulus.without?.includes('host') ?? false,
    },
    ...(stimulus.octetByOctet && { octetByOctet: true }),
    automatic: {
      ...(dialect.answerHeartbeat && { heartbeat: dialect.answerHeartbeat }),
      ...stimulus.automatic,
    },
  };
  const attempt = async () => {
    const spent = await budget.take(signal);
    const about = { id: log.nextId(), purpose: stimulus.purpose, credential, signal };
    const request = await placed();
    const sent = { ...request, ...opening.form };
    const kindOf = (response: { readonly status: number } | null) =>
      handshakeKind({ credential, request: sent, response });
    // Until the answer comes, it counts as taken.
    spent.kind = kindOf({ status: 101 });
    const askedMs = clock.now();
    const connection = await wire.openConnection(transport, { ...opening, request }, about);
    spent.kind = kindOf(connection.response);
    if (connection.open && !stimulus.octetByOctet) answerTimes.answered(clock.now() - askedMs);
    if (connection.open) {
      await conversing(connection).catch((error: unknown) => {
        connection.finish();
        throw error;
      });
    }
    return connection.finish();
  };
  return credentials.send(choice, () => (stimulus.beside ? attempt() : places.take(attempt)), {
    isIn: ({ handshake }) => handshake.response?.status === 401,
    dismiss: (refused) => log.keep(refused, 1),
  });
}
