import { type Defect, EVERY, tableOf } from '../../behavior/deviation.ts';
import {
  droppedInsteadOf,
  insteadOfServing,
  onAnswer,
  type Patch,
  together,
} from '../../behavior/patches/patch.ts';
import { acceptsJson, cutOf, ranged } from '../../behavior/patches/representations.ts';
import { asProblem, failed } from '../../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest, withoutField } from '../../http/message.ts';

/** Fails over served requests of a kind. */
const failingOn = (when: (request: ReceivedRequest) => boolean): Patch => insteadOfServing(when, failed);

/** What the service does with requests that are unusual, hostile or at the edge of what HTTP allows. */
export const ROBUSTNESS_DEFECTS = tableOf<Defect>(EVERY, {
  'long-url-drops-connection': {
    summary: 'closes the connection on a long request target',
    cause: 'An overlong URL gets no response',
    fails: ['status.overlong-target'],
    patch: droppedInsteadOf('target-too-long'),
  },
  'long-url-500': {
    summary: 'fails over a long request target',
    cause: 'An overlong URL is answered {status:500}, a server error',
    fails: ['status.overlong-target'],
    patch: onAnswer('target-too-long', failed),
  },
  'long-field-500': {
    summary: 'fails over large header fields',
    cause: 'An overlong header is answered {status:500}, a server error',
    fails: ['status.overlong-field'],
    patch: onAnswer('fields-too-large', failed),
  },
  'malformed-percent-500': {
    summary: 'fails over percent-encoding that it cannot decode',
    cause: 'Broken percent-encoding in the path is answered {status:500}, a server error',
    fails: ['status.malformed-target'],
    patch: onAnswer('malformed', failed, ({ path }) => path.includes('%')),
  },
  'hostile-query-500': {
    summary: 'fails over quotes and brackets in the query',
    cause: 'Quotes and markup in the query are answered {status:500}, a server error',
    fails: ['status.hostile-query'],
    patch: failingOn(({ query }) => /['<\0]|%27|%3c|%00/i.test(query ?? '')),
  },
  'accept-unknown-500': {
    summary: 'fails when the client accepts no media type that it has',
    cause: 'An unknown media type in Accept is answered {status:500}, a server error',
    fails: ['negotiation.unknown-accept'],
    patch: failingOn((request) => !acceptsJson(request)),
  },
  'range-500': {
    summary: 'fails over a Range field',
    cause: 'A Range header is answered {status:500}, a server error',
    fails: ['caching.range'],
    patch: failingOn((request) => fieldValue(request, 'range') !== undefined),
  },
  'range-without-content-range': {
    summary: 'serves ranges without saying which octets they are (RFC 9110 §15.3.7)',
    cause: 'A 206 has no Content-Range header',
    fails: ['caching.partial-content'],
    patch: together(
      ranged({ cut: (range, octets) => (range.includes('=-') ? undefined : cutOf(range, octets)) }),
      onAnswer('served', (answer) =>
        answer.status === 206 ? withoutField(answer, 'Content-Range') : answer,
      ),
    ),
  },
  'if-none-match-500': {
    summary: 'fails over a conditional request',
    cause: 'An If-None-Match header is answered {status:500}, a server error',
    fails: ['caching.conditional'],
    patch: onAnswer(
      ['served', 'not-modified'],
      failed,
      (request) => fieldValue(request, 'if-none-match') !== undefined,
    ),
  },
  'expect-continue-500': {
    summary: 'fails over an expectation',
    cause: '`Expect: 100-continue` is answered {status:500}, a server error',
    fails: ['status.expect-continue'],
    patch: failingOn((request) => fieldValue(request, 'expect') !== undefined),
  },
  'content-type-on-get-415': {
    summary: 'refuses the Content-Type field that the documented sample sends with its GET',
    cause: 'A GET with `Content-Type: application/json` is answered {status:415}',
    fails: ['status.documented-content-type'],
    patch: insteadOfServing((request) => fieldValue(request, 'content-type') !== undefined, asProblem(415)),
  },
  'missing-user-agent-500': {
    summary: 'fails over a request that does not say what sent it',
    cause: 'A request without a User-Agent is answered {status:500}, a server error',
    fails: ['status.missing-user-agent'],
    patch: failingOn((request) => fieldValue(request, 'user-agent') === undefined),
  },
});
