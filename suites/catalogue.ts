import type { Suite } from '../harness/check/check.ts';
import { authentication } from './authentication.suite.ts';
import { json } from './json.suite.ts';
import { operations } from './operations.suite.ts';
import { pact } from './pact.suite.ts';
import { rateLimit } from './rate-limit.suite.ts';
import { statusCodes } from './status-codes.suite.ts';
import { versioning } from './versioning.suite.ts';
import { webhooks } from './webhooks.suite.ts';
import { websocket } from './websocket.suite.ts';

/**
 * In the order in which they are judged. The rate-limit suite comes last: what the others have sent is the
 * first part of its burst, and what it exhausts nobody needs any more.
 */
export const suites: readonly Suite[] = [
  authentication,
  statusCodes,
  json,
  versioning,
  operations,
  pact,
  websocket,
  webhooks,
  rateLimit,
];
