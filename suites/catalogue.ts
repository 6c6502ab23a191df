import { given, type Suite, servesHttp } from '../harness/engine/check/suite.ts';
import { auth } from './auth/auth.suite.ts';
import { caching } from './caching/caching.suite.ts';
import { cors } from './cors/cors.suite.ts';
import { events } from './events/events.suite.ts';
import { framing } from './framing/framing.suite.ts';
import { headers } from './headers/headers.suite.ts';
import { http2 } from './http2/http2.suite.ts';
import { json } from './json/json.suite.ts';
import { limits } from './limits/limits.suite.ts';
import { messages } from './messages/messages.suite.ts';
import { negotiation } from './negotiation/negotiation.suite.ts';
import { operations } from './operations/operations.suite.ts';
import { pact } from './pact/pact.suite.ts';
import { paths } from './paths/paths.suite.ts';
import { status } from './status/status.suite.ts';
import { versioning } from './versioning/versioning.suite.ts';
import { webhooks } from './webhooks/webhooks.suite.ts';
import { websocket } from './websocket/websocket.suite.ts';

const overHttp = (each: Suite): Suite => ({ ...each, checks: given([servesHttp], each.checks) });

/** What every HTTP service is held to, in the order in which it is judged. */
export const functional: readonly Suite[] = [
  auth,
  status,
  headers,
  framing,
  json,
  paths,
  caching,
  negotiation,
  versioning,
  cors,
  http2,
].map(overHttp);

/**
 * In the order in which they are judged. The suite `limits` comes last: the requests of the others are the first
 * part of its burst, and no later check needs the quota, except those that wait for the costs of requests.
 */
export const suites: readonly Suite[] = [
  ...functional,
  operations,
  events,
  pact,
  messages,
  websocket,
  webhooks,
  overHttp(limits),
];

export { everyExchange as everyAnswer } from './stimuli/record.ts';
