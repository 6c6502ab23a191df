import { fileURLToPath } from 'node:url';
import { HarnessError } from '../../base/exit.ts';
import { loadServices } from '../../config/load.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { ProofCase } from './cases.ts';
import { settingNamed } from './settings.ts';

/** Configs of the reference providers by service, as they are shipped, and that of search with its operations. */
export interface Configs {
  readonly shipped: ReadonlyMap<string, ServiceConfig>;
  readonly described: ServiceConfig;
  /** The same with what its clients create and remove themselves. */
  readonly stored: ServiceConfig;
}

const OTHER_OPERATIONS = 'endpoint.other-operations';

export async function proofConfigs(): Promise<Configs> {
  const { services } = await loadServices({ configDir: folder('../../../config'), env: {} });
  // In the tree, like the shipped one: messages name its place, and that is the same wherever the tree lies.
  const own = await loadServices({ configDir: folder('../config'), env: {} });
  const named = (name: string) => own.services.find(({ config }) => config.service === name)?.config;
  const [described, stored] = [named('search'), named('saved-searches')];
  if (described === undefined || stored === undefined)
    throw new HarnessError('no config with operations for the proof');
  return { shipped: new Map(services.map(({ config }) => [config.service, config])), described, stored };
}

function folder(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** The config of a case, before its setting; with the operations of search where the case is about them. */
export function configOf({ service, described, setting }: ProofCase, configs: Configs): ServiceConfig {
  const shipped = configs.shipped.get(service);
  if (shipped === undefined) throw new HarnessError(`no config for the reference provider ${service}`);
  if (!described || service !== configs.described.service) return shipped;
  const { operations, definitions, facts } = settingNamed(setting).stored
    ? configs.stored
    : configs.described;
  const fact = facts[OTHER_OPERATIONS];
  return {
    ...shipped,
    operations,
    ...(definitions === undefined ? {} : { definitions }),
    facts: fact === undefined ? shipped.facts : { ...shipped.facts, [OTHER_OPERATIONS]: fact },
  };
}
