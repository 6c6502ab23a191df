import { Blocked } from '../../../base/verdict.ts';
import type { CredentialChoice } from '../../../config/credential/placing.ts';
import { digestOf, type ExpectedInteraction } from '../../../config/pact/pacts.ts';
import type { ServiceConfig } from '../../../config/service.ts';
import { PactFailure } from '../../../providers/pact/pact-process.ts';
import type { RelayedRequest, RelayedResponse, RelayHandlers } from '../../../providers/pact/relay.ts';
import { openVerifier, type PactVerifier } from '../../../providers/pact/verifier.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { fieldValues } from '../../../wire/fields/grammar/field-grammar.ts';
import { visible } from '../../../wire/octets/utf8.ts';
import { SAFE_METHODS } from '../../../wire/request.ts';
import { transportTo } from '../../../wire/socket/options.ts';
import type { ServiceHttp } from '../http/service-http.ts';
import { rateLimited, type SessionContext, type Turn } from '../turn/session-context.ts';
import { ProviderStates, post, REFUSED, type StateMeans } from './provider-states.ts';

/** Id of the check of each interaction. */
export const INTERACTION = 'pact.interaction';

export interface PactPort {
  /** Verifies one expectation of a consumer. @throws Blocked if undecided. */
  verify(interaction: ExpectedInteraction): Promise<Verification>;
}

/** Decides whether a service meets the expectations of consumers. */
export interface PactJudge {
  portFor(context: SessionContext, http: ServiceHttp, turn: Turn): PactPort;
  close(): Promise<void>;
}

/** Judges with a verifier of Pact. A shared verifier outlives the session. */
export function pactJudge(shared?: PactVerifier): PactJudge {
  const verifier = shared ?? openVerifier();
  return {
    portFor: (context, http, turn) => pactPort(context, http, verifier, turn),
    close: async () => {
      if (verifier !== shared) await verifier.close();
    },
  };
}

function pactPort(context: SessionContext, http: ServiceHttp, verifier: PactVerifier, turn: Turn): PactPort {
  const { signal, keep } = turn;
  const { config, transport, wire, log, record } = context;
  const verification: VerificationMeans = {
    config,
    verifier,
    signal,
    redact: (text) => transport.redaction.sink(text),
    refusedForRate: (exchange) => (context.limiter.isIn(exchange) ? rateLimited(context, exchange) : null),
    send: (request, about) => http.kept(about, turn, request),
    async sendElsewhere(url, request, purpose) {
      const elsewhere = wire.openHttp(transportTo(url.origin, transport));
      const about = { id: log.nextId(), purpose, credential: 'none', signal } as const;
      try {
        // It is no request to the service.
        return keep(await elsewhere.send(request, about), 0);
      } finally {
        await elsewhere.close();
      }
    },
  };
  return {
    async verify(interaction) {
      const journal = (came: Verification, blocked: string | null) =>
        record({
          type: 'verification',
          service: config.service,
          interaction: interaction.id,
          expected: digestOf(interaction),
          ...came,
          blocked,
        });
      try {
        const done = await verifyInteraction(interaction, verification);
        journal(done, null);
        return done;
      } catch (thrown) {
        if (thrown instanceof Blocked) journal(NOTHING, thrown.message);
        throw thrown;
      }
    },
  };
}

export interface Verification {
  /** Pact's own words, one line each; empty if the service conforms. */
  readonly mismatches: readonly string[];
  /** Id of the decisive exchange; null for none. */
  readonly evidence: string | null;
  /** A sentence, or ''. */
  readonly remark: string;
}

const NOTHING: Verification = { mismatches: [], evidence: null, remark: '' };

interface VerificationMeans extends StateMeans {
  readonly config: ServiceConfig;
  readonly verifier: PactVerifier;
  readonly redact: (text: string) => string;
  /** Why a refusal for the rate shows nothing; null for any other response. */
  readonly refusedForRate: (exchange: Exchange) => string | null;
  readonly signal: AbortSignal;
}

const LONGEST_NAME = 120;

/**
 * Verifies one interaction with Pact. The configured credential replaces the recorded example, unless the interaction
 * expects 401. @throws Blocked if undecided: a request is not permitted, a precondition is missing, or Pact fails.
 */
async function verifyInteraction(
  interaction: ExpectedInteraction,
  context: VerificationMeans,
): Promise<Verification> {
  const { config, verifier, signal, redact } = context;
  const { pacts } = config;
  if (!pacts) throw new Blocked('no pact is configured');
  holdToWhatMayBeSent(interaction, config);
  const exchanges: Exchange[] = [];
  const states = new ProviderStates(interaction.states, pacts.states, context);
  const handlers: RelayHandlers = {
    async request(request) {
      const exchange = await context.send(request, errandOf(interaction, request));
      exchanges.push(exchange);
      return responseOf(exchange);
    },
    state: (change) => states.change(change),
    async message(question) {
      const purpose = `for ${nameOf(interaction)}`;
      const exchange = await post(pacts.messages ?? '', question, purpose, context);
      exchanges.push(exchange);
      return responseOf(exchange) ?? REFUSED;
    },
  };
  const verdict = await verifier
    .verify({ interaction, provider: pacts.provider, handlers, setsStates: states.handled, signal })
    .catch((error: unknown) => {
      throw error instanceof PactFailure ? new Blocked(redact(error.message)) : error;
    });
  if (states.failure !== null) throw new Blocked(states.failure);
  const last = exchanges.at(-1);
  if (last === undefined) {
    const reason = verdict.kind === 'undecided' ? verdict.reason : 'Pact asked the service nothing';
    throw new Blocked(redact(reason));
  }
  const evidence = last.id;
  const refused = interaction.status === last.response?.status ? null : context.refusedForRate(last);
  if (refused !== null) throw new Blocked(refused);
  // The whole response may conform.
  if (last.failure?.kind === 'body-too-large') {
    throw new Blocked(`${last.failure.message}, so Pact has not seen the response`);
  }
  if (last.failure !== null) {
    return { mismatches: [`no whole response: ${last.failure.message}`], evidence, remark: '' };
  }
  switch (verdict.kind) {
    case 'verified':
      return { mismatches: [], evidence, remark: states.remark };
    case 'mismatched':
      return { mismatches: verdict.mismatches.map(redact), evidence, remark: states.remark };
    case 'undecided':
      throw new Blocked(redact(verdict.reason));
  }
}

function holdToWhatMayBeSent(interaction: ExpectedInteraction, { pacts, safety }: ServiceConfig): void {
  const { kind, method, unsupported } = interaction;
  if (unsupported !== null) throw new Blocked(unsupported);
  if (kind === 'message' && pacts?.messages === null) {
    throw new Blocked(
      'nobody can be asked for the messages of the provider; name an address as pacts.messages',
    );
  }
  if (method !== null && !SAFE_METHODS.has(method) && !safety.unsafeMethods) {
    throw new Blocked(
      `${method} may not be sent here; allow it with "safety: { unsafeMethods: true }" in the service config`,
    );
  }
}

/** For a person, and bounded: consumers choose these texts. */
function nameOf({ consumer, description }: ExpectedInteraction): string {
  return `${visible(consumer, LONGEST_NAME)}: ${visible(description, LONGEST_NAME)}`;
}

function errandOf(
  interaction: ExpectedInteraction,
  { fields }: RelayedRequest,
): { readonly purpose: string; readonly credential: CredentialChoice } {
  const recorded = fieldValues(fields, 'authorization').length > 0 ? 'wrong' : 'none';
  return {
    purpose: `as expected by ${nameOf(interaction)}`,
    credential: interaction.status === 401 ? { recorded } : 'right',
  };
}

/** null for no whole response. */
function responseOf({ response, failure }: Exchange): RelayedResponse | null {
  if (response === null || failure !== null) return null;
  return { status: response.status, fields: response.fields, body: response.body.bytes };
}
