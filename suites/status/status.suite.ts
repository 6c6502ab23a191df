import {
  check,
  clause,
  getDocumented,
  IN_CONTENT,
  marked,
  observation,
  type Probe,
  practice,
  type Reply,
  SEARCHED,
  sizesMayBeFound,
  suite,
} from '../../harness/engine/check/suite.ts';
import { withoutCredential } from '../auth/stimuli/credential.ts';
import { handles, statusesOf } from '../row.ts';
import { everyExchange } from '../stimuli/record.ts';
import { sample, samplesInARow } from '../stimuli/sample.ts';
import * as target from '../stimuli/target.ts';
import { documentedAnswer, stable } from './documented-answer.ts';
import { methods } from './methods.ts';

const essenceOf = ({ response }: Reply): string => response.mediaType?.essence ?? 'no Content-Type';

// A result that holds for the test client alone tells nothing of the others.
const unmarked = check('status.unmarked', {
  title: 'answers other clients as it answers this one',
  headline: 'A client without the User-Agent and the run id of conform gets {got}',
  why: 'What this run found holds for the test client alone. Your clients get something else.',
  change: 'Remove the rule that looks for User-Agent or X-Conform-Run, or name User-Agent in Vary.',
  grounds: [practice('the same answer to every client')],
  applies: [getDocumented, marked],
  restsOn: [stable],
  uses: [sample, samplesInARow, target.unmarkedSample, withoutCredential, target.unmarkedWithoutCredential],
  async judge({ probe, expect }) {
    const own = [await probe(sample), ...(await probe(samplesInARow))];
    const [first = await probe(sample)] = own;
    // A counter or a union of shapes differs for each client alike.
    const isSteady = own.every(({ response }) => response.hasContentLike(first.response));
    const isRefused = !(await probe(withoutCredential)).served;
    if (isRefused) await expect(target.unmarkedWithoutCredential).toBeUnserved();
    await expect(target.unmarkedSample)
      // Some services refuse clients that they do not know.
      .where(({ response }) => response.statusClass !== 4, 'another client is refused')
      .toConform(
        'the same status, media type and shape',
        (reply) => {
          const isVaried = [reply, first].some(({ response: { vary } }) =>
            ['user-agent', '*'].some((name) => vary.includes(name)),
          );
          // Vary explains another representation, and no failure.
          if (isVaried && reply.response.statusClass !== 5) return null;
          if (reply.status !== first.status) return `status ${reply.status}`;
          if (essenceOf(reply) !== essenceOf(first)) return essenceOf(reply);
          return isSteady && !reply.response.hasContentLike(first.response)
            ? 'content of another shape'
            : null;
        },
        IN_CONTENT,
      );
  },
});

/** The status of each condition, by its name in the observation; risky ones come last. */
const CONDITIONS: Readonly<Record<string, Probe<Reply>>> = {
  unknownPath: target.unknownPath,
  unknownMethod: target.unknownMethod,
  unknownAccept: target.unknownAccept,
  range: target.rangeRequest,
  conditional: target.conditional,
  expectContinue: target.expectContinue,
  missingUserAgent: target.withoutUserAgent,
  options: target.optionsSample,
  trace: target.traceSample,
  malformedTarget: target.malformedTarget,
  overlongTarget: target.overlongTarget,
  overlongField: target.overlongField,
};

/** Up to which size a request is served, where it may be found out. */
const findsLimit = (id: string, what: string, size: Probe<target.SizeLimit>) =>
  observation(id, {
    title: `accepts ${what} up to some size`,
    why: 'A client that knows the limit can stay below it.',
    grounds: [clause('limits.other')],
    applies: [sizesMayBeFound],
    uses: [size],
    async observe({ probe }) {
      const { served, refused, status } = await probe(size);
      const refusal = refused === null ? '' : `, ${refused} refused (${status ?? 'no answer'})`;
      return {
        seen: { served, refused, status },
        note: `${served ?? 'not even the smallest number of'} bytes are served${refusal}`,
      };
    },
  });

// responses.status-codes: whatever the client gets wrong, it is no fault of the service.
export const malformedTarget = handles('status.malformed-target', target.malformedTarget, {
  what: 'a path with malformed percent-encoding',
  why: 'Anyone can send such a path. A 5xx for it counts as your fault and sets off alarms.',
  change: 'Catch the decoding error, and answer 400.',
});

/** What becomes of unusual requests, and what answers give away. */
const robustness = [
  malformedTarget,
  handles('status.overlong-target', target.overlongTarget, {
    what: 'a query of 12,000 bytes',
    why: 'Search forms and filters build long queries. A client without an answer tries again and again.',
    change: 'Answer 414 or 400 beyond your limit instead of failing or closing the connection.',
  }),
  handles('status.overlong-field', target.overlongField, {
    what: 'a header of 20,000 bytes',
    why: 'Cookies and tokens grow this long, and the client has to hear that it sent too much.',
    change: 'Answer 431 or 400 beyond your limit instead of failing or closing the connection.',
  }),
  handles('status.hostile-query', target.hostileQuery, {
    what: 'a query with quotes, markup and bad numbers',
    why: 'A failure over such input often means that it reaches a database or a parser unchecked.',
    change: 'Check parameters before you use them, and answer 400 to what does not fit.',
  }),
  handles('status.expect-continue', target.expectContinue, {
    what: 'a request with Expect: 100-continue',
    why: 'curl and many libraries add this header by themselves.',
    change: 'Answer 100 Continue, ignore the header, or refuse it with 417.',
  }),
  handles('status.missing-user-agent', target.withoutUserAgent, {
    what: 'a request without a User-Agent',
    why: 'Scripts and devices often send none, and no standard asks for one.',
    change: 'Use a default where User-Agent is missing.',
  }),

  unmarked,

  // errors.codes does not show which status belongs to which condition.
  observation('status.conditions', {
    title: 'has a status for each kind of bad or unusual request',
    why: 'Clients tell errors apart by their status, and the documents do not list them all.',
    grounds: [clause('errors.codes')],
    records: 'errors.codes',
    uses: Object.values(CONDITIONS),
    observe: ({ probe }) => statusesOf(probe, CONDITIONS),
  }),

  // limits.other does not show how long a request may be.
  findsLimit('status.target-size', 'a URL', target.targetSize),
  findsLimit('status.field-size', 'a header', target.fieldSize),

  // What an error says of the insides helps those who look for a way in.
  check('status.no-internals', {
    title: 'shows nothing of its internals in error bodies',
    headline: 'An error body shows {got}',
    why: 'File paths, versions and queries tell an attacker where to try next.',
    change: 'Log the details, and send the client a short text with a request id.',
    grounds: [practice('OWASP API8:2023')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.status >= 400, 'nothing is answered with an error')
        .toConform(
          'no stack trace, file path, SQL or version',
          ({ response }) => response.internals,
          SEARCHED,
        ),
  }),

  // RFC 9110 §9.3.8: a TRACE answer reflects the request, credentials included.
  check('status.trace', {
    title: 'does not send the credential back in answer to TRACE',
    headline: 'TRACE sends the credential back: {got}',
    why: 'A script in a page, or a log, gets to see a credential that was hidden from it.',
    change: 'Refuse TRACE with 405, or leave Authorization and cookies out of the answer.',
    grounds: [practice('OWASP API8:2023')],
    uses: [target.traceSample],
    judge: ({ expect }) => expect().toHoldNoCredential(),
  }),
];

export const status = suite('status', 'Status codes', [...documentedAnswer, ...methods, ...robustness]);
