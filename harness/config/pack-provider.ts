import { type Packed, packSecret, unpackSecret } from './pack-secret.ts';
import type { ProviderConfig } from './service.ts';
import type { ContainerConfig, SecretText } from './started-provider.ts';

/** See `packService`. A worker starts no provider, but must know its secrets, which may show in its answers. */
export function packProvider(provider: ProviderConfig): Packed<ProviderConfig> {
  switch (provider.kind) {
    case 'reference':
    case 'url':
      return provider;
    case 'command':
      return { ...provider, env: mapped(provider.env, packText) };
    case 'container':
      return {
        ...provider,
        ...packGiven(provider),
        companions: provider.companions.map((companion) => ({ ...companion, ...packGiven(companion) })),
      };
  }
}

export function unpackProvider(provider: Packed<ProviderConfig>): ProviderConfig {
  switch (provider.kind) {
    case 'reference':
    case 'url':
      return provider;
    case 'command':
      return { ...provider, env: mapped(provider.env, unpackText) };
    case 'container':
      return {
        ...provider,
        ...unpackGiven(provider),
        companions: provider.companions.map((companion) => ({ ...companion, ...unpackGiven(companion) })),
      };
  }
}

type Given = Pick<ContainerConfig, 'env' | 'secrets'>;

function packGiven({ env, secrets }: Given): Packed<Given> {
  return { env: mapped(env, packText), secrets: mapped(secrets, packSecret) };
}

function unpackGiven({ env, secrets }: Packed<Given>): Given {
  return { env: mapped(env, unpackText), secrets: mapped(secrets, unpackSecret) };
}

function packText(text: SecretText): Packed<SecretText> {
  return text.map((piece) => (typeof piece === 'string' ? piece : packSecret(piece)));
}

function unpackText(text: Packed<SecretText>): SecretText {
  return text.map((piece) => (typeof piece === 'string' ? piece : unpackSecret(piece)));
}

function mapped<V, R>(map: Readonly<Record<string, V>>, of: (value: V) => R): Readonly<Record<string, R>> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, of(value)]));
}
