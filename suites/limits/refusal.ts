import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { clause, practice, rfc6585, rfc9110 } from '../../harness/contract/ground.ts';
import { shapeOf } from '../../harness/evidence/json/shape.ts';
import * as quota from '../../harness/probe/quota/quota.ts';
import * as spent from '../../harness/probe/quota/spent.ts';
import { unknownPath } from '../../harness/probe/request/target.ts';
import { exceeding } from './exceeding.ts';

/** How a request beyond the limit is refused. */

export const refusalShape: readonly CheckDefinition[] = [
  observation(
    'limits.refusal-shape',
    {
      title: 'gives the refusal the shape of its other errors',
      grounds: [clause('errors.shape')],
      applies: exceeding,
      shownBy: ['plain-json-errors', 'error-shape-by-status'],
    },
    async ({ probe, observe, note }) => {
      // The 404 first: once the quota is spent there is none to be had.
      const [there, here] = [await probe(unknownPath), await probe(quota.refusal)].map(({ response }) =>
        shapeOf(response.json.value),
      );
      const same = JSON.stringify(here) === JSON.stringify(there);
      observe('limits.refusal-shape', { shape: here ?? null, sameAsNotFound: same });
      note(same ? 'the shape of a 404' : 'another shape than a 404');
    },
  ),
];

export const refusals: readonly CheckDefinition[] = [
  // RFC 6585 §4: 429 is the status for too many requests in a given amount of time; §7.2 does not demand it.
  check(
    'limits.refusal-status',
    {
      title: 'refuses with 429',
      grounds: [rfc6585('4', 'SHOULD')],
      applies: exceeding,
      provenBy: ['refusal-503', 'refusal-403'],
    },
    async ({ probe, expect }) => {
      expect(await probe(quota.refusal)).toHaveStatus(429);
    },
  ),

  check(
    'limits.refusal-json',
    {
      title: 'refuses with a JSON body, like its other errors',
      grounds: [clause('errors.format')],
      applies: exceeding,
      provenBy: ['rate-refusal-html'],
    },
    async ({ probe, expect }) => {
      expect(await probe(quota.refusal)).toBeJson();
    },
  ),

  check(
    'limits.retry-after',
    {
      title: 'says when to try again (Retry-After)',
      grounds: [practice('tell clients when to come back')],
      applies: exceeding,
      provenBy: ['retry-after-missing'],
    },
    async ({ probe, expect }) => {
      expect(await probe(quota.refusal)).toHaveField('Retry-After');
    },
  ),

  // RFC 9110 §10.2.3: an HTTP-date or a whole number of seconds.
  check(
    'limits.retry-after-valid',
    {
      title: 'sends a well-formed Retry-After',
      grounds: [rfc9110('10.2.3', 'MUST')],
      applies: exceeding,
      provenBy: ['retry-after-malformed', 'retry-after-fractional'],
    },
    async ({ probe, expect, notApplicable }) => {
      const reply = await probe(quota.refusal);
      if (!reply.response.has('retry-after')) return notApplicable('the refusal has no Retry-After');
      expect(reply).toConform('seconds or an HTTP-date', ({ response }) =>
        response.retryAfter?.kind === 'invalid' ? `"${response.field('retry-after')}"` : null,
      );
    },
  ),

  // RFC 6585 §4: responses with 429 are not stored by a cache.
  check(
    'limits.refusal-not-cacheable',
    {
      title: 'does not let the refusal be cached',
      grounds: [rfc6585('4', 'MUST')],
      applies: exceeding,
      provenBy: ['refusal-cacheable-429'],
    },
    async ({ probe, expect }) => {
      expect(await probe(quota.refusal)).toBeUncacheable();
    },
  ),

  check(
    'limits.refusal-prompt',
    {
      title: 'refuses promptly',
      grounds: [practice('no tarpit')],
      applies: exceeding,
      provenBy: ['refusal-tarpit'],
    },
    async ({ probe, violated, note }) => {
      const { typicalMs, refusalMs, evidence } = await probe(spent.refusalDelay);
      // A refusal costs less work than an answer; one that takes a second longer is held back on purpose.
      if (refusalMs > typicalMs + 1000) {
        violated(
          `expected a refusal about as fast as an answer (${Math.round(typicalMs)} ms), got ${Math.round(refusalMs)} ms`,
          evidence,
        );
      }
      note(`${Math.round(refusalMs)} ms`);
    },
  ),

  observation(
    'limits.refusal',
    {
      title: 'refuses in some form',
      grounds: [clause('limits.other')],
      applies: exceeding,
      shownBy: ['http-date-retry-after', 'plain-json-errors'],
    },
    async ({ probe, observe, note }) => {
      const { response } = await probe(quota.refusal);
      const mediaType = response.mediaType?.essence ?? null;
      const retryAfter = response.retryAfter?.kind ?? null;
      observe('limits.refusal', { status: response.status, mediaType, retryAfter });
      note(
        `status ${response.status}, ${mediaType ?? 'no media type'}, Retry-After: ${retryAfter ?? 'none'}`,
      );
    },
  ),
];
