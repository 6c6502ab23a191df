import { type DocumentedLimit, TOLERANCE } from '../../../harness/wire/limit/observed/observation.ts';

/** How many requests each burst has that measures a limit. */

/** Beyond the documented number, so that a burst that brings too many through is seen. */
export const PARALLEL_OVERSHOOT = 4;
/** The same of many requests, of which some come late. */
export const MANY_OVERSHOOT = 10;
/** Of the limit: beyond it, where requests in turn were not refused, or to tell a higher limit from what flows back meanwhile. */
const COUNTED_SHARE = 0.25;

/** Requests after which a limit that refused none of them, sent one by one, is not met that way. */
export function serialBurst({ requests }: Pick<DocumentedLimit, 'requests'>): number {
  return requests + Math.ceil(requests * TOLERANCE.patienceShare) + TOLERANCE.patience;
}

/** Number of requests that are sent together to be counted, or since the limit was not met one by one. */
export function togetherBurst({ requests }: Pick<DocumentedLimit, 'requests'>): number {
  return requests + Math.ceil(requests * COUNTED_SHARE) + PARALLEL_OVERSHOOT;
}

/** Of the limit, at the most: requests in turn that are more than flow back meanwhile. */
const TELLING_SHARE = 2.6;

/** The most requests of a count in turn. */
export function mostInTurn({ requests }: Pick<DocumentedLimit, 'requests'>): number {
  return Math.max(serialBurst({ requests }), Math.ceil(TELLING_SHARE * requests));
}

/** Whether as many in turn, if each takes `eachMs`, are more than an even flow gives back meanwhile. */
export function isTellable({ requests, windowMs }: DocumentedLimit, eachMs: number): boolean {
  const left = 1 - (eachMs * requests) / windowMs;
  return left * mostInTurn({ requests }) > requests + TOLERANCE.patience;
}

/** Requests in turn that nearly always meet refusals at random. */
export const MANY = 60;
const FIRST_SHARE = 0.6;

/** Of few requests sent together most go first: a refusal among them, and service of those behind, is one at random. */
export function firstWave({ requests }: Pick<DocumentedLimit, 'requests'>): number {
  return requests > MANY ? 0 : Math.floor(requests * FIRST_SHARE);
}
