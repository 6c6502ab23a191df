import { parseJsonObject } from '../../../base/json-text.ts';
import { Blocked } from '../../../base/verdict.ts';
import type { CredentialChoice } from '../../../config/credential/placing.ts';
import { commandOutput } from '../../../config/draft/command-output.ts';
import {
  digestOf,
  type ExpectedInteraction,
  isUrl,
  type StateHandler,
  VALID_CREDENTIAL,
} from '../../../config/pact/pacts.ts';
import type { ServiceConfig } from '../../../config/service.ts';
import { PactFailure } from '../../../providers/pact/pact-process.ts';
import type {
  PactQuestion,
  RelayedRequest,
  RelayedResponse,
  RelayHandlers,
} from '../../../providers/pact/relay.ts';
import { openVerifier, type PactVerifier } from '../../../providers/pact/verifier.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { fieldValues } from '../../../wire/fields/grammar/field-grammar.ts';
import { visible } from '../../../wire/octets/utf8.ts';
import { type HttpRequest, SAFE_METHODS } from '../../../wire/request.ts';
import { transportTo } from '../../../wire/socket/options.ts';
import type { ServiceHttp } from '../http/service-http.ts';
import { rateLimited, type SessionContext, type Turn } from '../turn/session-context.ts';

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
  const ways: WaysToHandler = {
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
        const done = await verifyInteraction(interaction, { context, verifier, signal, ways });
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

interface Verifying {
  readonly context: SessionContext;
  readonly verifier: PactVerifier;
  readonly signal: AbortSignal;
  readonly ways: WaysToHandler;
}

const LONGEST_NAME = 120;

/**
 * Verifies one interaction with Pact. The configured credential replaces the recorded example, unless the interaction
 * expects 401. @throws Blocked if undecided: a request is not permitted, a precondition is missing, or Pact fails.
 */
async function verifyInteraction(
  interaction: ExpectedInteraction,
  { context, verifier, signal, ways }: Verifying,
): Promise<Verification> {
  const { config, limiter, transport } = context;
  const redact = (text: string) => transport.redaction.sink(text);
  const { pacts } = config;
  if (!pacts) throw new Blocked('no pact is configured');
  holdToWhatMayBeSent(interaction, config);
  const exchanges: Exchange[] = [];
  const states = new ProviderStates(interaction.states, pacts.states, ways);
  const handlers: RelayHandlers = {
    async request(request) {
      const exchange = await ways.send(request, errandOf(interaction, request));
      exchanges.push(exchange);
      return responseOf(exchange);
    },
    state: (change) => states.change(change),
    async message(question) {
      const purpose = `for ${nameOf(interaction)}`;
      const exchange = await post(pacts.messages ?? '', question, purpose, ways);
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
  const isExpected = interaction.status === last.response?.status;
  if (!isExpected && limiter.isIn(last)) throw new Blocked(rateLimited(context, last));
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
  const { kind, method, states, unsupported } = interaction;
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
  if (method !== null && CHANGING.has(method) && (states.length === 0 || !pacts?.states)) {
    throw new Blocked(
      `${method} may change data that this run has not created: name a provider state in the pact, and a handler that sets it up as pacts.states`,
    );
  }
}

/** Methods that change or remove existing data; POST creates. */
const CHANGING: ReadonlySet<string> = new Set(['PUT', 'PATCH', 'DELETE']);

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

/** The ways to a handler. */
interface WaysToHandler {
  /** Sends to the service within its budget and keeps the exchange as evidence. */
  readonly send: (
    request: HttpRequest,
    about: { readonly purpose: string; readonly credential: CredentialChoice },
  ) => Promise<Exchange>;
  /** Sends to another address without a credential and keeps the exchange as evidence. */
  readonly sendElsewhere: (url: URL, request: HttpRequest, purpose: string) => Promise<Exchange>;
}

/** Milliseconds for a command. */
const STATE_COMMAND_MS = 30_000;
const STATE_OUTPUT_BYTES = 256 * 1024;

/** After a 5xx Pact would repeat the request. */
const REFUSED: RelayedResponse = { status: 422, fields: [], body: new Uint8Array() };

/** Posts to a handler: a path of the service, which counts as a request to it, or another URL. */
async function post(
  address: string,
  question: PactQuestion,
  purpose: string,
  { send, sendElsewhere }: WaysToHandler,
): Promise<Exchange> {
  const url = isUrl(address) ? new URL(address) : null;
  const request: HttpRequest = {
    method: 'POST',
    target: url ? `${url.pathname}${url.search}` : address,
    fields: [['Content-Type', 'application/json']],
    body: Buffer.from(JSON.stringify(question)),
  };
  return url ? sendElsewhere(url, request, purpose) : send(request, { purpose, credential: 'right' });
}

/** Sets up the provider states of one interaction and takes them down. */
class ProviderStates {
  /** Why a state could not be set up; null if none failed. */
  failure: string | null = null;
  /** Whether there is a handler and a state. */
  readonly handled: boolean;
  #undone: string | null = null;
  readonly #states: readonly string[];
  readonly #handler: StateHandler | null;
  readonly #ways: WaysToHandler;

  constructor(states: readonly string[], handler: StateHandler | null, ways: WaysToHandler) {
    // Every request carries the right credential.
    this.#states = states.filter((state) => state !== VALID_CREDENTIAL);
    this.#handler = handler;
    this.#ways = ways;
    this.handled = handler !== null && this.#states.length > 0;
  }

  /** A sentence, or ''. */
  get remark(): string {
    if (this.#undone !== null) return this.#undone;
    if (this.handled || this.#states.length === 0) return '';
    const names = this.#states.map((state) => JSON.stringify(visible(state, LONGEST_NAME))).join(', ');
    return `nobody set up the provider state ${names} (pacts.states)`;
  }

  async change(change: PactQuestion): Promise<RelayedResponse> {
    const state = String(change.state ?? '');
    if (state === '' || state === VALID_CREDENTIAL) return jsonAnswer('{}');
    const undoing = change.action === 'teardown';
    const named = JSON.stringify(visible(state, LONGEST_NAME));
    const outcome = await this.#ask(
      change,
      `to ${undoing ? 'take down' : 'set up'} the provider state ${named}`,
    );
    if ('values' in outcome) return jsonAnswer(outcome.values);
    if (undoing) this.#undone ??= `the provider state ${named} was not taken down: ${outcome.failure}`;
    else this.failure ??= `the provider state ${named} could not be set up: ${outcome.failure}`;
    return REFUSED;
  }

  async #ask(
    change: PactQuestion,
    purpose: string,
  ): Promise<{ readonly values: string } | { readonly failure: string }> {
    const handler = this.#handler;
    if (handler === null) return { values: '{}' };
    if (handler.kind === 'command') {
      const output = await commandOutput(
        handler.command,
        { cwd: handler.folder, env: process.env, input: JSON.stringify(change) },
        { timeoutMs: STATE_COMMAND_MS, maxBytes: STATE_OUTPUT_BYTES },
      );
      if ('failure' in output) return { failure: `the command ${output.failure}` };
      return { values: valuesOf(output.stdout) };
    }
    const { response, failure } = await post(handler.url, change, purpose, this.#ways);
    if (failure !== null || response === null) return { failure: failure?.message ?? 'no response' };
    if (response.status < 200 || response.status > 299) return { failure: `status ${response.status}` };
    return { values: valuesOf(Buffer.from(response.body.bytes)) };
  }
}

/** The values of a state for the request, as JSON; {} for any other output. */
function valuesOf(said: Buffer): string {
  return JSON.stringify(parseJsonObject(said.toString('utf8')) ?? {});
}

function jsonAnswer(text: string): RelayedResponse {
  return { status: 200, fields: [['Content-Type', 'application/json']], body: Buffer.from(text) };
}
