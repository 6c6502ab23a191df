import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { FRAMED } from '../../harness/check/reading.ts';
import { sizesMayBeFound } from '../../harness/check/requirement.ts';
import { clause, rfc9110, rfc9112 } from '../../harness/contract/ground.ts';
import type { Reply } from '../../harness/evidence/reply.ts';
import { fieldSize, type SizeLimit, targetSize } from '../../harness/probe/size.ts';
import * as target from '../../harness/probe/target.ts';
import type { Probe } from '../../harness/session.ts';

type Defects = readonly [string, ...string[]];

/** Unusual requests: whatever the answer, it is no 5xx, no hang and no dropped connection. */
const UNUSUAL: readonly (readonly [id: string, what: string, stimulus: Probe<Reply>, provenBy: Defects])[] = [
  [
    'status.malformed-target',
    'malformed percent-encoding',
    target.malformedTarget,
    ['malformed-percent-500'],
  ],
  [
    'status.overlong-target',
    'a 12,000-octet query',
    target.overlongTarget,
    ['long-url-drops-connection', 'long-url-500'],
  ],
  ['status.overlong-field', 'a 20,000-octet header field', target.overlongField, ['long-field-500']],
  [
    'status.hostile-query',
    'quotes, markup and bad numbers in the query',
    target.hostileQuery,
    ['hostile-query-500'],
  ],
  [
    'status.unknown-accept',
    'an Accept field that it cannot meet',
    target.unknownAccept,
    ['accept-unknown-500'],
  ],
  ['status.range', 'a Range field', target.rangeRequest, ['range-500']],
  ['status.conditional', 'If-None-Match', target.conditional, ['if-none-match-500']],
  ['status.expect-continue', 'Expect: 100-continue', target.expectContinue, ['expect-continue-500']],
  ['status.missing-user-agent', 'a missing User-Agent', target.withoutUserAgent, ['missing-user-agent-500']],
];

/** The status of each condition, by its name in the observation. */
const CONDITIONS: Readonly<Record<string, Probe<Reply>>> = {
  unknownPath: target.unknownPath,
  unknownMethod: target.unknownMethod,
  malformedTarget: target.malformedTarget,
  overlongTarget: target.overlongTarget,
  overlongField: target.overlongField,
  unknownAccept: target.unknownAccept,
  range: target.rangeRequest,
  conditional: target.conditional,
  expectContinue: target.expectContinue,
  missingUserAgent: target.withoutUserAgent,
  options: target.optionsSample,
  trace: target.traceSample,
};

export const robustness: readonly CheckDefinition[] = [
  ...UNUSUAL.map(([id, what, stimulus, provenBy]) =>
    check(
      id,
      { title: `answers ${what} in good order`, grounds: [clause('responses.status-codes')], provenBy },
      async ({ probe, expect }) => {
        expect(await probe(stimulus)).toBeHandled();
      },
    ),
  ),

  // RFC 9110 §15.3.7: a 206 tells in Content-Range which octets of how many it has.
  check(
    'status.partial-content',
    {
      title: 'tells of which octets it serves where it serves a range',
      grounds: [rfc9110('15.3.7', 'MUST')],
      provenBy: ['range-without-content-range'],
    },
    async ({ probe, expect, notApplicable }) => {
      const reply = await probe(target.rangeRequest);
      if (reply.exchange.response?.status !== 206) return notApplicable('ranges are not served');
      expect(reply).toConform(
        'the range of the octets in Content-Range',
        ({ response }) => response.partialFault,
        FRAMED,
      );
    },
  ),

  // RFC 9112 §5.1: whoever reads the name otherwise than a proxy before it is fooled.
  check(
    'status.spaced-field-name',
    {
      title: 'refuses a space between a field name and its colon with 400',
      grounds: [rfc9112('5.1', 'MUST')],
      provenBy: ['accepts-spaced-field-name'],
    },
    async ({ probe, expect }) => {
      expect(await probe(target.spacedFieldName)).toHaveStatus(400);
    },
  ),

  // RFC 9112 §3.2: 400 for a request that lacks Host or has several; whoever heeds another one than a cache did is fooled.
  refusesHost('status.missing-host', 'a request without Host', target.withoutHost, ['accepts-missing-host']),
  refusesHost('status.two-hosts', 'a request with two Host fields', target.twoHosts, ['accepts-two-hosts']),

  observation(
    'status.conditions',
    {
      title: 'has a status for each condition',
      grounds: [clause('errors.codes')],
      shownBy: [
        'unknown-method-405',
        'refuses-size-with-400',
        'ranges-206',
        'not-acceptable-406',
        'expectation-417',
      ],
    },
    async ({ probe, observe, note }) => {
      const codes: Record<string, number | null> = {};
      for (const [name, stimulus] of Object.entries(CONDITIONS)) {
        codes[name] = (await probe(stimulus)).exchange.response?.status ?? null;
      }
      observe('errors.codes', codes);
      note(
        Object.entries(codes)
          .map(([name, status]) => `${name} ${status ?? 'no answer'}`)
          .join(', '),
      );
    },
  ),

  sizeLimit('limits.target-size', 'a request target', targetSize),
  sizeLimit('limits.field-size', 'a header field', fieldSize),
];

function refusesHost(id: string, what: string, stimulus: Probe<Reply>, provenBy: Defects): CheckDefinition {
  return check(
    id,
    { title: `refuses ${what} with 400`, grounds: [rfc9112('3.2', 'MUST')], provenBy },
    async ({ probe, expect }) => {
      expect(await probe(stimulus)).toHaveStatus(400);
    },
  );
}

function sizeLimit(id: string, what: string, size: Probe<SizeLimit>): CheckDefinition {
  return observation(
    id,
    {
      title: `takes ${what} up to some size`,
      grounds: [clause('limits.other')],
      applies: [sizesMayBeFound],
      shownBy: ['refuses-size-with-400'],
    },
    async ({ probe, observe, note }) => {
      const { served, refused, status } = await probe(size);
      observe(id, { served, refused, status });
      note(
        refused === null
          ? `${served} octets are served`
          : `${served ?? 'not even the smallest number of'} octets are served, ${refused} refused (${status ?? 'no answer'})`,
      );
    },
  );
}
