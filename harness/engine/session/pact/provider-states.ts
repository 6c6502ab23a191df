import { parseJsonObject } from '../../../base/json-text.ts';
import type { CredentialChoice } from '../../../config/credential/placing.ts';
import { commandOutput } from '../../../config/draft/command-output.ts';
import { isUrl, type StateHandler, VALID_CREDENTIAL } from '../../../config/pact/pacts.ts';
import type { PactQuestion, RelayedResponse } from '../../../providers/pact/relay.ts';
import type { Exchange } from '../../../wire/exchange.ts';
import { visible } from '../../../wire/octets/utf8.ts';
import type { HttpRequest } from '../../../wire/request.ts';

/** The ways to a handler. */
export interface StateMeans {
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
const LONGEST_NAME = 120;

/** After a 5xx Pact would repeat the request. */
export const REFUSED: RelayedResponse = { status: 422, fields: [], body: new Uint8Array() };

/** Posts to a handler: a path of the service, which counts as a request to it, or another URL. */
export async function post(
  address: string,
  question: PactQuestion,
  purpose: string,
  { send, sendElsewhere }: StateMeans,
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
export class ProviderStates {
  /** Why a state could not be set up; null if none failed. */
  failure: string | null = null;
  /** Whether there is a handler and a state. */
  readonly handled: boolean;
  #undone: string | null = null;
  readonly #states: readonly string[];
  readonly #handler: StateHandler | null;
  readonly #context: StateMeans;

  constructor(states: readonly string[], handler: StateHandler | null, context: StateMeans) {
    // Every request carries the right credential.
    this.#states = states.filter((state) => state !== VALID_CREDENTIAL);
    this.#handler = handler;
    this.#context = context;
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
    const { response, failure } = await post(handler.url, change, purpose, this.#context);
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
