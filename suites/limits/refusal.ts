import {
  check,
  clause,
  clients,
  jsonErrors,
  observation,
  practice,
  rfc6585,
  rfc9110,
  settled,
} from '../../harness/engine/check/suite.ts';
import { namedOrigin } from '../cors/cors.suite.ts';
import * as page from '../cors/stimuli/page.ts';
import * as answer from '../cors/stimuli/page-answer.ts';
import { stable } from '../status/documented-answer.ts';
import { everyExchange } from '../stimuli/record.ts';
import { unknownPath } from '../stimuli/target.ts';
import { burstFailures } from './stimuli/measurement.ts';
import * as quota from './stimuli/quota.ts';
import { everyLimitRefusal, hasContentForPrograms } from './stimuli/quota.ts';
import { pageWhileExhausted, refusalDelay } from './stimuli/spent.ts';

/** A refusal costs less work than an answer; one that takes so much longer, in ms, is held back on purpose. */
const HELD_BACK_MS = 1_000;

/** errors.shape is not shown. */
export const refusalShape = observation('limits.refusal-shape', {
  title: 'gives the refusal the shape of its other errors, or another',
  why: 'With one shape a client reads a 429 like any other error.',
  varies: 'shape',
  grounds: [clause('errors.shape')],
  uses: [unknownPath, quota.refusalAnswer],
  async observe({ probe }) {
    // The 404 first: once the quota is spent there is none to be had.
    const there = (await probe(unknownPath)).response.shape;
    const { shape } = (await probe(quota.refusalAnswer)).response;
    const same = JSON.stringify(shape) === JSON.stringify(there);
    return {
      seen: { shape, sameAsNotFound: same },
      note: same ? 'the shape of a 404' : 'another shape than a 404',
    };
  },
});

/** What means something else to clients than that they come too often. */
const MISLEADING: ReadonlySet<number> = new Set([401, 404, 407, 410]);
/** A 503 says to come later (RFC 9110 §15.6.4), and so do others that no standard has. */
const OVERLOADED: ReadonlySet<number> = new Set([503, 509, 529]);

// RFC 6585 §7.2 lets a server refuse in another way than with 429: not with what makes clients do the wrong thing.
const refusalMeaning = check('limits.refusal-meaning', {
  title: 'refuses requests beyond the limit with no status that means another fault',
  headline: 'A request beyond the limit gets {answer}, as if something else were wrong',
  why: 'On 401 clients throw their key away, and on 500 they try again at once.',
  change: 'Answer 429 when the limit is reached.',
  grounds: [clients('urllib3 and ky wait for Retry-After on 413, 429 and 503 alone')],
  // A broken instance refuses nothing.
  restsOn: [stable],
  uses: [quota.refusal, everyLimitRefusal],
  async judge({ probe, expect, documentedStatus, notApplicable }) {
    if (documentedStatus('rateLimit') !== null) notApplicable('the documents name the status themselves');
    for (const each of [await probe(quota.refusal), everyLimitRefusal])
      await expect(each)
        .where(({ status }) => status !== null, 'the refusal is no answer')
        .toConform('429, or another status for a limit', ({ response: { status, statusClass } }) =>
          MISLEADING.has(status) || (statusClass === 5 && !OVERLOADED.has(status))
            ? `status ${status}`
            : null,
        );
  },
});

/** How a request beyond the limit is refused. */
const pageRefusal = check('limits.refusal-for-pages', {
  title: 'lets the named pages read refusals at the limit',
  headline: 'A page may not read the refusal at the limit: {got}',
  why: 'The page sees a failed connection, and asks again at once.',
  change: 'Set the headers for pages before requests are counted.',
  grounds: [clause('cors.origins')],
  applies: [settled('cors.origins')],
  restsOn: [namedOrigin],
  uses: [pageWhileExhausted],
  judge: ({ expect }) =>
    expect()
      .where(({ served }) => !served, 'requests for pages are not refused')
      .toConform('Access-Control-Allow-Origin as with a success', answer.unreadable),
});

export const refusals = [
  refusalMeaning,

  // RFC 6585 §4: 429 is the status for too many requests in a given amount of time; §7.2 does not demand it.
  check('limits.refusal-status', {
    title: 'refuses requests beyond the limit with 429',
    headline: 'A request beyond the limit gets {answer}',
    why: 'On 429 libraries wait and try again. On other codes they give up, or go on at once.',
    change: 'Answer 429 when the limit is reached.',
    grounds: [rfc6585('4', 'SHOULD')],
    restsOn: [refusalMeaning],
    uses: [quota.refusal, everyLimitRefusal],
    async judge({ probe, expect, documentedStatus, notApplicable }) {
      if (documentedStatus('rateLimit') !== null) notApplicable('the documents name the status themselves');
      for (const each of [await probe(quota.refusal), everyLimitRefusal])
        await expect(each).toHaveStatus(429);
    },
  }),

  check('limits.documented-refusal', {
    title: 'refuses requests beyond the limit with the documented status',
    headline: 'A request beyond the limit gets {answer}, which is not what the documents say',
    why: 'Clients that wait on the documented status go on at once.',
    change: 'Answer with the status that errors.codes names for rateLimit, or correct the documents.',
    grounds: [clause('errors.codes')],
    applies: [settled('errors.codes')],
    uses: [quota.refusal, everyLimitRefusal],
    async judge({ probe, expect, documentedStatus, notApplicable }) {
      const wanted = documentedStatus('rateLimit') ?? notApplicable('errors.codes names none for rateLimit');
      for (const each of [await probe(quota.refusal), everyLimitRefusal])
        await expect(each).toHaveStatus(...wanted);
    },
  }),

  check('limits.refusal-json', {
    title: 'refuses requests beyond the limit with a JSON body, like its other errors',
    headline: 'The refusal beyond the limit is not JSON: {got}',
    why: 'A client that reads every error as JSON fails just when it should slow down.',
    change: 'Send the 429 in the JSON form of your other errors, also where a gateway answers.',
    grounds: [clause('errors.format')],
    applies: [jsonErrors],
    uses: [quota.refusalAnswer, everyLimitRefusal],
    async judge({ probe, expect }) {
      for (const each of [await probe(quota.refusalAnswer), everyLimitRefusal])
        await expect(each).where(hasContentForPrograms, 'no refusal has content for programs').toBeJson();
    },
  }),

  // Else clients come back too early, or much too late.
  check('limits.retry-after', {
    title: 'says when to try again (Retry-After)',
    headline: 'The refusal does not say when to try again',
    why: 'Clients come back at once, or much too late.',
    change: 'Send Retry-After with the seconds until the quota comes back.',
    grounds: [practice('tell clients when to come back')],
    uses: [quota.refusalAnswer, everyLimitRefusal],
    async judge({ probe, expect }) {
      for (const each of [await probe(quota.refusalAnswer), everyLimitRefusal])
        await expect(each).toHaveField('Retry-After');
    },
  }),

  // RFC 9110 §10.2.3: an HTTP-date or a whole number of seconds.
  check('limits.retry-after-valid', {
    title: 'sends a well-formed Retry-After',
    headline: 'Retry-After is malformed: {got}',
    why: 'A client that cannot read it comes back at once.',
    change: 'Send a whole number of seconds, or a date of HTTP.',
    grounds: [rfc9110('10.2.3', 'MUST')],
    uses: [quota.refusalAnswer, everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('retry-after'), 'no response has Retry-After')
        .toConform('seconds or an HTTP-date', ({ response }) =>
          response.retryAfter?.kind === 'invalid' ? `"${response.field('retry-after')}"` : null,
        ),
  }),

  // RFC 6585 §4: responses with 429 are not stored by a cache.
  check('limits.refusal-not-cacheable', {
    title: 'does not let caches keep the refusal',
    headline: 'A cache may keep the refusal beyond the limit: {got}',
    why: 'A cache goes on refusing clients whose quota has come back.',
    change: 'Send Cache-Control: no-store with 429.',
    grounds: [rfc6585('4', 'MUST')],
    uses: [quota.refusalAnswer, everyExchange],
    async judge({ probe, expect }) {
      const first = await probe(quota.refusalAnswer);
      await expect(first, everyExchange)
        .where(({ status, evidence }) => status === 429 || evidence === first.evidence)
        .toBeUncacheable();
    },
  }),

  // Whoever waits for a refusal keeps a connection busy.
  check('limits.refusal-prompt', {
    title: 'refuses promptly',
    headline: 'The refusal takes {got}',
    why: 'Connections that are held pile up on both sides just when the load is high.',
    change: 'Answer 429 at once, and let Retry-After slow clients down.',
    grounds: [practice('no tarpit')],
    uses: [refusalDelay],
    async judge({ probe, violated, note }) {
      const { typicalMs, refusalMs, evidence } = await probe(refusalDelay);
      const took = `${Math.round(refusalMs)} ms`;
      if (refusalMs > typicalMs + HELD_BACK_MS) {
        const wanted = `a refusal about as fast as an answer (${Math.round(typicalMs)} ms)`;
        violated(wanted, took, evidence);
      }
      note(took);
    },
  }),

  // Fetch §4.9: a page gets nothing of an answer that does not name its origin.
  pageRefusal,

  check('limits.retry-after-for-pages', {
    title: 'lets pages read Retry-After of a refusal',
    headline: 'Pages cannot read the headers of the refusal at the limit: {got}',
    why: 'A page cannot see how long it has to wait, and asks again too soon.',
    change: 'Name Retry-After and the quota headers in Access-Control-Expose-Headers of the refusal.',
    grounds: [practice('quota headers that pages can read')],
    applies: [settled('cors.origins')],
    restsOn: [pageRefusal],
    uses: [pageWhileExhausted],
    judge({ expect, service }) {
      const policy = page.pagePolicy(service);
      return expect()
        .where(answer.isReadBy(policy))
        .where((reply) => !reply.served && reply.response.has('retry-after'), 'no refusal has Retry-After')
        .toConform(
          'Retry-After in Access-Control-Expose-Headers',
          (reply) => answer.hiddenStated(reply, policy) ?? answer.hiddenQuota(reply, policy),
        );
    },
  }),

  // limits.other does not show how the refusal looks.
  observation('limits.refusal', {
    title: 'refuses requests beyond the limit in some form',
    why: 'The documents leave the form open, and clients have to recognise it.',
    grounds: [clause('limits.other')],
    uses: [quota.refusalAnswer],
    async observe({ probe }) {
      const { response } = await probe(quota.refusalAnswer);
      const mediaType = response.mediaType?.essence ?? null;
      const retryAfter = response.retryAfter?.kind ?? null;
      return {
        seen: { status: response.status, mediaType, retryAfter },
        note: `status ${response.status}, ${mediaType ?? 'no media type'}, Retry-After: ${retryAfter ?? 'none'}`,
      };
    },
  }),
];

// Within its quota a client may send as fast as it likes: a failure of the server is no refusal.
export const failures = check('limits.failures', {
  title: 'fails at none of many requests that follow each other, or come together, within the quota',
  headline: 'Of many requests within the quota some fail: {got}',
  why: 'Clients that use what they may use are failed now and then, and take it for the limit.',
  change: 'Find what gives out when requests come fast or together, or which instance fails.',
  grounds: [practice('repeatable answers')],
  restsOn: [stable],
  uses: [burstFailures],
  async judge({ probe, violated, note }) {
    const { status, count, of, evidence } = await probe(burstFailures);
    if (status !== null)
      violated('no failure', `status ${status} for ${count} of ${of} answers in bursts`, evidence);
    note(`${of} answers in bursts without a failure`);
  },
});
