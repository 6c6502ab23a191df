import { randomUUID, scrypt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { RedisClientType } from '@redis/client';
import { UsageError } from '../../base/exit.ts';
import { holdInstalled } from '../../base/optional-package.ts';
import { codeOf } from '../../base/thrown.ts';
import type { Quota, QuotaTurn, SharedTurns } from './turns.ts';

/** The environment variable with the address of the store, which may include its password. */
export const STORE_VARIABLE = 'CONFORM_SHARE_QUOTA';

/** Milliseconds without a renewal after which a runner loses its turn. */
const LEASE_MS = 15_000;
/** Renewals within a lease. */
const RENEWALS = 3;
/** Longest pause between attempts to reach the store, in ms. */
const LONGEST_RETRY_MS = 5_000;
/** Milliseconds between two attempts to take a turn. */
const ASK_MS = 500;
/** Longest wait for a turn, in ms. */
const LONGEST_WAIT_MS = 60 * 60 * 1_000;
/** Milliseconds that the last use of a quota is stored: longer than the windows of plans. */
const KEPT_MS = 24 * 60 * 60 * 1_000;
/** Milliseconds in which the store must answer. */
const ANSWER_MS = 3_000;

/**
 * Scripts, so that each step is one. KEYS: who has the turn, when the quota was last spent (Unix time of the store in
 * ms). ARGV: the token of the runner, the lease, how long the time is kept. The answer -1: another runner has the turn.
 */
const NOW = "local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)";
const TAKE = `${NOW}
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return -1 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local used = redis.call('GET', KEYS[2])
return used and math.max(0, now - used) or -2`;
const KEEP = `${NOW}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('SET', KEYS[2], string.format('%d', now), 'PX', ARGV[3])
return 0`;
const GIVE = `${NOW}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
redis.call('SET', KEYS[2], string.format('%d', now), 'PX', ARGV[3])
redis.call('DEL', KEYS[1])
return 0`;
const TAKEN = -1;

/** The address of a store, checked. */
export interface StoreAddress {
  /** With the password; for the client alone. */
  readonly url: string;
  /** `host:port`, for messages. */
  readonly host: string;
  /** null if none. */
  readonly password: string | null;
}

/** @throws UsageError for an invalid address, naming its source. */
export function storeAddress(text: string, from: string): StoreAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  const scheme = /^(?:redis|valkey)(s?):$/.exec(url?.protocol ?? '');
  if (url === null || scheme === null || url.hostname === '') {
    throw new UsageError(`${from} is no address of a Redis or Valkey server`, {
      remedy: 'write it as redis://HOST:6379, or rediss:// for TLS',
    });
  }
  return {
    url: `redis${scheme[1]}:${url.href.slice(url.protocol.length)}`,
    host: url.port === '' ? `${url.hostname}:6379` : url.host,
    password: url.password === '' ? null : decodeURIComponent(url.password),
  };
}

export interface TurnStoreOptions {
  readonly address: StoreAddress;
  /** Called with a sentence when the store is lost during a turn. */
  readonly lost: (sentence: string) => void;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
  readonly longestWaitMs?: number;
  readonly leaseMs?: number;
}

export interface TurnStore extends SharedTurns {
  close(): Promise<void>;
}

/**
 * Turns that runners on several machines take on a quota, kept in Redis or Valkey: a lease of 15 s that its holder
 * renews, so that a killed runner delays others only briefly. No key is stored, only an scrypt hash of it.
 *
 * @throws UsageError when the store cannot be reached, or when the client for it is not installed.
 */
export async function openTurnStore(options: TurnStoreOptions): Promise<TurnStore> {
  const { address } = options;
  holdInstalled('@redis/client', STORE_VARIABLE);
  const { createClient } = await import('@redis/client');
  let isOpen = false;
  const client = createClient({
    url: address.url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: ANSWER_MS,
      // A store that was never reached is reported at once.
      reconnectStrategy: (retries, cause) =>
        isOpen ? Math.min(LONGEST_RETRY_MS, 200 * 2 ** retries) : cause,
    },
  }) as RedisClientType;
  // Each command reports its own error.
  client.on('error', () => {});
  try {
    await inTime(client.connect());
    await inTime(client.ping());
    isOpen = true;
  } catch (error) {
    client.destroy();
    const why = plainCause(error);
    throw new UsageError(`the store of shared quotas at ${address.host} cannot be used: ${why}`, {
      remedy: `start it, correct the address, or run without ${STORE_VARIABLE}`,
    });
  }
  return new RedisTurns(client, options);
}

class RedisTurns implements TurnStore {
  readonly #client: RedisClientType;
  readonly #options: TurnStoreOptions;
  readonly #leaseMs: number;
  readonly #token = randomUUID();
  /** By name: end of the lease, in ms of `performance.now()`. */
  readonly #leases = new Map<string, number>();
  readonly #pulse: NodeJS.Timeout;
  #isLost = false;

  constructor(client: RedisClientType, options: TurnStoreOptions) {
    this.#client = client;
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
    this.#pulse = setInterval(() => void this.#keep(), this.#leaseMs / RENEWALS);
    this.#pulse.unref();
  }

  async take(quotas: readonly Quota[]): Promise<QuotaTurn> {
    const { signal, address, longestWaitMs = LONGEST_WAIT_MS } = this.#options;
    const endMs = performance.now() + longestWaitMs;
    const used: number[] = [];
    // The same order on every machine avoids a deadlock.
    const names = (await Promise.all(quotas.map(nameOf))).toSorted();
    const held: string[] = [];
    try {
      for (const name of new Set(names)) {
        for (;;) {
          const sentMs = performance.now();
          const answer = await this.#run(TAKE, name);
          if (answer !== TAKEN) {
            this.#leases.set(name, sentMs + this.#leaseMs);
            held.push(name);
            if (answer >= 0) used.push(answer);
            break;
          }
          if (signal.aborted) return await this.#without(held, 'the run was ended');
          if (performance.now() > endMs) {
            const seconds = Math.round(longestWaitMs / 1000);
            const why = `another runner had the quota for ${seconds} s, as the store at ${address.host} says`;
            return await this.#without(held, why);
          }
          await pause(ASK_MS, undefined, { signal }).catch(() => undefined);
        }
      }
    } catch (error) {
      const why = `the store of shared quotas at ${address.host} is away: ${plainCause(error)}`;
      return this.#without(held, why);
    }
    return { usedAgoMs: used.length === 0 ? null : Math.min(...used) };
  }

  async give(quotas: readonly Quota[]): Promise<void> {
    await this.#release(await Promise.all(quotas.map(nameOf)));
  }

  async close(): Promise<void> {
    clearInterval(this.#pulse);
    await this.#release([...this.#leases.keys()]);
    this.#client.destroy();
  }

  async #without(held: readonly string[], reason: string): Promise<QuotaTurn> {
    await this.#release(held);
    return { reason };
  }

  /** If the store is away, the leases expire. */
  async #release(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (this.#leases.delete(name)) await this.#run(GIVE, name).catch(() => {});
    }
  }

  async #keep(): Promise<void> {
    for (const name of [...this.#leases.keys()]) {
      const sentMs = performance.now();
      const answer = await this.#run(KEEP, name).catch(() => null);
      const sureMs = this.#leases.get(name);
      if (sureMs === undefined) continue;
      if (answer === 0) this.#leases.set(name, sentMs + this.#leaseMs);
      else if (answer === TAKEN || performance.now() > sureMs) this.#lose(name);
    }
  }

  #lose(name: string): void {
    this.#leases.delete(name);
    if (this.#isLost) return;
    this.#isLost = true;
    this.#options.lost(
      `the store of shared quotas at ${this.#options.address.host} was away for more than ${this.#leaseMs / 1000} s: from then on another runner may have spent the same quota`,
    );
  }

  async #run(script: string, name: string): Promise<number> {
    const answer = await inTime(
      this.#client.eval(script, {
        // In braces, so that a cluster keeps both in one place.
        keys: [`conform:{${name}}:turn`, `conform:{${name}}:used`],
        arguments: [this.#token, String(this.#leaseMs), String(KEPT_MS)],
      }),
    );
    return Number(answer);
  }
}

const hash = promisify<string, string, number, Buffer>(scrypt);
const NAME_OCTETS = 16;

async function nameOf({ place, key }: Quota): Promise<string> {
  return (await hash(key, place, NAME_OCTETS)).toString('base64url');
}

/** @throws when the store does not answer in time. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const fault = new Error(`no answer within ${ANSWER_MS / 1000} s`);
  const timer = setTimeout(() => late.reject(fault), ANSWER_MS);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** Without the address, which has the password in it. */
function plainCause(error: unknown): string {
  if (!(error instanceof Error)) return 'for no reason that it gives';
  return codeOf(error) || error.message.split('\n')[0] || error.name;
}
