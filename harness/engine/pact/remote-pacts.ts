import { readPact } from '../../config/pact/pact-file.ts';
import { brokerSecrets, distinct, type ExpectedInteraction, isUrl } from '../../config/pact/pacts.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { BrokerFailure, openBroker, type SendToBroker } from '../../providers/pact/broker-client.ts';
import { type BrokerPact, pactsOf } from '../../providers/pact/broker-pacts.ts';
import { visible } from '../../wire/octets/utf8.ts';
import { createRedaction } from '../../wire/redaction/redaction.ts';

interface FetchOptions {
  readonly userAgent: string;
  readonly runId: string;
  readonly signal: AbortSignal;
  /** Milliseconds for all pacts of one source. */
  readonly patienceMs?: number;
}

/** A broker that answers many requests slowly would delay a run by half an hour. */
const PATIENCE_MS = 60_000;
const LONGEST_REASON = 500;

/**
 * The service with the pacts of URLs and of its broker fetched. A pact that cannot be fetched is listed in `unread` and
 * blocks its check, so it is never just missing.
 */
export async function withPactsFetched(config: ServiceConfig, options: FetchOptions): Promise<ServiceConfig> {
  const { pacts } = config;
  if (!pacts || (pacts.broker === null && !pacts.files.some(isUrl))) return config;
  const { brokerSender } = await import('./broker-send.ts');
  const { broker, provider, files } = pacts;
  const redaction = createRedaction(brokerSecrets(broker));
  const { patienceMs = PATIENCE_MS } = options;
  const fetched: ExpectedInteraction[] = [];
  const unread: string[] = [];
  const take = async (source: string, fetch: (send: SendToBroker) => Promise<readonly BrokerPact[]>) => {
    const late = AbortSignal.timeout(patienceMs);
    const signal = AbortSignal.any([options.signal, late]);
    try {
      const found = await fetch(brokerSender({ ...options, signal, redaction, config }));
      for (const pact of found) fetched.push(...interactionsOf(pact, provider));
    } catch (error) {
      if (!(error instanceof BrokerFailure)) throw error;
      const reason = late.aborted ? `they were not there within ${patienceMs / 1_000} s` : error.message;
      unread.push(visible(`the pacts of ${source} could not be read: ${reason}`, LONGEST_REASON));
    }
  };
  for (const url of files.filter(isUrl)) {
    await take(url, async (send) => {
      const client = openBroker(broker ?? { url, credentials: null }, send);
      return [{ url, text: (await client.get(url)).text, pending: false }];
    });
  }
  if (broker !== null) await take(broker.url, (send) => pactsOf(broker, provider, openBroker(broker, send)));
  const interactions = distinct([...pacts.interactions, ...fetched]);
  return { ...config, pacts: { ...pacts, interactions, unread } };
}

function interactionsOf(
  { url, text, pending }: BrokerPact,
  provider: string,
): readonly ExpectedInteraction[] {
  const pact = readPact(text, { source: url, pending });
  if ('fault' in pact) throw new BrokerFailure(`${url}: ${pact.fault.problem}`);
  if (pact.provider !== provider) {
    throw new BrokerFailure(
      `${url} is for the provider ${JSON.stringify(pact.provider)}, not ${JSON.stringify(provider)}`,
    );
  }
  if (pact.interactions.length === 0) throw new BrokerFailure(`${url} holds no interaction`);
  return pact.interactions;
}
