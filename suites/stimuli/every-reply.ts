import { Blocked, NotApplicable } from '../../harness/base/verdict.ts';
import type { Unasked } from '../../harness/engine/session/http/service-http.ts';
import type { Ask } from '../../harness/engine/session/probe.ts';
import { derived, type Probe, probe, riskyLast } from '../../harness/engine/session/probe.ts';
import type { Reply } from '../../harness/wire/exchange/reply.ts';
import * as credentials from '../auth/stimuli/credential.ts';
import { preflight } from '../auth/stimuli/origin.ts';
import { quotaSample } from '../limits/stimuli/quota.ts';
import { rawSample, sample, sampleAgain, sampleOnKept, served as servedSample } from './sample.ts';
import * as targets from './target.ts';

/**
 * Replies of several probes, for checks that hold for whatever the service says. Which ones stands here, by hand: a few of
 * each way in which a service and its HTTP server come to answer. A new probe is not among them before it is written down
 * here.
 */

/** Errors that a service explains itself, once the message has got through to it. */
const REFUSED_BY_THE_SERVICE = [
  credentials.withoutCredential,
  credentials.wrongCredential,
  targets.unknownPath,
  targets.deleteSample,
  targets.unknownAccept,
];

/** Errors that as a rule the HTTP server before it explains. */
const REFUSED_BY_ITS_SERVER = [
  targets.unknownMethod,
  targets.malformedTarget,
  targets.overlongTarget,
  targets.overlongField,
  targets.withoutHost,
];

/** Of all kinds: what is served, what is refused by whom, and what is unusual. */
const OF_ALL_KINDS = [
  sample,
  sampleAgain,
  ...credentials.REFUSED,
  ...credentials.WAYS_AROUND.map(({ anonymous }) => anonymous),
  ...REFUSED_BY_THE_SERVICE,
  ...REFUSED_BY_ITS_SERVER,
  targets.twoHosts,
  targets.spacedFieldName,
  targets.traceSample,
  targets.optionsSample,
  targets.headSample,
  targets.hostileQuery,
  targets.rangeRequest,
  targets.conditional,
  targets.expectContinue,
  targets.withoutUserAgent,
  targets.gzipAccepted,
];

/** Of what is sent over a raw socket, so that the framing of its answer is seen. */
const RAW = [
  rawSample,
  targets.headSample,
  targets.optionsSample,
  targets.traceSample,
  targets.conditional,
  targets.expectContinue,
  targets.withoutHost,
  targets.twoHosts,
  targets.spacedFieldName,
];

/** Answers whose framing was seen octet by octet: that to the sample alone where it is not served. */
export const rawReplies: Probe<readonly Reply[]> = derived(
  'raw-replies',
  [sample, ...RAW],
  async ({ ask }) => {
    const { served } = await ask(sample);
    return repliesTo(ask, served ? RAW : [rawSample]);
  },
);

/** What followed the responses so far though nothing was asked, that on a kept connection last of all. */
export const unasked: Probe<readonly Followed[]> = probe(
  'unasked',
  { needs: [servedSample, sampleOnKept] },
  async ({ ask, http, clock, signal }) => {
    const { to, evidence } = await ask(servedSample);
    await repliesTo(ask, [sampleOnKept]);
    await clock.sleep(AFTERWARDS_MS, signal);
    const followed = http.unasked();
    return followed.length === 0 ? [{ to, evidence, octets: null }] : followed;
  },
);

/** What followed a response, by its first line; null for nothing. */
export interface Followed extends Omit<Unasked, 'octets'> {
  readonly octets: string | null;
}

/** How long the last connection is listened to at the least, in ms. */
const AFTERWARDS_MS = 50;

/** Errors of the service's own. */
export const errorReplies: Probe<readonly Reply[]> = derived(
  'error-replies',
  REFUSED_BY_THE_SERVICE,
  async ({ ask }) => errorsAmong(await repliesTo(ask, REFUSED_BY_THE_SERVICE)),
);

export const serverErrorReplies: Probe<readonly Reply[]> = derived(
  'server-error-replies',
  REFUSED_BY_ITS_SERVER,
  async ({ ask }) => errorsAmong(await repliesTo(ask, REFUSED_BY_ITS_SERVER)),
);

/** Every refusal of a missing or wrong credential. */
export const refusals: Probe<readonly Reply[]> = derived('refusals', credentials.REFUSED, ({ ask }) =>
  repliesTo(ask, credentials.REFUSED),
);

/**
 * Those that are about the credential: whatever is refused as a bad request may have been refused by an HTTP server
 * that knows no credentials.
 */
export const refusalsForTheCredential: Probe<readonly Reply[]> = derived(
  'refusals-for-the-credential',
  [credentials.withoutCredential, credentials.wrongCredential, refusals],
  async ({ ask }) => {
    const always = [await ask(credentials.withoutCredential), await ask(credentials.wrongCredential)];
    const others = (await ask(refusals)).filter(({ status }) => status === 401 || status === 403);
    const refused = [...new Set([...always.filter(({ served }) => !served), ...others])];
    if (refused.length === 0)
      throw new Blocked('no refusal to judge: a missing and a wrong credential are served');
    return refused;
  },
);

/** What those get whom the service does not know: refusals, and the answer to a preflight. */
export const repliesToNobody: Probe<readonly Reply[]> = derived(
  'replies-to-nobody',
  [refusals, preflight],
  async ({ ask }) => [
    ...(await ask(refusals)).filter(({ served }) => !served),
    ...(await repliesTo(ask, [preflight])),
  ],
);

/** Answers that carry the documented resource. */
export const successReplies: Probe<readonly Reply[]> = derived(
  'success-replies',
  [servedSample, sample, sampleAgain],
  async ({ ask }) => {
    await ask(servedSample);
    const replies = await repliesTo(ask, [sample, sampleAgain]);
    return replies.filter(({ served }) => served);
  },
);

/** What the service answers to requests of all kinds; of the probes of single suites none but these (see above). */
export const everyReply: Probe<readonly Reply[]> = derived('every-reply', OF_ALL_KINDS, async ({ ask }) => {
  const replies = await repliesTo(ask, [...new Set(OF_ALL_KINDS)]);
  return replies.filter(({ status }) => status !== null);
});

/**
 * The same, but for answers with a key that is an ordinary word: one that stands as well where nobody has sent it was not
 * sent back.
 */
export const repliesThatMayEcho: Probe<readonly Reply[]> = derived(
  'replies-that-may-echo',
  [everyReply],
  async ({ ask }) => {
    const replies = await ask(everyReply);
    const withoutAny = replies.filter(({ exchange }) => exchange.credential === 'none');
    const unsent = new Set(
      withoutAny.flatMap(({ response }) => response.secretPlaces.map(({ name }) => name)),
    );
    return replies.filter(({ response }) => response.secretPlaces.every(({ name }) => !unsent.has(name)));
  },
);

/** Every response with content that calls itself JSON. */
export const jsonReplies: Probe<readonly Reply[]> = derived(
  'json-replies',
  [successReplies, errorReplies, serverErrorReplies],
  async ({ ask }) => {
    const replies = [
      ...(await ask(successReplies)),
      ...(await ask(errorReplies)),
      ...(await ask(serverErrorReplies)),
    ];
    return replies.filter(({ response }) => response.isJson && response.bodyLength > 0);
  },
);

/** Served and refused alike: whatever may tell of a quota. */
export const quotaReplies: Probe<readonly Reply[]> = derived(
  'quota-replies',
  [quotaSample, successReplies],
  async ({ ask }) => [await ask(quotaSample), ...(await ask(successReplies))],
);

/** Nothing risky first; what there is no stimulus for, with this scheme or in this config, is left out. */
async function repliesTo(ask: Ask, probes: readonly Probe<Reply>[]): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  for (const each of riskyLast(probes)) {
    try {
      replies.push(await ask(each));
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
    }
  }
  return replies;
}

function errorsAmong(replies: readonly Reply[]): readonly Reply[] {
  return replies.filter(({ status }) => status !== null && status >= 400);
}
