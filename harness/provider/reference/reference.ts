import { randomUUID } from 'node:crypto';
import type { ReferenceName } from '../../config/service.ts';
import type { Credentials } from '../../credential/scheme.ts';
import type { RunningProvider } from '../provider.ts';
import { findDefect, findVariant } from './catalogue.ts';
import { type Clock, systemClock } from './conduct/clock.ts';
import type { Kernel, Service } from './conduct/conduct.ts';
import { CONFORMING } from './conduct/conforming.ts';
import { patched } from './conduct/patch.ts';
import { WebhookSender } from './conduct/webhooks.ts';
import { type App, accessBy } from './credentials/access.ts';
import { openHost } from './host.ts';
import type { ServedRequest } from './http/message.ts';
import type { QuotaPlan } from './quota/limiter.ts';
import { MESSAGING_RESOURCES } from './services/messaging.ts';
import { realtimeService } from './services/realtime.ts';
import { restService } from './services/rest-service.ts';
import { SEARCH_RESOURCES } from './services/search.ts';

export interface ReferenceOptions {
  readonly service: ReferenceName;
  readonly credentials: Credentials;
  /** Null: no limit; realtime then has one of its own, for the documents ask clients to respect it. */
  readonly plan: QuotaPlan | null;
  /** Names of defects to switch on, applied in this order after the variant. */
  readonly defects?: readonly string[];
  /** Name of a conforming variant, or of several joined with `+`, applied in this order. */
  readonly variant?: string | null;
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** The address to listen on; the loopback interface unless given. */
  readonly address?: string;
  /** The origin whose pages may open WebSockets; null or absent: any. */
  readonly origin?: string | null;
  /** WebSocket subprotocols to speak. */
  readonly subprotocols?: readonly string[];
  readonly clock?: Clock;
  /** Told of every request when it is answered. */
  readonly log?: (entry: ServedRequest) => void;
}

export interface ReferenceProvider extends RunningProvider {
  readonly kind: 'reference';
  readonly service: ReferenceName;
  readonly port: number;
  /** The quota that is enforced; null when there is none. */
  readonly plan: QuotaPlan | null;
  readonly defects: readonly string[];
  readonly variant: string | null;
  /** Faults of the provider itself: each was answered 500; empty unless something is broken. */
  readonly faults: readonly unknown[];
}

/** Realtime's limit where the config sets none. */
const REALTIME_PLAN: QuotaPlan = { requests: 600, windowMs: 60_000 };

const SERVICES: Readonly<
  Record<ReferenceName, (app: App | null, webhooks: WebhookSender | null) => Service>
> = {
  search: () => restService('search', SEARCH_RESOURCES),
  messaging: () => restService('messaging', MESSAGING_RESOURCES),
  realtime: realtimeService,
};

/**
 * Starts an embedded, conforming service on a TCP port. Rejects with a UsageError for an unknown defect or variant,
 * or when the port cannot be had.
 */
export async function startReference(options: ReferenceOptions): Promise<ReferenceProvider> {
  const { service, defects = [], variant = null, clock = systemClock, address = '127.0.0.1' } = options;
  const patches = [
    ...(variant?.split('+') ?? []).map((name) => findVariant(name, service).patch),
    ...defects.map((name) => findDefect(name, service).patch),
  ];
  const conduct = patched(CONFORMING, patches);
  const access = accessBy(service, options.credentials);
  const plan = options.plan ?? (service === 'realtime' ? REALTIME_PLAN : null);
  const faults: unknown[] = [];
  const webhooks = conduct.webhooks && new WebhookSender(conduct.webhooks, access.app?.secret ?? null, clock);
  const kernel: Kernel = {
    service: SERVICES[service](access.app, webhooks),
    access,
    plan,
    limiter: plan === null ? null : conduct.quota.algorithm(plan),
    origin: options.origin ?? null,
    subprotocols: options.subprotocols ?? [],
    clock,
    requestId: randomUUID,
    conduct,
    report: (fault) => faults.push(fault),
  };
  const log = options.log ?? (() => undefined);
  const host = await openHost(kernel, { address, port: options.port ?? 0, log });
  return {
    kind: 'reference',
    service,
    url: `http://${address.includes(':') ? `[${address}]` : address}:${host.port}`,
    port: host.port,
    plan,
    defects,
    variant,
    faults,
    stop: async () => {
      webhooks?.close();
      await host.stop();
    },
  };
}
