import { CONFORMING_CREDENTIALS } from '../credentials/authentication.ts';
import { fixedWindow, tokenBucket } from '../quota/algorithms.ts';
import { type LimiterAlgorithm, type QuotaPlan, rateLimitFields, wholeSeconds } from '../quota/limiter.ts';
import { furtherBy } from '../quota/several-limits.ts';
import { HANDSHAKE_RULES, judgeHandshake } from '../websocket/handshake.ts';
import type { Behavior } from './behavior.ts';
import { handleRequest } from './handling.ts';
import { CONFORMING_WEBHOOKS } from './webhooks.ts';

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
  webhooks: CONFORMING_WEBHOOKS,
};

/** Further limits are of windows as well, each counted apart. */
function algorithmOf({ rate, further }: QuotaPlan): LimiterAlgorithm {
  const main: LimiterAlgorithm = rate ? tokenBucket : fixedWindow;
  return further?.length ? furtherBy(fixedWindow, main) : main;
}

/** The same, with a quota as the plan has it. */
export function conformingTo(plan: QuotaPlan | null): Behavior {
  return {
    ...CONFORMING,
    quota: {
      ...CONFORMING.quota,
      ...(plan && { algorithm: algorithmOf(plan) }),
      // Whoever calls a reference provider does so from one address.
      ...(plan?.per === 'address' && { keyOf: () => 'address' }),
    },
  };
}
