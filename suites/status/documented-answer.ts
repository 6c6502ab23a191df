import {
  check,
  clause,
  clients,
  credentialed,
  documentedWithoutBody,
  IN_JSON,
  observation,
  rfc9110,
} from '../../harness/engine/check/suite.ts';
import { messages } from '../framing/messages.ts';
import { steady } from '../row.ts';
import { everyExchange } from '../stimuli/record.ts';
import { refusalSide, sample } from '../stimuli/sample.ts';
import * as target from '../stimuli/target.ts';
import { noRedirect } from '../versioning/versioning.suite.ts';

// endpoint.sample shows Content-Type on a GET.
const documentedContentType = check('status.documented-content-type', {
  title: 'accepts the documented Content-Type on a request without a body',
  headline: 'A GET with the documented Content-Type gets {answer}',
  why: 'Clients that follow the documents to the letter are refused.',
  change: 'Ignore Content-Type on requests without a body.',
  grounds: [clause('endpoint.sample')],
  applies: [documentedWithoutBody],
  uses: [sample, target.withoutContentType],
  async judge({ probe, violated, blocked }) {
    const documented = await probe(sample);
    if (documented.served) return;
    const without = await probe(target.withoutContentType);
    if (!without.served) blocked('the sample request is served neither with Content-Type nor without');
    violated(
      'the documented request to be served',
      `status ${documented.response.status}, and ${without.response.status} without Content-Type`,
      documented.evidence,
    );
  },
});

export const documentedSample = check('status.sample', {
  title: 'answers the documented sample request with 200',
  headline: 'The documented request gets {answer}',
  why: 'The one request that the documents show does not work as they show it.',
  change: 'Serve the documented path with 200, or correct endpoint.sample in the contract.',
  grounds: [clause('endpoint.sample')],
  restsOn: [documentedContentType, noRedirect, ...messages],
  uses: [sample],
  async judge({ expect }) {
    await expect().toBeAnswered();
    await expect().faultOf(refusalSide).toHaveStatus(200);
  },
});

// RFC 9110 §15: three digits, the first one a class of 1 to 5; §16.2.1: codes come from the registry.
const registered = check('status.registered', {
  title: 'uses registered status codes only',
  headline: 'The service answers with {got}, which is no registered code',
  why: 'Libraries, proxies and monitoring know what to do with registered codes only.',
  change: 'Use the registered code that comes closest, such as 400, 404 or 503.',
  grounds: [clause('responses.status-codes'), rfc9110('15', 'MUST')],
  uses: [everyExchange],
  judge: ({ expect }) => expect().toHaveRegisteredStatus(),
});

export const noErrorInSuccess = check('status.no-error-in-success', {
  title: 'sends no error with a success status',
  headline: 'An error is sent as a success: {got}',
  why: 'Clients look at the status first, and take the error for data.',
  change: 'Answer errors with a 4xx or 5xx status, and keep 2xx for what has succeeded.',
  grounds: [clause('responses.status-codes')],
  uses: [everyExchange],
  judge: ({ expect }) =>
    expect()
      .where(({ served }) => served)
      .toConform(
        'no error in a 2xx body',
        ({ response: { status, reportedError } }) =>
          reportedError && `status ${status} with ${reportedError}`,
        IN_JSON,
      ),
});

// One instance in several that is out of order answers now and then.
export const stable = steady('status.stable', {
  ground: clients('every client fails that gets the odd one'),
  title: 'answers the same request each time with the same status and media type',
  headline: 'The same request gets {got}',
  why: 'Clients fail now and then, for example when one of several instances is broken.',
  change: 'Compare the instances and caches behind this address: one of them answers differently.',
  alike: ['status', 'media type'],
  wanted: ({ usual }) => `${usual} each time`,
  got: ({ odd }) => odd,
});

// RFC 9110 §15.5.5. A collection may create or hide a resource of any name, but not at every depth.
export const unknownPath = check('status.unknown-path', {
  title: 'refuses paths that do not exist, and does not fail there',
  headline: 'A path that does not exist gets {answer}',
  why: 'A typing error in a client is taken for data, or for an outage.',
  change: 'Answer 404 from a last route that catches every other path.',
  grounds: [clause('errors.codes'), clause('responses.status-codes')],
  restsOn: [noErrorInSuccess, registered],
  uses: [target.unknownPaths],
  async judge({ probe, expect, documentedStatus }) {
    const replies = await probe(target.unknownPaths);
    const wanted = documentedStatus('unknownPath');
    const isSaid =
      wanted === null || replies.some(({ status }) => status !== null && wanted.includes(status));
    // The requests have no condition, so a 304 refuses nothing.
    const isServed = replies.every(({ served, status }) => served || status === 304);
    await expect(replies).toConform(
      wanted === null
        ? 'a refusal at one depth at least, and no server error'
        : `status ${wanted.join(' or ')} at one depth at least`,
      ({ status, response: { statusClass } }) =>
        statusClass === 5 || isServed || !isSaid ? `status ${status}` : null,
    );
  },
});

/** The documented request and its opposite, and what holds of every answer. */
export const documentedAnswer = [
  documentedSample,
  documentedContentType,

  unknownPath,

  // errors.codes does not show which of two faults is reported.
  observation('status.unknown-path-without-credential', {
    title: 'answers 401 or 404 to an unknown path without a credential',
    why: '404 before 401 tells strangers which paths exist.',
    grounds: [clause('errors.codes')],
    applies: [credentialed],
    uses: [target.unknownPathWithoutCredential],
    async observe({ probe }) {
      const { status } = (await probe(target.unknownPathWithoutCredential)).response;
      return { seen: status, note: `status ${status}` };
    },
  }),

  registered,
  noErrorInSuccess,
  stable,
];
