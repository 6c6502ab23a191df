import type { Reply } from '../evidence/exchange/reply.ts';
import { type Probe, probe, type Stimuli } from '../session.ts';
import { NotApplicable } from '../verdict.ts';
import { quotaSample } from './quota/quota.ts';
import * as credentials from './request/credential.ts';
import { rawSample, requireServed, sample, sampleAgain } from './request/sample.ts';
import * as targets from './request/target.ts';

/** Replies of many probes, for checks that hold for whatever the service says. */

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

const EVERYTHING = [
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

/** What is sent over a raw socket, so that the framing of its answer is seen. */
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

/** Every answer whose framing was seen octet by octet: that to the sample alone where it is not served. */
export const rawReplies: Probe<readonly Reply[]> = probe('raw-replies', async (stimuli) => {
  const { served } = await stimuli.ask(sample);
  return repliesTo(stimuli, served ? RAW : [rawSample]);
});

/** Every error of the service's own. */
export const errorReplies: Probe<readonly Reply[]> = probe('error-replies', async (stimuli) =>
  errorsAmong(await repliesTo(stimuli, REFUSED_BY_THE_SERVICE)),
);

export const serverErrorReplies: Probe<readonly Reply[]> = probe('server-error-replies', async (stimuli) =>
  errorsAmong(await repliesTo(stimuli, REFUSED_BY_ITS_SERVER)),
);

/** Every refusal of a missing or wrong credential. */
export const refusals: Probe<readonly Reply[]> = probe('refusals', (stimuli) =>
  repliesTo(stimuli, credentials.REFUSED),
);

/** Every answer that carries the documented resource. */
export const successReplies: Probe<readonly Reply[]> = probe('success-replies', async (stimuli) => {
  await requireServed(await stimuli.ask(sample));
  const replies = await repliesTo(stimuli, [sample, sampleAgain]);
  return replies.filter(({ served }) => served);
});

/** Whatever the service answered to the requests of the functional suites. */
export const everyReply: Probe<readonly Reply[]> = probe('every-reply', async (stimuli) => {
  const replies = await repliesTo(stimuli, [...new Set(EVERYTHING)]);
  return replies.filter(({ exchange }) => exchange.response !== null);
});

/** Every response with content that calls itself JSON. */
export const jsonReplies: Probe<readonly Reply[]> = probe('json-replies', async (stimuli) => {
  const replies = [
    ...(await stimuli.ask(successReplies)),
    ...(await stimuli.ask(errorReplies)),
    ...(await stimuli.ask(serverErrorReplies)),
  ];
  return replies.filter(({ response }) => response.isJson && response.bodyLength > 0);
});

/** Served and refused alike: whatever may tell of a quota. */
export const quotaReplies: Probe<readonly Reply[]> = probe('quota-replies', async (stimuli) => [
  await stimuli.ask(quotaSample),
  ...(await stimuli.ask(successReplies)),
]);

/** In the order of the probes; what there is no stimulus for, with this scheme or in this config, is left out. */
async function repliesTo(stimuli: Stimuli, probes: readonly Probe<Reply>[]): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  for (const each of probes) {
    try {
      replies.push(await stimuli.ask(each));
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
    }
  }
  return replies;
}

function errorsAmong(replies: readonly Reply[]): readonly Reply[] {
  return replies.filter(({ exchange }) => (exchange.response?.status ?? 0) >= 400);
}
