import { randomUUID } from 'node:crypto';
import { serviceSecrets } from '../config/secret/secrets-of.ts';
import type { Credentials, ServiceConfig } from '../config/service.ts';
import { createRedaction } from '../evidence/redaction/redaction.ts';
import type { RunningProvider, StartOptions } from './provider.ts';
import type { Clock } from './reference/clock.ts';
import type { AcceptedCredentials, App } from './reference/credentials/access.ts';
import { startReference } from './reference/reference.ts';

/** The credentials of a config as a reference provider accepts them; the one place where they are revealed to it. */
export function acceptedCredentials(credentials: Credentials): AcceptedCredentials {
  if (credentials.scheme === 'none') return { scheme: 'none' };
  const app: App | null =
    credentials.app === null ? null : { ...credentials.app, secret: credentials.app.secret.reveal() };
  switch (credentials.scheme) {
    case 'signed':
      return { scheme: 'signed', app: { ...credentials.app, secret: credentials.app.secret.reveal() } };
    case 'basic':
      return {
        scheme: 'basic',
        users: [{ username: credentials.username, password: credentials.password.reveal() }],
        app,
      };
    default: {
      const { key, secondKey } = credentials;
      const keys = [key, ...(secondKey === null ? [] : [secondKey])].map((secret) => secret.reveal());
      return credentials.scheme === 'bearer'
        ? { scheme: 'bearer', keys, app }
        : { scheme: credentials.scheme, name: credentials.name, keys, app };
    }
  }
}

/**
 * Makes the service of a config available. A `url` provider runs elsewhere: nothing is started, and whether it can
 * be reached is for the first request to find out. Rejects with a UsageError for an unknown defect or variant, with
 * an InconclusiveError for a container or command that does not start. What those need is loaded only for them.
 * `clock`: the time of a reference provider.
 */
export async function startProvider(
  config: ServiceConfig,
  options: Partial<StartOptions> & { readonly clock?: Clock } = {},
): Promise<RunningProvider> {
  const { provider } = config;
  const start: StartOptions = {
    runId: options.runId ?? randomUUID(),
    signal: options.signal ?? new AbortController().signal,
    say: options.say ?? (() => undefined),
  };
  switch (provider.kind) {
    case 'url':
      return { kind: 'url', url: provider.url.replace(/\/+$/, ''), stop: async () => undefined };
    case 'reference':
      return startReference({
        service: provider.name,
        credentials: acceptedCredentials(config.credentials),
        plan: config.plan,
        defects: provider.defects,
        variant: provider.variant,
        origin: config.websocket?.origin ?? null,
        subprotocols: config.websocket?.subprotocols ?? [],
        ...(options.clock && { clock: options.clock }),
      });
    case 'container': {
      const { startContainer } = await import('./container/container.ts');
      return startContainer(config.service, provider, redactionFor(config), start);
    }
    case 'command': {
      const { startCommand } = await import('./process/command.ts');
      return startCommand(provider, redactionFor(config), start);
    }
  }
}

/** A provider may write down what it was given. */
function redactionFor(config: ServiceConfig): (text: string) => string {
  const redaction = createRedaction(serviceSecrets(config));
  return (text) => redaction.text(text);
}
