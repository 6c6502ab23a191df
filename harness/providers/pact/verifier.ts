import type { VerifierOptions } from '@pact-foundation/pact-core';
import pLimit from 'p-limit';
import { asList, hasMembers, isJsonObject, type JsonObject, parseJsonObject } from '../../base/json-text.ts';
import type { ExpectedInteraction } from '../../config/pact/interaction.ts';
import { visible } from '../../wire/octets/visible.ts';
import { PactFailure, PactProcess, QuietWatch } from './pact-process.ts';
import { openRelay, type Relay, type RelayHandlers, type RelayRoute } from './relay.ts';

export interface VerificationOrder {
  readonly interaction: ExpectedInteraction;
  /** Name of the provider in the pact. */
  readonly provider: string;
  readonly handlers: RelayHandlers;
  /** Whether `handlers.state` is to be asked. */
  readonly setsStates: boolean;
  readonly signal: AbortSignal;
}

/**
 * Pact's verifier, in processes of its own. One that has answered an order takes the next, so that several orders that
 * come together have several processes, and none suffers for another; it goes where no other order comes soon.
 */
export interface PactVerifier {
  /**
   * Holds the provider behind the handlers against one interaction. Rejects with the first thing that a handler threw,
   * with the signal's reason when it is aborted, and with PactFailure when Pact itself fails.
   */
  verify(order: VerificationOrder): Promise<PactVerdict>;
  close(): Promise<void>;
}

interface VerifierOptionsOfOurs {
  /** How long Pact may do nothing while nothing is asked of the provider, its start included; in ms. */
  readonly quietMs?: number;
  /** How long the process waits for another order, in ms. */
  readonly idleMs?: number;
  /** The module that the process runs. */
  readonly child?: URL;
}

const QUIET_MS = 20_000;
/** It takes 30 MiB, as long as it is there, and a quarter of a second of the processor to start. */
const IDLE_MS = 1_000;
/** Orders that come together; others wait. */
const AT_ONCE = 8;
/** Deadlines are the relay's; Pact's own, per request and in ms, must never come first. */
const NO_LIMIT_MS = 24 * 3_600_000;
export function openVerifier({
  quietMs = QUIET_MS,
  idleMs = IDLE_MS,
  child,
}: VerifierOptionsOfOurs = {}): PactVerifier {
  const module = child ?? new URL('./verify-child.ts', import.meta.url);
  const limited = pLimit(AT_ONCE);
  /** All that have not been ended. */
  const processes = new Set<PactProcess>();
  /** Those without an order, and when each goes. */
  const idle = new Map<PactProcess, NodeJS.Timeout>();
  let relay: Promise<Relay> | null = null;
  let closed = false;

  function take(): PactProcess {
    // The one that was at work last, so that those go that are not needed.
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
      if (!answered) end(pact, 'nobody waits for the answer');
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

/** Settles as `work` does, or rejects at once when the signal is aborted. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const aborted = () => reject(signal.reason);
  signal.addEventListener('abort', aborted, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  return promise;
}

/** What Pact says of one interaction. */
export type PactVerdict =
  | { readonly kind: 'verified' }
  /** Pact's own words, one line per mismatch. */
  | { readonly kind: 'mismatched'; readonly mismatches: readonly string[] }
  /** Pact came to no verdict. */
  | { readonly kind: 'undecided'; readonly reason: string };

const LONGEST_LINE = 300;

/**
 * Reads what the verifier answered for a pact of one interaction. Pact resolves with success when it verified
 * nothing at all, so only the named interaction, reported once, counts as verified.
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

function lineOf({ type, path, key, mismatch, expected, actual }: JsonObject): string {
  const said =
    typeof mismatch === 'string' ? mismatch : `expected ${plain(expected)} but was ${plain(actual)}`;
  if (type === 'BodyMismatch' && typeof path === 'string') return shown(`${path}: ${said}`);
  if (type === 'StatusMismatch') return shown(`status: ${said}`);
  // Pact's text names the header or metadata key already; where it does not, the line would be about nothing.
  return shown(typeof key === 'string' && !said.includes(key) ? `${key}: ${said}` : said);
}

/** An object may have a `toString` of its own. */
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
