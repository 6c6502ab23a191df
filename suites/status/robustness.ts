import { type CheckDefinition, observation } from '../../harness/check/check.ts';
import { sizesMayBeFound } from '../../harness/check/requirement.ts';
import { clause } from '../../harness/contract/ground.ts';
import type { Reply } from '../../harness/evidence/exchange/reply.ts';
import { fieldSize, type SizeLimit, targetSize } from '../../harness/probe/request/size.ts';
import * as target from '../../harness/probe/request/target.ts';
import type { Probe } from '../../harness/session.ts';
import { handles } from '../unusual.ts';

/** Unusual requests: whatever the answer, it is no 5xx, no hang and no dropped connection. */
const UNUSUAL: readonly Parameters<typeof handles>[] = [
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
  ...UNUSUAL.map((row) => handles(...row)),

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

  sizeLimit('status.target-size', 'a request target', targetSize),
  sizeLimit('status.field-size', 'a header field', fieldSize),
];

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
