import type { Carrier } from '../../../config/credential/carrier.ts';
import type { Access, Authentication } from '../../credentials.ts';
import type { HttpAnswer } from '../../http/answer.ts';
import type { ReceivedRequest } from '../../http/message.ts';
import {
  derivedOf,
  fieldsOf,
  KEY_ID,
  type Signing,
  seconds,
  signed,
  withDigest,
} from '../../http/signature.ts';
import { type Admission, type Limiter, type QuotaPlan, saying } from '../../quota/limiter.ts';
import type { Behavior, Http2Behavior } from '../behavior.ts';
import type { WebhookBehavior, WebhookEvent, WebhookMessage } from '../webhooks.ts';
import { onFinished, type Patch } from './patch.ts';

const within =
  <P extends 'credentials' | 'quota' | 'websocket'>(part: P) =>
  (change: (now: Behavior[P]) => Partial<Behavior[P]>): Patch =>
  (behavior) => ({ ...behavior, [part]: { ...behavior[part], ...change(behavior[part]) } });

export const inCredentials = within('credentials');
export const inQuota = within('quota');
export const inWebSocket = within('websocket');

/** Surrounds the judgment of credentials. */
export const onAuthentication = (
  around: (
    request: ReceivedRequest,
    access: Access,
    next: (request: ReceivedRequest, access: Access) => Authentication,
  ) => Authentication,
): Patch =>
  inCredentials(({ authenticate }) => ({
    authenticate: (request, access, ...rest) =>
      around(request, access, (ofRequest, ofAccess) => authenticate(ofRequest, ofAccess, ...rest)),
  }));

/** The identity given to a wrongly admitted client: the holder of the first key. */
function firstHolder(access: Access): Authentication {
  return { admitted: true, identity: access.keys[0]?.identity ?? 'anonymous' };
}

/** Admits some of the requests that should be refused. */
export const admitting = (
  when: (request: ReceivedRequest, reason: 'missing' | 'unreadable' | 'wrong') => boolean,
): Patch =>
  onAuthentication((request, access, authenticate) => {
    const judged = authenticate(request, access);
    return !judged.admitted && when(request, judged.reason) ? firstHolder(access) : judged;
  });

export const matchingKeys = (matches: (presented: string, key: string) => boolean): Patch =>
  inCredentials(({ keyMatches }) => ({
    keyMatches: (presented, key) => keyMatches(presented, key) || matches(presented, key),
  }));

export const inAccess = (change: (now: Access) => Partial<Access>): Patch =>
  onAuthentication((request, access, authenticate) =>
    authenticate(request, { ...access, ...change(access) }),
  );

export const alsoAt = ({ reader }: Carrier): Patch =>
  inAccess(({ placements }) => {
    // Where only a signature opens, a key stays without effect.
    const opensByKey = placements.some((placement) => placement !== 'signature');
    return { placements: opensByKey && reader ? [...placements, reader] : placements };
  });

export const onAdmission = (change: (admission: Admission, limit: number) => Admission): Patch =>
  onLimiter((limiter, { requests }) => saying(limiter, (admission) => change(admission, requests)));

export const onLimiter = (change: (limiter: Limiter, plan: QuotaPlan) => Limiter): Patch =>
  inQuota(({ algorithm }) => ({ algorithm: (plan) => change(algorithm(plan), plan) }));

/** Signs each answer (RFC 9421), with these parts in place of the usual ones; `now` in seconds. */
export const signing = (
  change: (now: number, answer: HttpAnswer, request: ReceivedRequest) => Partial<Signing>,
): Patch =>
  onFinished('every', (answer, request, { clock }) => {
    const now = seconds(clock.now());
    const digested = withDigest(answer);
    return signed(digested, {
      covered: [...derivedOf(digested, request), ...fieldsOf(digested, 'content-digest', 'content-type')],
      parameters: `;created=${now};keyid="${KEY_ID}"`,
      ...change(now, digested, request),
    });
  });

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

/** Speaks HTTP/2 beside HTTP/1.1, with this difference. */
export const inHttp2 =
  (difference: Http2Behavior): Patch =>
  (behavior) => ({ ...behavior, http2: { ...behavior.http2, ...difference } });
