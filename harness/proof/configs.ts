import { fileURLToPath } from 'node:url';
import { HarnessError } from '../base/exit.ts';
import { loadServices } from '../config/load.ts';
import type { ServiceConfig } from '../config/service.ts';
import type { ProofCase } from './cases.ts';

/** Configs of the reference providers by service, as they are shipped, and that of search with its operations. */
export interface Configs {
  readonly shipped: ReadonlyMap<string, ServiceConfig>;
  readonly described: ServiceConfig;
}

const OTHER_OPERATIONS = 'endpoint.other-operations';

export async function proofConfigs(): Promise<Configs> {
  const { services } = await loadServices({ configDir: folder('../../config'), env: {} });
  // Beside this file, like the shipped one: messages name its place, and that is the same wherever the tree lies.
  const own = await loadServices({ configDir: folder('config'), services: ['search'], env: {} });
  const described = own.services[0]?.config;
  if (described === undefined) throw new HarnessError('no config with operations for the proof');
  return { shipped: new Map(services.map(({ config }) => [config.service, config])), described };
}

function folder(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** The config of a case, before its setting; with the operations of search where the case is about them. */
export function configOf({ service, described }: ProofCase, configs: Configs): ServiceConfig {
  const shipped = configs.shipped.get(service);
  if (shipped === undefined) throw new HarnessError(`no config for the reference provider ${service}`);
  if (!described || service !== configs.described.service) return shipped;
  const { operations, definitions, facts } = configs.described;
  const fact = facts[OTHER_OPERATIONS];
  return {
    ...shipped,
    operations,
    ...(definitions === undefined ? {} : { definitions }),
    facts: fact === undefined ? shipped.facts : { ...shipped.facts, [OTHER_OPERATIONS]: fact },
  };
}
