import { type ChildProcess, fork } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { VerifierOptions } from '@pact-foundation/pact-core';
import type { ExpectedInteraction } from '../config/pact/interaction.ts';
import { visible } from '../evidence/octets/visible.ts';
import { childEnvironment } from './child-environment.ts';
import { QuietWatch } from './quiet-watch.ts';
import { openRelay, type Relay, type RelayHandlers, type RelayRoute } from './relay.ts';
import { type PactVerdict, readVerdict } from './verdict.ts';
import { type ChildOrder, isChildReply } from './verify-messages.ts';

export interface VerificationOrder {
  readonly interaction: ExpectedInteraction;
  /** Name of the provider in the pact. */
  readonly provider: string;
  readonly handlers: RelayHandlers;
  /** Whether `handlers.state` is to be asked. */
  readonly setsStates: boolean;
  readonly signal: AbortSignal;
}

/** Pact's verifier, in a process of its own that starts with the first order. */
export interface PactVerifier {
  /**
   * Holds the provider behind the handlers against one interaction. Rejects with the first thing that a handler threw,
   * with the signal's reason when it is aborted, and with PactTrouble when Pact itself fails.
   */
  verify(order: VerificationOrder): Promise<PactVerdict>;
  close(): Promise<void>;
}

/** Pact's process crashed, or hangs. */
export class PactTrouble extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'PactTrouble';
  }
}

interface VerifierOptionsOfOurs {
  /** How long Pact may do nothing while nothing is asked of the provider, its start included; in ms. */
  readonly quietMs?: number;
  /** The module that the process runs. */
  readonly child?: URL;
}

const QUIET_MS = 20_000;
/** Deadlines are the relay's; Pact's own, per request and in ms, must never come first. */
const NO_LIMIT_MS = 24 * 3_600_000;
/** Of what the process printed, kept to explain its end; in UTF-16 units. */
const PRINTED = 4_000;

export function openVerifier({ quietMs = QUIET_MS, child }: VerifierOptionsOfOurs = {}): PactVerifier {
  const module = child ?? new URL('./verify-child.ts', import.meta.url);
  let relay: Promise<Relay> | null = null;
  let running: PactProcess | null = null;
  let closed = false;

  function pactProcess(): PactProcess {
    if (running === null || running.ended) running = new PactProcess(module);
    return running;
  }

  return {
    async verify({ interaction, provider, handlers, setsStates, signal }) {
      signal.throwIfAborted();
      if (closed) throw new PactTrouble('Pact was closed');
      relay ??= openRelay();
      const route = (await relay).route(interaction.pact, handlers);
      const pact = pactProcess();
      const quiet = new QuietWatch(quietMs, route, () =>
        pact.end(`Pact did nothing for ${quietMs / 1000} s and was ended`),
      );
      try {
        const options = verifierOptions(interaction, provider, route, setsStates);
        const text = await unlessAborted(pact.ask(options), signal);
        const thrown = route.thrown();
        if (thrown !== undefined) throw thrown;
        return readVerdict(route.masked(text), interaction.description);
      } finally {
        quiet.stop();
        route.release();
      }
    },
    async close() {
      closed = true;
      running?.end('Pact was closed');
      (await relay)?.close();
    },
  };
}

function verifierOptions(
  { kind }: ExpectedInteraction,
  provider: string,
  route: RelayRoute,
  setsStates: boolean,
): VerifierOptions {
  return {
    provider,
    providerBaseUrl: route.providerUrl,
    pactUrls: [route.pactUrl],
    timeout: NO_LIMIT_MS,
    logLevel: 'error',
    // Otherwise the answer of another address would be taken for the one asked.
    followRedirects: false,
    ...(setsStates
      ? {
          providerStatesSetupUrl: route.statesUrl,
          providerStatesSetupTeardown: true,
          providerStatesSetupBody: true,
        }
      : {}),
    ...(kind === 'message'
      ? { transports: [{ protocol: 'message', port: route.port, path: route.messagesPath }] }
      : {}),
  };
}

/** One process and the orders that it has not answered yet. */
class PactProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: { readonly text: string } | PactTrouble) => void>();
  #lastId = 0;
  #printed = '';
  #reason: string | null = null;
  ended = false;

  constructor(module: URL) {
    this.#child = fork(fileURLToPath(module), [], {
      // Natives are looked for in the working folder before their package.
      cwd: dirname(fileURLToPath(module)),
      execArgv: [],
      env: childEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      serialization: 'json',
    });
    const keep = (chunk: Buffer) => {
      this.#printed = (this.#printed + chunk.toString('latin1')).slice(-PRINTED);
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
    this.#child.on('message', (message: unknown) => {
      if (isChildReply(message)) this.#settle(message.id, message);
    });
    this.#child.on('error', (error) => this.#over(`Pact could not be started: ${error.message}`));
    this.#child.on('exit', (code, signal) =>
      this.#over(`Pact ended ${signal ? `by ${signal}` : `with ${code}`}`),
    );
    // What is left running must not keep its parent alive; it ends with the channel.
    this.#child.unref();
    this.#child.channel?.unref();
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
    }
  }

  async ask(options: VerifierOptions): Promise<string> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<{ readonly text: string } | PactTrouble>();
    this.#waiting.set(id, resolve);
    const order: ChildOrder = { id, options };
    this.#child.send(order, (error) => {
      if (error) this.#over(`Pact could not be asked: ${error.message}`);
    });
    this.#child.channel?.ref();
    const answer = await promise;
    if (answer instanceof PactTrouble) throw answer;
    return answer.text;
  }

  end(reason: string): void {
    this.#reason ??= reason;
    this.ended = true;
    this.#child.kill('SIGKILL');
  }

  #settle(id: number, answer: { readonly text: string } | PactTrouble): void {
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#child.channel?.unref();
  }

  #over(reason: string): void {
    this.ended = true;
    const said =
      this.#reason === null && this.#printed !== ''
        ? `; it printed: ${visible(this.#printed.trim().slice(-200))}`
        : '';
    const trouble = new PactTrouble(`${this.#reason ?? reason}${said}`);
    for (const id of [...this.#waiting.keys()]) this.#settle(id, trouble);
  }
}

/** Settles as `work` does, or rejects at once when the signal is aborted. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const aborted = () => reject(signal.reason);
  signal.addEventListener('abort', aborted, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  return promise;
}
