import {
  type CheckDefinition,
  check,
  clause,
  observation,
  type Probe,
  practice,
  type Reply,
  SEARCHED,
  sizesMayBeFound,
} from '../../harness/check/suite.ts';
import { errorReplies, serverErrorReplies } from '../../harness/probe/every-reply.ts';
import * as target from '../../harness/probe/request/target.ts';
import { handles } from './unusual.ts';

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

interface Size {
  readonly id: string;
  /** Completes "takes … up to some size". */
  readonly what: string;
  readonly probe: Probe<target.SizeLimit>;
}

/** Up to which size a request is served, where it may be found out. */
const findsLimit = ({ id, what, probe: size }: Size) =>
  observation(id, {
    title: `takes ${what} up to some size`,
    grounds: [clause('limits.other')],
    applies: [sizesMayBeFound],
    async observe({ probe }) {
      const { served, refused, status } = await probe(size);
      const refusal = refused === null ? '' : `, ${refused} refused (${status ?? 'no answer'})`;
      return {
        seen: { served, refused, status },
        note: `${served ?? 'not even the smallest number of'} octets are served${refusal}`,
      };
    },
  });

/** What becomes of unusual requests, and what answers give away. */
export const robustness: readonly CheckDefinition[] = [
  // responses.status-codes: whatever the client gets wrong, it is no fault of the service.
  handles({
    id: 'status.malformed-target',
    what: 'malformed percent-encoding',
    probe: target.malformedTarget,
  }),
  handles({ id: 'status.overlong-target', what: 'a 12,000-octet query', probe: target.overlongTarget }),
  handles({ id: 'status.overlong-field', what: 'a 20,000-octet header field', probe: target.overlongField }),
  handles({
    id: 'status.hostile-query',
    what: 'quotes, markup and bad numbers in the query',
    probe: target.hostileQuery,
  }),
  handles({ id: 'status.expect-continue', what: 'Expect: 100-continue', probe: target.expectContinue }),
  handles({ id: 'status.missing-user-agent', what: 'a missing User-Agent', probe: target.withoutUserAgent }),

  // errors.codes does not show which status belongs to which condition.
  observation('status.conditions', {
    title: 'has a status for each condition',
    grounds: [clause('errors.codes')],
    records: 'errors.codes',
    async observe({ probe }) {
      const codes: Record<string, number | null> = {};
      for (const [name, condition] of Object.entries(CONDITIONS))
        codes[name] = (await probe(condition)).status;
      const told = Object.entries(codes).map(([name, status]) => `${name} ${status ?? 'no answer'}`);
      return { seen: codes, note: told.join(', ') };
    },
  }),

  // limits.other does not show how long a request may be.
  findsLimit({ id: 'status.target-size', what: 'a request target', probe: target.targetSize }),
  findsLimit({ id: 'status.field-size', what: 'a header field', probe: target.fieldSize }),

  // What an error says of the insides helps those who look for a way in.
  check('status.no-internals', {
    title: 'tells nothing of its insides in error bodies',
    grounds: [practice('OWASP API8:2023')],
    judge: ({ expect }) =>
      expect(errorReplies, serverErrorReplies).toConform(
        'no stack trace, file path, SQL or version',
        ({ response }) => response.internals,
        SEARCHED,
      ),
  }),

  // RFC 9110 §9.3.8: a TRACE answer reflects the request, credentials included.
  check('status.trace', {
    title: 'does not send the credential back in answer to TRACE',
    grounds: [practice('OWASP API8:2023')],
    judge: ({ expect }) => expect(target.traceSample).toHoldNoCredential(),
  }),
];
