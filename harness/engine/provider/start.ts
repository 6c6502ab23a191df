import { randomUUID } from 'node:crypto';
import { UsageError } from '../../base/exit.ts';
import { holdInstalled } from '../../base/optional-package.ts';
import type { LoadedService } from '../../config/load.ts';
import { serviceSecrets } from '../../config/secrets.ts';
import { isCredentialOptional, type ProviderConfig, type ServiceConfig } from '../../config/service.ts';
import { type FaultAt, faultsOf } from '../../config/yaml/origin.ts';
import type { RunningProvider, StartOptions } from '../../providers/provider.ts';
import type { ServerIdentity } from '../../reference/front.ts';
import type { Clock } from '../../wire/pace/clock.ts';
import { createRedaction, type Redaction } from '../../wire/redaction/redaction.ts';
import { networkOf } from '../../wire/socket/options.ts';

interface StartParts extends StartOptions {
  readonly config: ServiceConfig;
  /** Redacts the output of a provider. */
  readonly redact: (text: string) => string;
  /** The clock of a reference provider. */
  readonly clock?: Clock;
  /** The TLS identity of a reference provider; plain HTTP if absent. */
  readonly identity?: ServerIdentity;
}

interface ProviderStarter<P> {
  /** Checks names of the config against the catalogue. @throws UsageError with their place. */
  readonly hold?: (provider: P, faultAt: FaultAt) => Promise<void>;
  /** @throws InconclusiveError if it does not start; it leaves nothing behind then. */
  readonly start: (provider: P, means: StartParts) => Promise<RunningProvider>;
}

/** The modules of a kind are loaded only for it. */
const KINDS: {
  readonly [K in ProviderConfig['kind']]: ProviderStarter<Extract<ProviderConfig, { readonly kind: K }>>;
} = {
  // The first request finds out whether it is reachable.
  url: {
    start: async ({ url }) => ({ kind: 'url', url: url.replace(/\/+$/, ''), stop: async () => undefined }),
  },
  reference: {
    async hold({ name, defects, variant }, faultAt) {
      if (defects.length === 0 && variant === null) return;
      const { findDefect, findVariant } = await import('../../reference/catalogue.ts');
      const at = (key: string, find: () => unknown) => {
        try {
          find();
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
          throw faultAt(key, error.problem, error.remedy ?? '');
        }
      };
      for (const [index, defect] of defects.entries()) {
        at(`provider.defects.${index}`, () => findDefect(defect, name));
      }
      for (const each of variant?.split('+') ?? []) at('provider.variant', () => findVariant(each, name));
    },
    async start({ name, defects, variant }, { config, clock, identity }) {
      const { startReference } = await import('../../reference/reference.ts');
      return startReference({
        service: name,
        credentials: config.credentials,
        isCredentialOptional: isCredentialOptional(config),
        plan: config.plan,
        defects,
        variant,
        origin: config.websocket?.origin ?? null,
        subprotocols: config.websocket?.subprotocols ?? [],
        http2: config.http2 === true,
        ...(clock && { clock }),
        ...(identity && { identity }),
      });
    },
  },
  unixSocket: {
    async start(provider) {
      const { startUnixSocket } = await import('../../providers/unix-socket.ts');
      return startUnixSocket(provider);
    },
  },
  container: {
    async hold() {
      holdInstalled('testcontainers', 'a container');
    },
    async start(provider, { config, redact, ...start }) {
      const { startContainer } = await import('../../providers/container/container.ts');
      return startContainer(config.service, provider, redact, start);
    },
  },
  command: {
    async start(provider, { redact, ...start }) {
      const { startCommand } = await import('../../providers/process/command.ts');
      return startCommand(provider, redact, start);
    },
  },
};

function kindOf({ kind }: ProviderConfig): ProviderStarter<ProviderConfig> {
  // The table gives each kind its own.
  return KINDS[kind] as ProviderStarter<ProviderConfig>;
}

/** Checks the names in providers of configs. @throws UsageError with their place. */
export async function holdProviders(services: readonly LoadedService[]): Promise<void> {
  for (const { config, origins } of services) {
    await kindOf(config.provider).hold?.(config.provider, faultsOf(origins));
  }
}

/**
 * Makes the service of a config available. `redaction` knows the secrets of the run. @throws UsageError for an
 * unknown defect or variant, InconclusiveError if it does not start.
 */
export async function startProvider(
  config: ServiceConfig,
  {
    redaction = createRedaction(serviceSecrets(config)),
    ...options
  }: Partial<StartOptions> & Pick<StartParts, 'clock' | 'identity'> & { readonly redaction?: Redaction } = {},
): Promise<RunningProvider> {
  return kindOf(config.provider).start(config.provider, {
    runId: randomUUID(),
    signal: new AbortController().signal,
    say: () => undefined,
    network: networkOf(config),
    ...options,
    config,
    redact: (text) => redaction.text(text),
  });
}
