import type { Carrier } from '../../../config/credential/carrier.ts';
import type { Access } from '../../credentials/access.ts';
import type { Authentication, CredentialBehavior } from '../../credentials/authentication.ts';
import { type Answer, PROBLEM_NAMES, type ResponseKind } from '../../http/answer.ts';
import { dropped, writtenAs } from '../../http/answer-changes.ts';
import type { ReceivedRequest } from '../../http/message.ts';
import { inChunks } from '../../http/wire.ts';
import { type Admission, saying } from '../../quota/limiter.ts';
import type { AnswerChange, Behavior, Handling, Kernel, QuotaBehavior } from '../behavior.ts';
import type { WebhookBehavior, WebhookEvent, WebhookMessage } from '../webhooks.ts';

/**
 * One deviation from the conforming behavior, right or wrong. Patches compose in any number; what a patch remembers
 * it creates when it is applied, so that every running instance has its own.
 */
export type Patch = (behavior: Behavior) => Behavior;

/** Applies patches one after another; the last is the outermost. */
export function patched(behavior: Behavior, patches: readonly Patch[]): Behavior {
  return patches.reduce((changed, patch) => patch(changed), behavior);
}

export const together =
  (...patches: readonly Patch[]): Patch =>
  (behavior) =>
    patched(behavior, patches);

type ResponseKinds = ResponseKind | readonly ResponseKind[] | 'every';

/** Answers with content that is promised to be JSON. */
export const WITH_CONTENT: readonly ResponseKind[] = ['served', ...PROBLEM_NAMES];

function concerns(kinds: ResponseKinds, answer: Answer): boolean {
  if (kinds === 'every') return true;
  return typeof kinds === 'string' ? answer.responseKind === kinds : kinds.includes(answer.responseKind);
}

const changing =
  (step: 'compose' | 'finish') =>
  (
    kinds: ResponseKinds,
    change: AnswerChange,
    when: (request: ReceivedRequest) => boolean = () => true,
  ): Patch =>
  (behavior) => ({
    ...behavior,
    [step]: ((...of) => {
      const answer = behavior[step](...of);
      const [, request, kernel] = of;
      return concerns(kinds, answer) && when(request) ? change(answer, request, kernel) : answer;
    }) satisfies AnswerChange,
  });

/**
 * Changes certain answers before their length is counted, `when`: to requests of a kind alone. The message stays well
 * framed.
 */
export const onAnswer = changing('compose');

/** The same when they are finished: nothing is corrected after it. */
export const onFinished = changing('finish');

/** Sends certain answers as the octets that `render` makes of them, and closes the connection. */
export const onWire = (kinds: ResponseKinds, render: (head: Buffer, body: Buffer) => Buffer): Patch =>
  onFinished(kinds, (answer, request) =>
    writtenAs((head, body) => render(head, request.method === 'HEAD' ? Buffer.alloc(0) : body))(answer),
  );

/** Sends a trailer behind served content, to those who can read it. */
export const withTrailer = (field: string): Patch =>
  onFinished(
    'served',
    writtenAs((head, body) => inChunks(head, body, `${field}\r\n`)),
    ({ httpVersion, method }) => httpVersion !== '1.0' && method !== 'HEAD',
  );

/** Closes the connection instead of certain answers. */
export const droppedInsteadOf = (kinds: ResponseKinds): Patch => onFinished(kinds, dropped);

/** Surrounds the handling of requests. */
export const aroundHandling =
  (around: (request: ReceivedRequest, next: Handling, kernel: Kernel) => Answer | Promise<Answer>): Patch =>
  (behavior) => ({
    ...behavior,
    handle: async (request, kernel) => around(request, behavior.handle, kernel),
  });

/** Answers some requests before anybody asks for a credential. */
export const beforehand = (answer: (request: ReceivedRequest, kernel: Kernel) => Answer | null): Patch =>
  aroundHandling((request, next, kernel) => answer(request, kernel) ?? next(request, kernel));

/** What is found out while it runs is of one provider. */
export const remembering =
  <M>(fresh: () => M, patch: (memory: M) => Patch): Patch =>
  (behavior) =>
    patch(fresh())(behavior);

/** Answers requests of a kind, once they are authorised and would be served, in another way. */
export const insteadOfServing = (when: (request: ReceivedRequest) => boolean, change: AnswerChange): Patch =>
  onAnswer('served', change, when);

/** Takes every request for another one. */
export const onReceipt =
  (rewrite: (request: ReceivedRequest) => ReceivedRequest): Patch =>
  (behavior) => ({ ...behavior, receive: (request) => rewrite(behavior.receive(request)) });

export const inCredentials =
  (change: (now: CredentialBehavior) => Partial<CredentialBehavior>): Patch =>
  (behavior) => ({ ...behavior, credentials: { ...behavior.credentials, ...change(behavior.credentials) } });

/** Whom a service takes a client for that it should have refused: the holder of its first key. */
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

/** Lets in whom other rules of access let in. */
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

/** Surrounds the limiter; `change` sees whatever it says of a request. */
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

/** Changes what is sent of an event, at each attempt. */
export const inEvents = (
  change: (message: WebhookMessage, event: WebhookEvent, secret: string | null) => WebhookMessage,
): Patch =>
  inWebhooks(({ compose }) => ({
    compose: (event, secret, nowMs, url) => change(compose(event, secret, nowMs, url), event, secret),
  }));

/** Changes the head of the first request of a connection, as it was received. */
export const onHead = (change: (head: string) => string): Patch =>
  onFirstOctets((text) => {
    const end = text.indexOf(HEAD_END);
    return end === -1 ? change(text) : change(text.slice(0, end)) + text.slice(end);
  });

/** Changes the first octets of a connection, whatever they are: one request, or several at once. */
export const onFirstOctets =
  (change: (text: string) => string): Patch =>
  (behavior) => ({
    ...behavior,
    intake: (octets) =>
      Buffer.from(change((behavior.intake?.(octets) ?? octets).toString('latin1')), 'latin1'),
  });

const HEAD_END = '\r\n\r\n';
