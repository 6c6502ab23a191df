import { randomUUID } from 'node:crypto';
import type { Credentials } from '../config/credential/scheme.ts';
import type { ReferenceName } from '../config/service.ts';
import type { RunningProvider } from '../providers/provider.ts';
import { type Clock, systemClock } from '../wire/pace/clock.ts';
import type { Behavior, Kernel, Service } from './behavior/behavior.ts';
import { epochClock } from './behavior/clock.ts';
import { handleRequest } from './behavior/handling.ts';
import { HANDSHAKE_RULES, judgeHandshake } from './behavior/handshake.ts';
import { type Patch, patched } from './behavior/patches/patch.ts';
import { CONFORMING_WEBHOOKS, WebhookSender } from './behavior/webhooks.ts';
import { type App, accessBy, CONFORMING_CREDENTIALS } from './credentials.ts';
import type { ServerIdentity } from './front.ts';
import { openHost } from './host.ts';
import type { ServedRequest } from './http/message.ts';
import { fixedWindow, tokenBucket } from './quota/algorithms.ts';
import { type LimiterAlgorithm, type QuotaPlan, rateLimitFields, wholeSeconds } from './quota/limiter.ts';
import { furtherBy } from './quota/several-limits.ts';
import { realtimeService } from './services/realtime.ts';
import { MESSAGING_RESOURCES, restService, SEARCH_RESOURCES } from './services/rest-service.ts';

export interface ReferenceOptions {
  readonly service: ReferenceName;
  readonly credentials: Credentials;
  /** Who presents no credential is served as well. */
  readonly isCredentialOptional?: boolean;
  /** Null: no limit; realtime then has its own, since the documents ask clients to respect one. */
  readonly plan: QuotaPlan | null;
  /** Names of defects to switch on, applied in this order after the variant. */
  readonly defects?: readonly string[];
  /** Name of a conforming variant, or of several joined with `+`, applied in this order. */
  readonly variant?: string | null;
  /** What it does otherwise without a name for it, applied after the variant and before the defects. */
  readonly patches?: readonly Patch[];
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** The address to listen on; the loopback interface unless given. */
  readonly address?: string;
  /** What it is called over TLS with, as localhost; plain HTTP when left out. */
  readonly identity?: ServerIdentity;
  /** It speaks HTTP/2 as well. */
  readonly http2?: boolean;
  /** The origin whose pages may open WebSockets; null or absent: any. */
  readonly origin?: string | null;
  readonly subprotocols?: readonly string[];
  readonly clock?: Clock;
  /** Called for every answered request. */
  readonly log?: (entry: ServedRequest) => void;
}

export interface RunningReference extends RunningProvider {
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
export async function startReference(options: ReferenceOptions): Promise<RunningReference> {
  const { service, defects = [], variant = null, address = '127.0.0.1', identity = null } = options;
  const plan = options.plan ?? (service === 'realtime' ? REALTIME_PLAN : null);
  const behavior = patched(conformingTo(plan), [
    ...(await patchesOf(variant?.split('+') ?? [], 'findVariant', service)),
    ...(options.patches ?? []),
    ...(await patchesOf(defects, 'findDefect', service)),
  ]);
  const clock = epochClock(options.clock ?? systemClock);
  const access = accessBy(service, options.credentials, options.isCredentialOptional);
  const webhooks =
    behavior.webhooks && new WebhookSender(behavior.webhooks, access.app?.secret ?? null, clock);
  const faults: unknown[] = [];
  const kernel: Kernel = {
    service: SERVICES[service](access.app, webhooks),
    access,
    plan,
    limiter: plan === null ? null : behavior.quota.algorithm(plan),
    origin: options.origin ?? null,
    subprotocols: options.subprotocols ?? [],
    overTls: identity !== null,
    clock,
    requestId: randomUUID,
    behavior,
    report: (fault) => faults.push(fault),
  };
  const log = options.log ?? (() => undefined);
  const host = await openHost(kernel, {
    address,
    port: options.port ?? 0,
    identity,
    http2: options.http2 === true || behavior.http2 !== null,
    log,
  });
  const authority = address.includes(':') ? `[${address}]` : address;
  return {
    kind: 'reference',
    service,
    url: `${identity ? 'https://localhost' : `http://${authority}`}:${host.port}`,
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

/** Loads the catalogue, which is larger than all else, only for a service with deviations. */
async function patchesOf(
  names: readonly string[],
  find: 'findDefect' | 'findVariant',
  service: ReferenceName,
): Promise<readonly Patch[]> {
  if (names.length === 0) return [];
  const catalogue = await import('./catalogue.ts');
  return names.map((name) => catalogue[find](name, service).patch);
}

/** How the reference provider behaves when no defect and no variant is on: by the documents and the standards. */
export const CONFORMING: Behavior = {
  intake: null,
  receive: (request) => request,
  handle: handleRequest,
  compose: (answer) => answer,
  finish: (answer) => answer,
  credentials: CONFORMING_CREDENTIALS,
  quota: {
    algorithm: fixedWindow,
    keyOf: (identity) => identity,
    counts: () => true,
    fields: rateLimitFields,
    retryAfter: (renewsInMs) => String(wholeSeconds(renewsInMs)),
  },
  websocket: {
    rules: HANDSHAKE_RULES,
    judge: judgeHandshake,
    compression: true,
    messageLimit: 4 * 1024 * 1024,
    utf8Demanded: true,
    headChanges: [],
    inbound: [],
    outbound: [],
    endsTcp: 'once closed',
    atHalfClose: null,
    endsAt: null,
  },
  http2: null,
  webhooks: CONFORMING_WEBHOOKS,
};

/** Further limits are of windows as well, each counted apart. */
function algorithmOf({ rate, further }: QuotaPlan): LimiterAlgorithm {
  const main: LimiterAlgorithm = rate ? tokenBucket : fixedWindow;
  return further?.length ? furtherBy(fixedWindow, main) : main;
}

/** The same, with a quota as the plan has it. */
function conformingTo(plan: QuotaPlan | null): Behavior {
  return {
    ...CONFORMING,
    quota: {
      ...CONFORMING.quota,
      ...(plan && { algorithm: algorithmOf(plan) }),
      // A reference provider is called from one address.
      ...(plan?.per === 'address' && { keyOf: () => 'address' }),
    },
  };
}
