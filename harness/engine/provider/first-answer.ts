import { sample } from '../../../suites/stimuli/sample.ts';
import { findClause, placeOfClause } from '../../base/clause.ts';
import { UsageError } from '../../base/exit.ts';
import { reasonOf } from '../../base/thrown.ts';
import { loadServices } from '../../config/load.ts';
import type { Results } from '../../report/results/results.ts';
import { systemClock } from '../../wire/pace/clock.ts';
import { openLiveSession } from '../session/session.ts';
import { startProvider } from './start.ts';

interface FirstAsk {
  readonly configDir: string;
  readonly service: string;
  readonly env: NodeJS.ProcessEnv;
  readonly harness: Results['run']['harness'];
}

/** Milliseconds for the response. */
const PATIENCE_MS = 15_000;

/**
 * Sends the documented sample once with the key and describes the response in a sentence. Never throws for an
 * unreachable service: the config is written already.
 */
export async function firstAnswer({ configDir, service, env, harness }: FirstAsk): Promise<string> {
  try {
    const { services } = await loadServices({ configDir, services: [service], env });
    const config = services[0]?.config;
    if (config === undefined) return 'The sample was not tried.';
    const provider = await startProvider(config);
    const session = openLiveSession({
      config,
      providerUrl: provider.url,
      runId: 'init',
      userAgent: `${harness.name}/${harness.version}`,
      clock: systemClock,
      record: () => {},
    });
    try {
      const answer = await session.ask(sample, AbortSignal.timeout(PATIENCE_MS));
      if ('failed' in answer) return `The sample does not work: ${session.redact(reasonOf(answer.failed))}`;
      const { response } = answer.value.exchange;
      const path = answer.value.exchange.request.target;
      if (response === null)
        return `GET ${path} was not answered: ${session.redact(answer.value.exchange.failure?.message ?? 'no response')}`;
      const clause = findClause(config.contract, 'endpoint.sample');
      const place = clause === undefined ? '' : ` (${placeOfClause(config.contract, clause)})`;
      const hint = HINTS[response.status]?.replace(' PLACE', place) ?? '';
      return session.redact(`GET ${path} is answered ${response.status}${hint}`);
    } finally {
      await session.close();
      await provider.stop();
    }
  } catch (error) {
    if (error instanceof UsageError) return `The sample was not tried: ${error.message}`;
    throw error;
  }
}

const HINTS: Readonly<Record<number, string>> = {
  200: ': the sample works',
  401: ': the service does not take what it was sent',
  403: ': the key is known and may not do this; use one that may',
  404: ': there is nothing at that path; correct the URL, the path in the document or endpoint.sample PLACE',
  429: ': the quota is spent; try again later',
};
