import { dirname, join } from 'node:path';
import { readLocated } from './located.ts';
import { namedFiles } from './read-text.ts';

/** A config is a folder with `services/` and `contracts/`, or one file with one service: `conform.yaml`. */
export function isOneFile(config: string): boolean {
  return /\.ya?ml$/.test(config);
}

/** The folder of other files of the config. */
export function configFolder(config: string): string {
  return isOneFile(config) ? dirname(config) : config;
}

/** Where the services of a config are, for a person. */
export function servicesPlace(config: string): string {
  return isOneFile(config) ? config : join(config, 'services');
}

/** The files of the services of a config, by name. @throws UsageError if one file cannot be read. */
export async function serviceFiles(config: string): Promise<ReadonlyMap<string, string>> {
  if (!isOneFile(config)) return namedFiles(servicesPlace(config));
  const name = (await readLocated(config)).entries.get('service')?.value;
  const isText = name?.kind === 'scalar' && typeof name.value === 'string';
  // Loading the service reports a name that is missing.
  return new Map([[isText ? String(name.value) : 'service', config]]);
}
