import type { VerifierOptions } from '@pact-foundation/pact-core';
import pLimit from 'p-limit';
import { asList, hasMembers, isJsonObject, type JsonObject, parseJsonObject } from '../../base/json-text.ts';
import type { ExpectedInteraction } from '../../config/pact/pacts.ts';
import { visible } from '../../wire/octets/utf8.ts';
import { PactFailure, PactProcess, QuietWatch } from './pact-process.ts';
import { openRelay, type Relay, type RelayHandlers, type RelayRoute } from './relay.ts';

export interface VerificationOrder {
  readonly interaction: ExpectedInteraction;
  /** Name of the provider in the pact. */
  readonly provider: string;
  readonly handlers: RelayHandlers;
  /** Whether to call `handlers.state`. */
  readonly setsStates: boolean;
  readonly signal: AbortSignal;
}

/**
 * Pact's verifier, in its own processes. Orders that come together get a process each, so that none affects another. A
 * process takes the next order, and ends if none comes soon.
 */
export interface PactVerifier {
  /**
   * Verifies one interaction against the provider behind the handlers. Rejects with the first error of a handler, with
   * the signal's reason when it is aborted, and with PactFailure when Pact itself fails.
   */
  verify(order: VerificationOrder): Promise<PactVerdict>;
  close(): Promise<void>;
}

interface VerifierLimits {
  /** Milliseconds that Pact may be idle, its start included. */
  readonly quietMs?: number;
  /** Milliseconds that a process waits for another order. */
  readonly idleMs?: number;
  /** The module that the process runs. */
  readonly child?: URL;
}

const QUIET_MS = 20_000;
/** An idle process takes 30 MiB; starting one takes a quarter of a second of processor time. */
const IDLE_MS = 1_000;
/** Orders at the same time; others wait. */
const AT_ONCE = 8;
/** The relay has the deadlines; Pact's own, in ms per request, must never come first. */
const NO_LIMIT_MS = 24 * 3_600_000;
export function openVerifier({
  quietMs = QUIET_MS,
  idleMs = IDLE_MS,
  child,
}: VerifierLimits = {}): PactVerifier {
  const module = child ?? new URL('./verify-child.ts', import.meta.url);
  const limited = pLimit(AT_ONCE);
  /** All running processes. */
  const processes = new Set<PactProcess>();
  /** Those without an order, each with the timer of its end. */
  const idle = new Map<PactProcess, NodeJS.Timeout>();
  let relay: Promise<Relay> | null = null;
  let closed = false;

  function take(): PactProcess {
    // The last one used first, so that surplus processes time out.
    for (const [pact, going] of [...idle].reverse()) {
      clearTimeout(going);
      idle.delete(pact);
      if (!pact.ended) return pact;
      processes.delete(pact);
    }
    const pact = new PactProcess(module);
    processes.add(pact);
    return pact;
  }

  function end(pact: PactProcess, reason: string): void {
    clearTimeout(idle.get(pact));
    idle.delete(pact);
    processes.delete(pact);
    pact.end(reason);
  }

  async function verified({ interaction, provider, handlers, setsStates, signal }: VerificationOrder) {
    signal.throwIfAborted();
    if (closed) throw new PactFailure('Pact was closed');
    relay ??= openRelay();
    const route = (await relay).route(interaction.pact, handlers);
    const pact = take();
    const quiet = new QuietWatch(quietMs, route, () =>
      end(pact, `Pact did nothing for ${quietMs / 1000} s and was ended`),
    );
    let answered = false;
    try {
      const options = verifierOptions(interaction, provider, route, setsStates);
      const text = await unlessAborted(pact.ask(options), signal);
      answered = true;
      const thrown = route.thrown();
      if (thrown !== undefined) throw thrown;
      return readVerdict(route.masked(text), interaction.description);
    } finally {
      quiet.stop();
      route.release();
      if (!answered) end(pact, 'the verification was given up');
      else if (!closed) {
        const going = setTimeout(() => end(pact, 'Pact had nothing to do'), idleMs).unref();
        idle.set(pact, going);
      }
    }
  }

  return {
    verify: (order) =>
      unlessAborted(
        limited(() => verified(order)),
        order.signal,
      ),
    async close() {
      closed = true;
      for (const pact of processes) end(pact, 'Pact was closed');
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
    // Otherwise the response of another address would be judged.
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

/** Settles as `work` does, or rejects at once when the signal is aborted. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const aborted = () => reject(signal.reason);
  signal.addEventListener('abort', aborted, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  return promise;
}

/** Pact's verdict on one interaction. */
export type PactVerdict =
  | { readonly kind: 'verified' }
  /** Pact's own words, one line per mismatch. */
  | { readonly kind: 'mismatched'; readonly mismatches: readonly string[] }
  /** Pact gave no verdict. */
  | { readonly kind: 'undecided'; readonly reason: string };

const LONGEST_LINE = 300;

/**
 * Reads the verifier's report on a pact of one interaction. Pact reports success if it verified nothing at all, so only
 * the named interaction, reported once, counts as verified.
 */
export function readVerdict(text: string, description: string): PactVerdict {
  const report = parseJsonObject(text);
  if (report === null) return undecided(text);
  const results = asList(report.interactionResults).filter(isJsonObject);
  const errors = asList(report.errors).filter(isJsonObject);
  const [result] = results;
  if (result === undefined) {
    const [error] = errors;
    return undecided(error ? messageOf(error.mismatch) : 'Pact found no interaction in the pact');
  }
  if (results.length > 1 || result.description !== description) {
    return undecided(`Pact reports ${results.length} other interactions in place of this one`);
  }
  if (result.result === 'OK') {
    return errors.length === 0 ? { kind: 'verified' } : undecided(messageOf(errors[0]?.mismatch));
  }
  const { mismatch } = result;
  if (!isJsonObject(mismatch) || mismatch.type !== 'mismatches') return undecided(messageOf(mismatch));
  const mismatches = asList(mismatch.mismatches).filter(isJsonObject).map(lineOf);
  return mismatches.length > 0
    ? { kind: 'mismatched', mismatches }
    : undecided('Pact reports a failure without a mismatch');
}

/** RFC 9110 §5.3 takes `a, b` in one line for two lines; Pact does not, if the pact has a list. */
const AS_A_LIST = 'Pact compares this header as a list, line by line';

function lineOf({ type, path, key, mismatch, expected, actual }: JsonObject): string {
  const said =
    typeof mismatch === 'string' ? mismatch : `expected ${plain(expected)} but was ${plain(actual)}`;
  if (type === 'BodyMismatch' && typeof path === 'string') return shown(`${path}: ${said}`);
  if (type === 'StatusMismatch') return shown(`status: ${said}`);
  // Pact's text usually names the header or metadata key; if not, it is added.
  const named = typeof key === 'string' && !said.includes(key) ? `${key}: ${said}` : said;
  const isOfList = type === 'HeaderMismatch' && / at index \d/.test(said);
  return shown(isOfList ? `${named} (${AS_A_LIST})` : named);
}

/** As JSON: an object may override `toString`. */
function plain(value: unknown): string {
  return hasMembers(value) ? JSON.stringify(value) : String(value);
}

function messageOf(mismatch: unknown): string {
  if (isJsonObject(mismatch) && typeof mismatch.message === 'string') return mismatch.message;
  return 'Pact gives no reason';
}

function undecided(reason: string): PactVerdict {
  return { kind: 'undecided', reason: shown(reason) };
}

function shown(text: string): string {
  return visible(text.trim(), LONGEST_LINE);
}
