import type { Credentials } from '../../credential/scheme.ts';
import { schemeNamed } from '../../credential/schemes.ts';
import { HarnessError } from '../../exit.ts';
import { isJsonObject } from '../../json-text.ts';
import type { ServiceConfig } from '../service.ts';
import { type Packed, packSecrets, unpackSecrets } from './pack-secret.ts';

/** What may hold secrets. A worker starts no provider, but must know its secrets, which may show in its answers. */
type Secretive = Pick<ServiceConfig, 'provider' | 'webhooks'> & {
  readonly credentials: { readonly scheme: string; readonly values: Credentials['values'] };
};

interface PackedService {
  readonly packed: 'conform service 1';
  readonly config: Omit<ServiceConfig, keyof Secretive>;
  readonly secretive: Packed<Secretive>;
}

/** A validated config in a form that structured clone carries to a worker process, secrets in clear. */
export function packService(config: ServiceConfig): unknown {
  const { credentials, provider, webhooks, ...rest } = config;
  const packed: PackedService = {
    packed: 'conform service 1',
    // Brokers are asked before there are workers, so their secrets stay where they are.
    config: rest.pacts ? { ...rest, pacts: { ...rest.pacts, broker: null } } : rest,
    secretive: packSecrets({
      credentials: { scheme: credentials.scheme.name, values: credentials.values },
      provider,
      ...(webhooks && { webhooks }),
    }),
  };
  return packed;
}

/** @throws HarnessError when it is nothing that `packService` made. */
export function unpackService(packed: unknown): ServiceConfig {
  if (!isPacked(packed))
    throw new HarnessError('a worker was given something that is no packed service config');
  const { credentials, ...secretive } = unpackSecrets<Secretive>(packed.secretive);
  const scheme = schemeNamed(credentials.scheme);
  if (!scheme) throw new HarnessError('a worker was given credentials of no known scheme');
  return { ...packed.config, ...secretive, credentials: scheme.of(credentials.values) };
}

function isPacked(value: unknown): value is PackedService {
  return (
    isJsonObject(value) && value.packed === 'conform service 1' && 'config' in value && 'secretive' in value
  );
}
