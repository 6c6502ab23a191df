import { readFile } from 'node:fs/promises';
import { InconclusiveError, UsageError } from '../../base/exit.ts';
import { readPact } from '../../config/pact/pact-file.ts';
import { brokerSecrets, isUrl, type PactBroker, type PactsConfig } from '../../config/pact/pacts.ts';
import { pactPaths } from '../../config/pact/read-sources.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { type BrokerClient, BrokerFailure, openBroker } from '../../providers/pact/broker-client.ts';
import {
  type PactResult,
  type PublishablePact,
  type PublishedVersion,
  publishPacts,
  publishResults,
} from '../../providers/pact/broker-pacts.ts';
import type { Results, ServiceResult } from '../../report/results/results.ts';
import { createRedaction } from '../../wire/redaction/redaction.ts';
import { brokerSender } from './broker-send.ts';

/** Milliseconds for all publishing. */
const PATIENCE_MS = 120_000;

interface Publishing {
  readonly version: PublishedVersion;
  readonly harness: Results['run']['harness'];
}

/**
 * Publishes the pact files of a service to its broker, as those of one version of their consumers.
 *
 * @returns one line for each pact and each notice of the broker.
 * @throws UsageError when there is no broker or no file; InconclusiveError when the broker refuses them.
 */
export async function publishServicePacts(
  config: ServiceConfig,
  { version, harness }: Publishing,
): Promise<readonly string[]> {
  const { pacts, broker } = brokered(config);
  const found = await ownFiles(pacts);
  if (found.length === 0) {
    throw new UsageError(`${config.service} has no pact file to publish, only the pacts of its broker`, {
      remedy: 'name files or folders as `pacts.files`',
    });
  }
  const said = await asked(broker, config, harness, (client) => publishPacts(broker, found, version, client));
  const as = `version ${version.number}`;
  return [...found.map(({ consumer, provider }) => `published ${consumer} -> ${provider}, ${as}`), ...said];
}

/**
 * Publishes the results of a finished run for the pacts of the broker, for one version of the provider.
 *
 * @returns one line for each pact.
 * @throws UsageError when the run verified none of them; InconclusiveError when a pact was verified only in part, which
 *   must never be published as a whole, and when the broker refuses the results.
 */
export async function publishServiceResults(
  config: ServiceConfig,
  results: Results,
  { version, harness }: Publishing,
): Promise<readonly string[]> {
  const { broker } = brokered(config);
  if (results.run.interrupted) {
    throw new InconclusiveError(`the run ${results.run.id} was cut short: its results are not published`);
  }
  const service = results.services.find(({ service: name }) => name === config.service);
  const found = service ? resultsFor(service, broker) : [];
  if (found.length === 0) {
    const problem = `the run ${results.run.id} verified no pact of ${broker.url} for ${config.service}`;
    throw new UsageError(problem, {
      remedy: 'run `conform pact verify` first, and name its results.json with --results',
    });
  }
  await asked(broker, config, harness, (client) => publishResults(found, version, harness, client));
  return found.map(({ url, interactions }) => {
    const verdict = interactions.every(({ success }) => success) ? 'verified' : 'failed';
    return `published ${verdict} for ${url}, version ${version.number}`;
  });
}

function brokered(config: ServiceConfig): { readonly pacts: PactsConfig; readonly broker: PactBroker } {
  const { pacts, service } = config;
  if (pacts?.broker) return { pacts, broker: pacts.broker };
  throw new UsageError(`${service} has no broker`, { remedy: 'name one in its config as `pacts.broker`' });
}

async function asked<T>(
  broker: PactBroker,
  config: ServiceConfig,
  harness: Publishing['harness'],
  ask: (client: BrokerClient) => Promise<T>,
): Promise<T> {
  const redaction = createRedaction(brokerSecrets(broker));
  const late = AbortSignal.timeout(PATIENCE_MS);
  const send = brokerSender({
    signal: late,
    redaction,
    userAgent: `${harness.name}/${harness.version}`,
    runId: 'publish',
    config,
  });
  try {
    return await ask(openBroker(broker, send));
  } catch (error) {
    if (!(error instanceof BrokerFailure)) throw error;
    const reason = late.aborted
      ? `${broker.url} did not take it all within ${PATIENCE_MS / 1_000} s`
      : error.message;
    throw new InconclusiveError(redaction.sink(reason), { cause: error });
  }
}

/** The pact files of this provider, unchanged: loading the config has validated them. */
async function ownFiles({ files, provider }: PactsConfig): Promise<readonly PublishablePact[]> {
  const found: PublishablePact[] = [];
  for (const file of files.filter((each) => !isUrl(each))) {
    const listed = await pactPaths(file);
    for (const path of 'paths' in listed ? listed.paths : []) {
      const text = await readFile(path, 'utf8');
      const pact = readPact(text, { source: path });
      if (!('fault' in pact) && pact.provider === provider)
        found.push({ consumer: pact.consumer, provider, text });
    }
  }
  return found;
}

function resultsFor({ pacts = [], checks }: ServiceResult, broker: PactBroker): readonly PactResult[] {
  const byId = new Map(checks.map((check) => [check.id, check]));
  return pacts
    .filter(({ source }) => isUrl(source) && new URL(source).origin === new URL(broker.url).origin)
    .map(({ source, interactions }) => ({
      url: source,
      interactions: interactions.map(({ check, brokerId }) => {
        const judged = byId.get(check);
        if (brokerId === null) throw new InconclusiveError(`${source} does not name its interactions by _id`);
        const success = judged ? SUCCESS[judged.outcome] : undefined;
        if (judged === undefined || success === undefined) {
          const why = judged ? `${judged.outcome}: ${judged.message}` : 'it was not selected';
          const problem = `${source} was not verified as a whole (${check} ${why})`;
          throw new InconclusiveError(`${problem}, so nothing is published`);
        }
        return { brokerId, success, mismatch: success ? '' : judged.message };
      }),
    }));
}

/** Whether an outcome is a success. A known failure is none. */
const SUCCESS: Readonly<Partial<Record<string, boolean>>> = {
  pass: true,
  fail: false,
  warning: false,
  known: false,
};
