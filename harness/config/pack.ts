import { HarnessError } from '../exit.ts';
import { packProvider, unpackProvider } from './pack-provider.ts';
import { type Packed, packSecret, unpackSecret } from './pack-secret.ts';
import type { AppCredentials, Credentials, ServiceConfig } from './service.ts';
import type { WebhooksConfig } from './webhooks.ts';

interface PackedService {
  readonly packed: 'conform service 1';
  readonly config: Omit<ServiceConfig, 'credentials' | 'provider' | 'webhooks'>;
  readonly webhooks: Packed<WebhooksConfig> | null;
  readonly credentials: Packed<Credentials>;
  readonly provider: Packed<ServiceConfig['provider']>;
}

/** A validated config in a form that structured clone carries to a worker process, secrets in clear. */
export function packService(config: ServiceConfig): unknown {
  const { credentials, provider, webhooks, ...rest } = config;
  const packed: PackedService = {
    packed: 'conform service 1',
    // Brokers are asked before there are workers, so their secrets stay where they are.
    config: rest.pacts ? { ...rest, pacts: { ...rest.pacts, broker: null } } : rest,
    webhooks: webhooks ? packWebhooks(webhooks) : null,
    credentials: packCredentials(credentials),
    provider: packProvider(provider),
  };
  return packed;
}

/** @throws HarnessError when it is nothing that `packService` made. */
export function unpackService(packed: unknown): ServiceConfig {
  if (!isPacked(packed))
    throw new HarnessError('a worker was given something that is no packed service config');
  return {
    ...packed.config,
    ...(packed.webhooks && { webhooks: unpackWebhooks(packed.webhooks) }),
    credentials: unpackCredentials(packed.credentials),
    provider: unpackProvider(packed.provider),
  };
}

function isPacked(value: unknown): value is PackedService {
  return (
    typeof value === 'object' &&
    value !== null &&
    'packed' in value &&
    value.packed === 'conform service 1' &&
    'config' in value &&
    'credentials' in value &&
    'provider' in value
  );
}

function packCredentials(credentials: Credentials): Packed<Credentials> {
  switch (credentials.scheme) {
    case 'none':
      return credentials;
    case 'bearer':
    case 'header':
    case 'query': {
      const { key, secondKey, app } = credentials;
      return {
        ...credentials,
        key: packSecret(key),
        secondKey: secondKey && packSecret(secondKey),
        app: app && packApp(app),
      };
    }
    case 'basic': {
      const { password, app } = credentials;
      return { ...credentials, password: packSecret(password), app: app && packApp(app) };
    }
    case 'signed':
      return { ...credentials, app: packApp(credentials.app) };
  }
}

function unpackCredentials(credentials: Packed<Credentials>): Credentials {
  switch (credentials.scheme) {
    case 'none':
      return credentials;
    case 'bearer':
    case 'header':
    case 'query': {
      const { key, secondKey, app } = credentials;
      return {
        ...credentials,
        key: unpackSecret(key),
        secondKey: secondKey && unpackSecret(secondKey),
        app: app && unpackApp(app),
      };
    }
    case 'basic': {
      const { password, app } = credentials;
      return { ...credentials, password: unpackSecret(password), app: app && unpackApp(app) };
    }
    case 'signed':
      return { ...credentials, app: unpackApp(credentials.app) };
  }
}

function packApp(app: AppCredentials): Packed<AppCredentials> {
  return { ...app, secret: packSecret(app.secret) };
}

function unpackApp(app: Packed<AppCredentials>): AppCredentials {
  return { ...app, secret: unpackSecret(app.secret) };
}

function packWebhooks({ signature, ...rest }: WebhooksConfig): Packed<WebhooksConfig> {
  return { ...rest, signature: signature && { ...signature, secret: packSecret(signature.secret) } };
}

function unpackWebhooks({ signature, ...rest }: Packed<WebhooksConfig>): WebhooksConfig {
  return { ...rest, signature: signature && { ...signature, secret: unpackSecret(signature.secret) } };
}
