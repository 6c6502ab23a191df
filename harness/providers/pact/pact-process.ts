import { type ChildProcess, fork } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { VerifierOptions } from '@pact-foundation/pact-core';
import { isJsonObject } from '../../base/json-text.ts';
import { visible } from '../../wire/octets/utf8.ts';

/** Pact's process crashed, or hangs. */
export class PactFailure extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'PactFailure';
  }
}

/** UTF-16 units of its output that are kept to explain its end. */
const PRINTED = 4_000;

/** One process and its pending orders. */
export class PactProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: { readonly text: string } | PactFailure) => void>();
  #lastId = 0;
  #printed = '';
  #reason: string | null = null;
  ended = false;

  constructor(module: URL) {
    this.#child = fork(fileURLToPath(module), [], {
      // Native modules are searched in the working folder first.
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
    // The child must not keep its parent alive; it ends with the channel.
    this.#child.unref();
    this.#child.channel?.unref();
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
    }
  }

  async ask(options: VerifierOptions): Promise<string> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<{ readonly text: string } | PactFailure>();
    this.#waiting.set(id, resolve);
    const order: ChildOrder = { id, options };
    this.#child.send(order, (error) => {
      if (error) this.#over(`Pact could not be asked: ${error.message}`);
    });
    this.#child.channel?.ref();
    const answer = await promise;
    if (answer instanceof PactFailure) throw answer;
    return answer.text;
  }

  end(reason: string): void {
    this.#reason ??= reason;
    this.ended = true;
    this.#child.kill('SIGKILL');
  }

  #settle(id: number, answer: { readonly text: string } | PactFailure): void {
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
    const failure = new PactFailure(`${this.#reason ?? reason}${said}`);
    for (const id of [...this.#waiting.keys()]) this.#settle(id, failure);
  }
}

/** Windows starts no process without these. */
const SYSTEM = ['SYSTEMROOT', 'TEMP', 'TMP'];

/**
 * The whole environment of a process that runs Pact, without the user's variables: PACT_BROKER_BASE_URL or
 * PACT_DESCRIPTION would silently change the verification, and Pact needs no secrets.
 */
export function childEnvironment(): NodeJS.ProcessEnv {
  const inherited = SYSTEM.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), PACT_DO_NOT_TRACK: 'true' };
}

/** Message to the child that runs Pact. */
export interface ChildOrder {
  readonly id: number;
  readonly options: VerifierOptions;
}

/** Its reply. */
export interface ChildReply {
  readonly id: number;
  /** Pact's JSON, or the text of a fault of configuration. */
  readonly text: string;
}

export function isChildReply(message: unknown): message is ChildReply {
  return isJsonObject(message) && typeof message.id === 'number' && typeof message.text === 'string';
}

/** Requests at the addresses of one verification. */
interface Activity {
  /** A request to the provider is under way. */
  readonly busy: () => boolean;
  onActivity(listener: () => void): void;
}

/** Notices that Pact is idle. Time that the provider takes does not count: it has its own deadlines. */
export class QuietWatch {
  readonly #ms: number;
  readonly #expired: () => void;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(ms: number, route: Activity, expired: () => void) {
    this.#ms = ms;
    this.#expired = expired;
    route.onActivity(() => {
      clearTimeout(this.#timer);
      if (!route.busy() && !this.#stopped) this.#start();
    });
    this.#start();
  }

  #start(): void {
    this.#timer = setTimeout(this.#expired, this.#ms);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
