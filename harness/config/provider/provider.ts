import { baseUrl } from '../blocks/base-url.ts';
import { isLoopback } from '../blocks/loopback.ts';
import type { Draft } from '../draft.ts';
import type { ProviderConfig } from '../service.ts';
import { mapping } from '../shape/kinds.ts';
import { buildCommand, COMMAND_KEYS } from './command.ts';
import { buildContainer, CONTAINER_KEYS } from './container.ts';
import { REFERENCE_KEYS } from './reference.ts';
import { PORT_PLACEHOLDER } from './started-provider.ts';
import { URL_KEYS } from './url.ts';

export const PROVIDER = mapping(
  'How the service comes to be there: exactly one of reference, url, container and command.',
  { expected: 'a mapping such as { url: "https://api.example" } or { reference: search }', def: 'provider' },
  { ...REFERENCE_KEYS, ...URL_KEYS, ...CONTAINER_KEYS, ...COMMAND_KEYS },
);

/** @throws UsageError when not exactly one kind of provider is named, or what is said of it is unfit. */
export async function buildProvider(draft: Draft): Promise<ProviderConfig> {
  const { blocks, faultAt, origins } = draft;
  const { provider } = blocks;
  if (!provider) {
    throw faultAt(
      'provider',
      'is missing: nothing says where the service is',
      'add `provider: { url: … }` or { reference: … }, or choose an environment that has one',
    );
  }
  const { reference, url, container, command, defects, variant } = provider;
  const kinds = Object.entries({ reference, url, container, command }).filter(
    ([, said]) => said !== undefined,
  );
  if (kinds.length > 1) {
    const named = kinds.map(([kind]) => `a ${kind}`).join(' and ');
    throw faultAt('provider', `names both ${named}`, 'keep one of them');
  }
  if (reference !== undefined) {
    if (defects === undefined) origins.set('provider.defects', { kind: 'default' });
    return { kind: 'reference', name: reference, defects: defects ?? [], variant: variant ?? null };
  }
  for (const [key, value] of Object.entries({ defects, variant })) {
    if (value !== undefined) {
      throw faultAt(`provider.${key}`, 'belongs to a reference provider only', 'remove it');
    }
  }
  if (container !== undefined) return buildContainer(draft, container);
  if (command !== undefined) return buildCommand(draft, command);
  if (url === undefined) {
    throw faultAt(
      'provider',
      'says neither url, reference, container nor command',
      'add `url:` or `reference:`, or how to start it',
    );
  }
  return { kind: 'url', url: baseUrl(url, (problem, remedy) => faultAt('provider.url', problem, remedy)) };
}

/** Whether everything sent there stays on this machine, so that example secrets may stand in the file. */
export function staysHere(provider: ProviderConfig): boolean {
  switch (provider.kind) {
    case 'reference':
    case 'container':
      return true;
    case 'url':
      return isLoopback(new URL(provider.url).hostname);
    case 'command':
      return isLoopback(new URL(provider.url.replace(PORT_PLACEHOLDER, '80')).hostname);
  }
}
