import type { Carrier } from '../../../config/credential/carrier.ts';
import type { Access, Authentication, CredentialBehavior } from '../../credentials.ts';
import type { ReceivedRequest } from '../../http/message.ts';
import { type Admission, saying } from '../../quota/limiter.ts';
import type { QuotaBehavior, WebSocketBehavior } from '../behavior.ts';
import type { WebhookBehavior, WebhookEvent, WebhookMessage } from '../webhooks.ts';
import type { Patch } from './patch.ts';

export const inCredentials =
  (change: (now: CredentialBehavior) => Partial<CredentialBehavior>): Patch =>
  (behavior) => ({ ...behavior, credentials: { ...behavior.credentials, ...change(behavior.credentials) } });

/** The identity given to a wrongly admitted client: the holder of the first key. */
function firstHolder(access: Access): Authentication {
  return { admitted: true, identity: access.keys[0]?.identity ?? 'anonymous' };
}

/** Admits some of the requests that should be refused. */
export const admitting = (
  when: (refused: Authentication & { readonly admitted: false }, request: ReceivedRequest) => boolean,
): Patch =>
  inCredentials(({ authenticate }) => ({
    authenticate: (request, access, behavior, nowMs) => {
      const judged = authenticate(request, access, behavior, nowMs);
      return !judged.admitted && when(judged, request) ? firstHolder(access) : judged;
    },
  }));

export const matchingKeys = (matches: (presented: string, key: string) => boolean): Patch =>
  inCredentials(({ keyMatches }) => ({
    keyMatches: (presented, key) => keyMatches(presented, key) || matches(presented, key),
  }));

/** Applies other rules of access. */
export const inAccess = (change: (now: Access) => Partial<Access>): Patch =>
  inCredentials(({ authenticate }) => ({
    authenticate: (request, access, behavior, nowMs) =>
      authenticate(request, { ...access, ...change(access) }, behavior, nowMs),
  }));

/** Takes the key at one more place. */
export const alsoAt = ({ reader }: Carrier): Patch =>
  inAccess(({ placements }) => {
    // Where only a signature opens, a key stays without effect.
    const opensByKey = placements.some((placement) => placement !== 'signature');
    return { placements: opensByKey && reader ? [...placements, reader] : placements };
  });

export const inQuota =
  (change: (now: QuotaBehavior) => Partial<QuotaBehavior>): Patch =>
  (behavior) => ({ ...behavior, quota: { ...behavior.quota, ...change(behavior.quota) } });

/** Changes each decision of the limiter. */
export const onAdmission = (change: (admission: Admission, limit: number) => Admission): Patch =>
  inQuota(({ algorithm }) => ({
    algorithm: (plan) => saying(algorithm(plan), (admission) => change(admission, plan.requests)),
  }));

/** Counts requests apart that differ in this. */
export const countingApart = (by: (request: ReceivedRequest) => string): Patch =>
  inQuota(({ keyOf }) => ({ keyOf: (identity, request) => keyOf(identity, request) + by(request) }));

export const inWebhooks =
  (change: (now: WebhookBehavior) => Partial<WebhookBehavior>): Patch =>
  (behavior) => ({
    ...behavior,
    webhooks: behavior.webhooks && { ...behavior.webhooks, ...change(behavior.webhooks) },
  });

/** Changes the message of an event, at each attempt. */
export const inEvents = (
  change: (message: WebhookMessage, event: WebhookEvent, secret: string | null) => WebhookMessage,
): Patch =>
  inWebhooks(({ compose }) => ({
    compose: (event, secret, nowMs, url) => change(compose(event, secret, nowMs, url), event, secret),
  }));

export const inWebSocket =
  (change: (now: WebSocketBehavior) => Partial<WebSocketBehavior>): Patch =>
  (behavior) => ({ ...behavior, websocket: { ...behavior.websocket, ...change(behavior.websocket) } });
