import { addressOf } from '../../config/provider/provider.ts';
import { secretsIn } from '../../config/secrets.ts';
import type { ServiceConfig } from '../../config/service.ts';

/** The result of waiting for a quota. */
export type QuotaTurn =
  /** The service has its quotas to itself. Milliseconds since their last use; null if unknown. */
  | { readonly usedAgoMs: number | null }
  /** It gets no turn. */
  | { readonly reason: string };

/** Turns in a store that several machines share. Never rejects. */
export interface SharedTurns {
  /** Waits until no other machine has one of the quotas. */
  take(quotas: readonly Quota[]): Promise<QuotaTurn>;
  give(quotas: readonly Quota[]): Promise<void>;
}

export interface TurnsOptions {
  /** By service: the quotas that it spends. */
  readonly quotas: ReadonlyMap<string, readonly Quota[]>;
  /** For quotas that other machines spend too; null if none does. */
  readonly shared: SharedTurns | null;
  /** Called when a service has to wait for others of this run. */
  readonly waiting: (service: string, others: readonly string[]) => void;
  /** Unix time in ms. */
  readonly now: () => number;
}

interface WaitingService {
  readonly service: string;
  readonly grant: () => void;
}

/**
 * Services that spend the same quota are judged one after the other: at the same time, each would meet refusals caused
 * by the other. First come, first served; a service that shares no quota with an earlier one does not wait.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #having = new Set<string>();
  readonly #usedMs = new Map<string, number>();
  #waiting: readonly WaitingService[] = [];

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Never rejects. A service that has its turn keeps it. */
  async take(service: string): Promise<QuotaTurn> {
    if (!this.#having.has(service)) {
      const others = [...this.#having].filter((other) => this.#sharesQuota(service, other));
      if (others.length > 0) this.#options.waiting(service, others);
      await new Promise<void>((grant) => {
        this.#waiting = [...this.#waiting, { service, grant }];
        this.#next();
      });
    }
    const usedAgoMs = this.#usedAgoMs(service);
    const { shared } = this.#options;
    const reached = this.#reached(service);
    if (shared === null || reached.length === 0) return { usedAgoMs };
    const turn = await shared.take(reached);
    if ('reason' in turn) return turn;
    const known = [usedAgoMs, turn.usedAgoMs].filter((ms) => ms !== null);
    return { usedAgoMs: known.length === 0 ? null : Math.min(...known) };
  }

  /** Releases its quotas. */
  async give(service: string): Promise<void> {
    if (!this.#having.has(service)) return;
    const quotas = this.#quotas(service);
    for (const quota of quotas) this.#usedMs.set(quotaName(quota), this.#options.now());
    await this.#options.shared?.give(this.#reached(service));
    this.#having.delete(service);
    this.#next();
  }

  #next(): void {
    const busy = [...this.#having];
    const still: WaitingService[] = [];
    for (const each of this.#waiting) {
      const isFree = !busy.some((other) => this.#sharesQuota(each.service, other));
      busy.push(each.service);
      if (!isFree) {
        still.push(each);
        continue;
      }
      this.#having.add(each.service);
      each.grant();
    }
    this.#waiting = still;
  }

  #quotas(service: string): readonly Quota[] {
    return this.#options.quotas.get(service) ?? [];
  }

  /** Quotas that other machines may spend too. */
  #reached(service: string): readonly Quota[] {
    return this.#quotas(service).filter(({ isOurs }) => !isOurs);
  }

  #sharesQuota(one: string, other: string): boolean {
    const names = new Set(this.#quotas(other).map(quotaName));
    return this.#quotas(one).some((quota) => names.has(quotaName(quota)));
  }

  #usedAgoMs(service: string): number | null {
    const used = this.#quotas(service).flatMap((quota) => this.#usedMs.get(quotaName(quota)) ?? []);
    return used.length === 0 ? null : this.#options.now() - Math.max(...used);
  }
}

/** Groups of services that share a quota: the same address and a common key, directly or through other services. */
export function quotaGroups(configs: readonly ServiceConfig[]): readonly (readonly ServiceConfig[])[] {
  const groups: { readonly quotas: Set<string>; readonly configs: ServiceConfig[] }[] = [];
  for (const config of configs) {
    const quotas = new Set(quotasOf(config).map(quotaName));
    const same = groups.filter((group) => !group.quotas.isDisjointFrom(quotas));
    const joined = {
      quotas: same.reduce((all, group) => all.union(group.quotas), quotas),
      configs: [...same.flatMap((group) => group.configs), config],
    };
    groups.splice(0, groups.length, ...groups.filter((group) => !same.includes(group)), joined);
  }
  return groups.map((group) => group.configs);
}

/** What a limiter may count by. It contains secrets, so it is never written. */
export interface Quota {
  /** Host and port, or the socket; kind and service for a provider started by the run. */
  readonly place: string;
  /** Empty if clients have none. */
  readonly key: string;
  /** The run starts the service, so no other machine reaches it. */
  readonly isOurs: boolean;
}

/** The address with each key; the address alone if there is no key. */
export function quotasOf({ service, provider, credentials }: ServiceConfig): readonly Quota[] {
  const address = addressOf(provider);
  const isOurs = address === null;
  // The path of a socket has no host.
  const place = isOurs ? `${provider.kind} ${service}` : URL.parse(address)?.host || address;
  const keys = secretsIn(credentials.values).map((key) => key.reveal());
  return (keys.length === 0 ? [''] : keys).map((key) => ({ place, key, isOurs }));
}

/** A quota as one string. */
export const quotaName = ({ place, key }: Quota): string => `${place} ${key}`;
