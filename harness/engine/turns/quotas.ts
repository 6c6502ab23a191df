import { addressOf } from '../../config/provider/provider.ts';
import { secretsIn } from '../../config/secrets.ts';
import type { ServiceConfig } from '../../config/service.ts';

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
