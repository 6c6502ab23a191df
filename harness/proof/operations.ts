import { fileURLToPath } from 'node:url';
import { loadServices } from '../config/load.ts';
import type { ServiceConfig } from '../config/service.ts';

/** The config of a reference provider with its operations, where they are described: those of search. */
export async function withOperations(config: ServiceConfig): Promise<ServiceConfig> {
  if (config.service !== 'search') return config;
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
