import type { FieldLine } from '../../wire/exchange.ts';
import { policyName } from '../../wire/quota/ratelimit-named.ts';
import { type Access, type Authentication, challenges, credentialFields } from '../credentials.ts';
import { type HttpAnswer, isProblem, problem } from '../http/answer.ts';
import { fieldValues, type ReceivedRequest, withField } from '../http/message.ts';
import { findRoute, type Route } from '../http/routes.ts';
import type { Admission } from '../quota/limiter.ts';
import type { Kernel } from './behavior.ts';
import { imfFixdate } from './clock.ts';
import { answerWithin, refuseMessage } from './preconditions.ts';

/** The whole way of a request to the answer as it is sent. Never rejects: a fault of the service is a 500. */
export async function answerRequest(kernel: Kernel, request: ReceivedRequest): Promise<HttpAnswer> {
  const received = kernel.behavior.receive(request);
  let answer: HttpAnswer;
  try {
    answer = await kernel.behavior.handle(received, kernel);
  } catch (fault) {
    kernel.report(fault);
    answer = problem('broken');
  }
  return finishAnswer(kernel, answer, received);
}

/** Common fields, length and patches: for answers that did not come through `answerRequest`. */
export function finishAnswer(kernel: Kernel, answer: HttpAnswer, request: ReceivedRequest): HttpAnswer {
  const { behavior } = kernel;
  return behavior.finish(framed(behavior.compose(answer, request, kernel), kernel), request, kernel);
}

/** The message as such, then authentication, then the quota, then the request itself. */
export async function handleRequest(request: ReceivedRequest, kernel: Kernel): Promise<HttpAnswer> {
  const unfit = refuseMessage(request);
  if (unfit !== null) return unfit;
  const { lending } = kernel.access;
  if (request.path === lending?.path) return lending.answer(request, kernel.clock.now());
  const match = findRoute(kernel.service.routes, request.path);
  const access = accessTo(match?.route, request.method, kernel.access);
  const authentication = authenticated(request, kernel, access);
  if (!authentication.admitted) return credentialRefusal(access, authentication.reason);

  const key = kernel.behavior.quota.keyOf(authentication.identity, request);
  const admission = countRequest(request, key, kernel);
  if (admission?.admitted === false) return withAdmission(quotaRefusal(admission, kernel), admission, kernel);
  try {
    if (admission?.delayMs) await kernel.clock.sleep(admission.delayMs);
    return withAdmission(answerWithin(request, match, kernel), admission, kernel);
  } finally {
    kernel.limiter?.release?.(key, kernel.clock.now());
  }
}

/** The client's identity, by the rules of the behavior. */
export function authenticated(
  request: ReceivedRequest,
  { access: own, clock, behavior: { credentials } }: Kernel,
  access: Access = own,
): Authentication {
  return credentials.authenticate(request, access, credentials, clock.now());
}

/** 401 with a challenge for each way in (RFC 9110 §15.5.2). */
export function credentialRefusal(access: Access, reason: 'missing' | 'unreadable' | 'wrong'): HttpAnswer {
  return problem(reason === 'wrong' ? 'wrong-credential' : 'unauthenticated', challenges(access, reason));
}

function accessTo(route: Route | undefined, method: string, access: Access): Access {
  const credential = route?.credentials?.[method === 'HEAD' ? 'GET' : method] ?? route?.credential;
  if (credential === undefined) return access;
  if (credential === 'optional') return { ...access, isOptional: true };
  return { ...access, placements: credential === 'signature' ? ['signature'] : [] };
}

function countRequest(request: ReceivedRequest, key: string, kernel: Kernel): Admission | null {
  if (kernel.limiter === null) return null;
  const { quota } = kernel.behavior;
  const nowMs = kernel.clock.now();
  // A request that does not count is never refused either.
  return quota.counts(request)
    ? kernel.limiter.take(key, nowMs)
    : { ...kernel.limiter.peek(key, nowMs), admitted: true };
}

/** Counts a request to which nothing else is answered; null where there is room for it. */
export function refuseBeyondQuota(
  request: ReceivedRequest,
  identity: string,
  kernel: Kernel,
): HttpAnswer | null {
  const admission = countRequest(request, kernel.behavior.quota.keyOf(identity, request), kernel);
  return admission?.admitted === false
    ? withAdmission(quotaRefusal(admission, kernel), admission, kernel)
    : null;
}

function quotaRefusal(admission: Admission, kernel: Kernel): HttpAnswer {
  const retryAfter = kernel.behavior.quota.retryAfter(admission.renewsInMs, kernel.clock.now());
  const states = admission.states?.map((each) => each.admission) ?? [admission];
  const violated = states.flatMap(({ admitted }, at) => (admitted ? [] : [policyName(at)]));
  return problem('rate-limited', [['Retry-After', retryAfter]], { 'violated-policies': violated });
}

function withAdmission(answer: HttpAnswer, admission: Admission | null, kernel: Kernel): HttpAnswer {
  if (admission === null || kernel.plan === null) return answer;
  const fields = kernel.behavior.quota.fields(kernel.plan, admission, kernel.clock.now());
  return { ...answer, fields: [...answer.fields, ...fields] };
}

/** Answers to a credential are its holder's alone (RFC 9111 §3.5); refusals are never stored. */
function cacheFields(answer: HttpAnswer, kernel: Kernel): readonly FieldLine[] {
  if (isProblem(answer.responseKind)) return [['Cache-Control', 'no-store']];
  const vary = credentialFields(kernel.access);
  return [
    ['Cache-Control', 'private, no-cache'],
    ...(vary.length === 0 ? [] : [['Vary', vary.join(', ')] as const]),
  ];
}

export const TRANSPORT_SECURITY = 'Strict-Transport-Security';

// RFC 9110 §8.6: no Content-Length in 1xx and 204; a 304 needs none.
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([101, 204, 304]);

function framed(answer: HttpAnswer, kernel: Kernel): HttpAnswer {
  const common: readonly FieldLine[] = [
    ['Date', imfFixdate(kernel.clock.now())],
    ['X-Request-Id', kernel.requestId()],
    ['X-Content-Type-Options', 'nosniff'],
    ...cacheFields(answer, kernel),
    // RFC 6797 §7.2: not without TLS.
    ...(kernel.overTls ? [[TRANSPORT_SECURITY, 'max-age=31536000; includeSubDomains'] as const] : []),
  ];
  const missing = common.filter(([name]) => fieldValues(answer, name).length === 0);
  const whole: HttpAnswer = { ...answer, fields: [...answer.fields, ...missing] };
  if (answer.stream && !WITHOUT_CONTENT.has(answer.status)) return whole;
  return WITHOUT_CONTENT.has(answer.status)
    ? { ...whole, body: Buffer.alloc(0) }
    : withField(whole, 'Content-Length', String(answer.body.length));
}
