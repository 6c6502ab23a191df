import type { PactBroker } from '../config/pact/pacts.ts';
import { isJsonObject } from '../json-text.ts';
import { type BrokerClient, BrokerTrouble } from './broker-client.ts';

/** One version of a consumer's pact, as a broker has it. */
export interface BrokerPact {
  readonly url: string;
  /** JSON text. */
  readonly text: string;
  /** The broker says that the provider has never fulfilled it. */
  readonly pending: boolean;
}

/** More than this are no contracts of one service. */
const MAX_PACTS = 200;

/**
 * The pacts of a provider that the selectors name.
 *
 * @throws BrokerTrouble when the broker does not give them, and when it has none.
 */
export async function pactsOf(
  broker: PactBroker,
  provider: string,
  client: BrokerClient,
): Promise<readonly BrokerPact[]> {
  const index = await client.get(`${broker.url}/`);
  const forVerification = index.link('pb:provider-pacts-for-verification', { provider });
  if (forVerification === null) {
    throw new BrokerTrouble(
      `${broker.url} has no link pb:provider-pacts-for-verification: it is no Pact Broker`,
    );
  }
  const found = await client.post(forVerification, {
    consumerVersionSelectors: broker.selectors,
    includePendingStatus: broker.pending,
    ...(broker.wipSince === null ? {} : { includeWipPactsSince: broker.wipSince }),
    ...(broker.branch === null ? {} : { providerVersionBranch: broker.branch }),
  });
  const { _embedded: embedded } = found.value;
  const listed =
    isJsonObject(embedded) && Array.isArray(embedded.pacts) ? embedded.pacts.filter(isJsonObject) : [];
  if (listed.length === 0) {
    throw new BrokerTrouble(
      `${broker.url} has no pact of the provider ${JSON.stringify(provider)} for these selectors`,
    );
  }
  if (listed.length > MAX_PACTS) {
    throw new BrokerTrouble(
      `${broker.url} has ${listed.length} pacts for these selectors; ${MAX_PACTS} at most are verified`,
    );
  }
  const pacts: BrokerPact[] = [];
  for (const { _links: links, verificationProperties: properties } of listed) {
    const self = isJsonObject(links) ? links.self : undefined;
    if (!isJsonObject(self) || typeof self.href !== 'string')
      throw new BrokerTrouble(`${broker.url} names a pact without its address`);
    const url = new URL(self.href, forVerification).href;
    const { text } = await client.get(url);
    pacts.push({ url, text, pending: isJsonObject(properties) && properties.pending === true });
  }
  return pacts;
}
