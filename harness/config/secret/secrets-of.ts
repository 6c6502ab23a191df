import { Secret } from '../../credential/secret.ts';
import { hasMembers } from '../../json-text.ts';
import { LEAST_CHARACTERS } from '../draft/secret.ts';
import type { ServiceConfig } from '../service.ts';

/**
 * Every secret between the harness and the service: with which a client is let in, with which the service signs what
 * it sends, and what its provider is started with. Of the last only those that can be told from other text: a shorter
 * one, such as the password `admin`, would be found all over the evidence.
 */
export function serviceSecrets({ credentials, webhooks, provider }: ServiceConfig): readonly Secret[] {
  const started = secretsIn(provider).filter((secret) => secret.reveal().length >= LEAST_CHARACTERS);
  return [...secretsIn(credentials.values), ...started, ...secretsIn(webhooks)];
}

function secretsIn(value: unknown): readonly Secret[] {
  if (value instanceof Secret) return [value];
  if (!hasMembers(value)) return [];
  return Object.values(value).flatMap(secretsIn);
}
