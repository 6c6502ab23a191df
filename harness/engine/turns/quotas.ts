import { addressOf } from '../../config/provider/provider.ts';
import { secretsIn } from '../../config/secrets.ts';
import type { ServiceConfig } from '../../config/service.ts';

/** Services share a quota where one of their keys and the address are the same, directly or by way of others. */
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

/** What the limiter of a service may count by; with secrets in it, so it is never written anywhere. */
export interface Quota {
  /** The host with its port, or the socket; for a provider that is started for the run, its kind and service. */
  readonly place: string;
  /** Empty where clients have none. */
  readonly key: string;
  /** Its service is started for the run, so nobody elsewhere reaches it. */
  readonly isOurs: boolean;
}

/** The address with each key; the address alone where there is no key. */
export function quotasOf({ service, provider, credentials }: ServiceConfig): readonly Quota[] {
  const address = addressOf(provider);
  const isOurs = address === null;
  // The path of a socket has no host.
  const place = isOurs ? `${provider.kind} ${service}` : URL.parse(address)?.host || address;
  const keys = secretsIn(credentials.values).map((key) => key.reveal());
  return (keys.length === 0 ? [''] : keys).map((key) => ({ place, key, isOurs }));
}

/** One quota, as a word. */
export const quotaName = ({ place, key }: Quota): string => `${place} ${key}`;
