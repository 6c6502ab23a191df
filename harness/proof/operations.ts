import { fileURLToPath } from 'node:url';
import { loadServices } from '../config/load.ts';
import type { ServiceConfig } from '../config/service.ts';
import type { ProofCase } from './cases.ts';

/** Conform to the documents and list their resources otherwise than the document of these operations says. */
const DESCRIBED_OTHERWISE = /(?:^|\+)(?:bare-array-body|vendor-json)(?:\+|$)/;

/**
 * The config of a case with the operations of the reference provider, where the case is about them: the service as it
 * is, its variants, and the defects that trip a check of operations. Others are not asked for them, which saves
 * time and changes nothing.
 */
export async function withOperations(
  config: ServiceConfig,
  { kind, name, trips }: ProofCase,
): Promise<ServiceConfig> {
  const concerned = kind !== 'defect' || trips.some((id) => id.startsWith('operations.'));
  if (config.service !== 'search' || !concerned || DESCRIBED_OTHERWISE.test(name)) return config;
  described ??= load();
  const { operations, definitions, facts } = await described;
  const key = 'endpoint.other-operations';
  const fact = facts[key];
  return {
    ...config,
    operations,
    ...(definitions === undefined ? {} : { definitions }),
    facts: fact === undefined ? config.facts : { ...config.facts, [key]: fact },
  };
}

let described: Promise<ServiceConfig> | undefined;

async function load(): Promise<ServiceConfig> {
  // Like the shipped config: messages name its place, and that is the same wherever the tree lies.
  const configDir = fileURLToPath(new URL('config', import.meta.url));
  const [loaded] = (await loadServices({ configDir, services: ['search'], env: {} })).services;
  if (loaded === undefined) throw new Error('no config with operations for the proof');
  return loaded.config;
}
