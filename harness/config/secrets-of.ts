import { Secret } from './secret.ts';
import { LEAST_CHARACTERS } from './secret-value.ts';
import type { Credentials, ProviderConfig, ServiceConfig } from './service.ts';

/** Every secret with which a client is let in. */
export function credentialSecrets(credentials: Credentials): readonly Secret[] {
  return secretsIn(credentials);
}

/**
 * The secrets that a provider is started with, as far as they can be told from other text: a shorter one, such as
 * the password `admin`, would be found all over the evidence.
 */
export function providerSecrets(provider: ProviderConfig): readonly Secret[] {
  return secretsIn(provider).filter((secret) => secret.reveal().length >= LEAST_CHARACTERS);
}

/** With which the service signs what it sends. */
export function webhookSecrets({ webhooks }: Pick<ServiceConfig, 'webhooks'>): readonly Secret[] {
  return secretsIn(webhooks ?? null);
}

function secretsIn(value: unknown): readonly Secret[] {
  if (value instanceof Secret) return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(secretsIn);
}
