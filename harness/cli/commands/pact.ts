import { join } from 'node:path';
import { UsageError } from '../../base/exit.ts';
import { loadServices } from '../../config/load.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { readResults } from '../../report/results/read-results.ts';
import { newestReports } from '../../report/write.ts';
import { HARNESS } from '../process.ts';
import type { RunOptions } from './run.ts';

interface ConfigOptions {
  readonly config: string;
  readonly environment?: string;
}

export interface PublishOptions extends ConfigOptions {
  readonly consumerVersion?: string;
  readonly providerVersion?: string;
  readonly branch?: string;
  readonly buildUrl?: string;
  readonly results?: string;
}

/** `conform pact verify`: a run of the pact suite alone. */
export async function verifyPacts(
  services: readonly string[],
  options: Omit<RunOptions, 'suite'>,
): Promise<number> {
  const { run } = await import('./run.ts');
  return run(services, { ...options, suite: ['pact'], partial: true });
}

/** `conform pact publish`: publishes pact files, the results of a run, or both. */
export async function publish(services: readonly string[], options: PublishOptions): Promise<number> {
  const { consumerVersion, providerVersion, branch = null, buildUrl = null } = options;
  if (consumerVersion === undefined && providerVersion === undefined) {
    throw new UsageError('no version to publish is given', {
      remedy: '--consumer-version publishes pacts, --provider-version the results of a run',
    });
  }
  const { publishServicePacts, publishServiceResults } = await import('../../engine/pact/publish-pacts.ts');
  const results =
    providerVersion === undefined
      ? null
      : readResults(options.results ?? join(newestReports('reports'), 'results.json'));
  for (const config of await configsOf(services, options)) {
    const of = (number: string) => ({ version: { number, branch, buildUrl }, harness: HARNESS });
    const lines: string[] = [];
    if (consumerVersion !== undefined)
      lines.push(...(await publishServicePacts(config, of(consumerVersion))));
    if (providerVersion !== undefined && results !== null)
      lines.push(...(await publishServiceResults(config, results, of(providerVersion))));
    process.stdout.write(lines.map((line) => `${config.service}: ${line}\n`).join(''));
  }
  return 0;
}

async function configsOf(
  services: readonly string[],
  { config: configDir, environment }: ConfigOptions,
): Promise<readonly ServiceConfig[]> {
  const loaded = await loadServices({ configDir, services, environment, env: process.env });
  return loaded.services.map(({ config }) => config);
}
