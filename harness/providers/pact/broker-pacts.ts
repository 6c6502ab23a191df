import { isJsonObject } from '../../base/json-text.ts';
import type { PactBroker } from '../../config/pact/pacts.ts';
import { type BrokerClient, BrokerFailure } from './broker-client.ts';

/** One version of a consumer's pact in a broker. */
export interface BrokerPact {
  readonly url: string;
  /** JSON text. */
  readonly text: string;
  /** By the broker, the provider has never fulfilled it. */
  readonly pending: boolean;
}

/** More pacts than one service has. */
const MAX_PACTS = 200;

/**
 * The pacts of a provider that the selectors name.
 *
 * @throws BrokerFailure when the broker does not give them, and when it has none.
 */
export async function pactsOf(
  broker: PactBroker,
  provider: string,
  client: BrokerClient,
): Promise<readonly BrokerPact[]> {
  const index = await client.get(`${broker.url}/`);
  const forVerification = index.link('pb:provider-pacts-for-verification', { provider });
  if (forVerification === null) {
    throw new BrokerFailure(
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
    throw new BrokerFailure(
      `${broker.url} has no pact of the provider ${JSON.stringify(provider)} for these selectors`,
    );
  }
  if (listed.length > MAX_PACTS) {
    throw new BrokerFailure(
      `${broker.url} has ${listed.length} pacts for these selectors; ${MAX_PACTS} at most are verified`,
    );
  }
  const pacts: BrokerPact[] = [];
  for (const { _links: links, verificationProperties: properties } of listed) {
    const self = isJsonObject(links) ? links.self : undefined;
    if (!isJsonObject(self) || typeof self.href !== 'string')
      throw new BrokerFailure(`${broker.url} names a pact without its address`);
    const url = new URL(self.href, forVerification).href;
    const { text } = await client.get(url);
    pacts.push({ url, text, pending: isJsonObject(properties) && properties.pending === true });
  }
  return pacts;
}

/** A version of one side, as a broker knows it. */
export interface PublishedVersion {
  readonly number: string;
  readonly branch: string | null;
  /** Address of the build that publishes it. */
  readonly buildUrl: string | null;
}

/** A pact to publish. */
export interface PublishablePact {
  readonly consumer: string;
  readonly provider: string;
  readonly text: string;
}

/** The result for one pact of the broker. */
export interface PactResult {
  /** Where the broker has it. */
  readonly url: string;
  readonly interactions: readonly {
    readonly brokerId: string;
    readonly success: boolean;
    /** Why not; one line. */
    readonly mismatch: string;
  }[];
}

interface Tool {
  readonly name: string;
  readonly version: string;
}

/** Publishes all pacts of one consumer version. @returns the broker's notices. @throws BrokerFailure */
export async function publishPacts(
  broker: PactBroker,
  pacts: readonly PublishablePact[],
  version: PublishedVersion,
  client: BrokerClient,
): Promise<readonly string[]> {
  const index = await client.get(`${broker.url}/`);
  const address = index.link('pb:publish-contracts');
  if (address === null)
    throw new BrokerFailure(
      `${broker.url} has no link pb:publish-contracts: it is no Pact Broker, or an old one`,
    );
  const said: string[] = [];
  for (const [consumer, own] of Map.groupBy(pacts, (pact) => pact.consumer)) {
    const { value } = await client.post(address, {
      pacticipantName: consumer,
      pacticipantVersionNumber: version.number,
      ...(version.branch === null ? {} : { branch: version.branch }),
      ...(version.buildUrl === null ? {} : { buildUrl: version.buildUrl }),
      contracts: own.map(({ provider, text }) => ({
        consumerName: consumer,
        providerName: provider,
        specification: 'pact',
        contentType: 'application/json',
        content: Buffer.from(text).toString('base64'),
        onConflict: 'overwrite',
      })),
    });
    said.push(...noticesIn(value.notices));
  }
  return said;
}

/** Publishes the results for one version of the provider, one pact after the other. @throws BrokerFailure */
export async function publishResults(
  results: readonly PactResult[],
  version: PublishedVersion,
  tool: Tool,
  client: BrokerClient,
): Promise<void> {
  let branchKnown = version.branch === null;
  for (const { url, interactions } of results) {
    const pact = await client.get(url);
    const address = pact.link('pb:publish-verification-results');
    if (address === null) throw new BrokerFailure(`${url} has no link pb:publish-verification-results`);
    if (!branchKnown) await createBranchVersion(pact.link('pb:provider'), version, client);
    branchKnown = true;
    await client.post(address, {
      success: interactions.every(({ success }) => success),
      providerApplicationVersion: version.number,
      ...(version.buildUrl === null ? {} : { buildUrl: version.buildUrl }),
      testResults: interactions.map(({ brokerId, success, mismatch }) => ({
        interactionId: brokerId,
        success,
        ...(success ? {} : { mismatches: [{ description: mismatch }] }),
      })),
      verifiedBy: { implementation: tool.name, version: tool.version },
    });
  }
}

/** Only this registers a branch with the broker; a result does not name it. */
async function createBranchVersion(
  provider: string | null,
  { branch, number }: PublishedVersion,
  client: BrokerClient,
): Promise<void> {
  const address =
    provider === null
      ? null
      : (await client.get(provider)).link('pb:branch-version', { branch: branch ?? '', version: number });
  if (address === null)
    throw new BrokerFailure('the broker has no link pb:branch-version, so it knows no branches');
  await client.put(address, {});
}

function noticesIn(notices: unknown): readonly string[] {
  if (!Array.isArray(notices)) return [];
  return notices.flatMap((notice: unknown) =>
    isJsonObject(notice) && typeof notice.text === 'string' ? [notice.text] : [],
  );
}
