import { isLoopback } from '../blocks/loopback.ts';
import type { Draft } from '../draft/draft.ts';
import { type Loaded, mapping } from '../shape/kinds.ts';
import { buildCommand, COMMAND_KEYS } from './command.ts';
import { buildContainer, CONTAINER_KEYS } from './container.ts';
import { buildReference, REFERENCE_KEYS, type ReferenceProvider } from './reference.ts';
import { type CommandProvider, type ContainerProvider, PORT_PLACEHOLDER } from './started-provider.ts';
import { URL_KEYS, type UrlProvider } from './url.ts';

export const PROVIDER = mapping(
  'How the service comes to be there: exactly one of reference, url, container and command.',
  { expected: 'a mapping such as { url: "https://api.example" } or { reference: search }', def: 'provider' },
  { ...REFERENCE_KEYS, ...URL_KEYS, ...CONTAINER_KEYS, ...COMMAND_KEYS },
);

export type ProviderConfig = ReferenceProvider | UrlProvider | ContainerProvider | CommandProvider;

/** @throws UsageError when not exactly one kind of provider is named, or what is said of it is unfit. */
export async function buildProvider(draft: Draft, written: Loaded<typeof PROVIDER>): Promise<ProviderConfig> {
  const { faultAt } = draft;
  const { reference, url, container, command, defects, variant } = written;
  const kinds = Object.entries({ reference, url, container, command }).filter(
    ([, said]) => said !== undefined,
  );
  if (kinds.length > 1) {
    const named = kinds.map(([kind]) => `a ${kind}`).join(' and ');
    throw faultAt('provider', `names both ${named}`, 'keep one of them');
  }
  if (reference !== undefined) return buildReference(draft, reference, written);
  for (const [key, value] of Object.entries({ defects, variant })) {
    if (value !== undefined) {
      throw faultAt(`provider.${key}`, 'belongs to a reference provider only', 'remove it');
    }
  }
  if (container !== undefined) return buildContainer(draft, container);
  if (command !== undefined) return buildCommand(draft, command);
  if (url !== undefined) return { kind: 'url', url };
  throw faultAt(
    'provider',
    'says neither url, reference, container nor command',
    'add `url:` or `reference:`, or how to start it',
  );
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
