import {
  type CheckDefinition,
  check,
  clause,
  credentialed,
  given,
  hasOperations,
  observation,
  type Probe,
  practice,
  rfc9110,
  suite,
} from '../harness/check/suite.ts';
import * as operation from '../harness/probe/operation/operation.ts';
import { labelOf, responseSchemas, type Trials } from '../harness/probe/operation/trials.ts';

/** What the config or its OpenAPI document says of the calls beyond the sample. */
const documented = clause('endpoint.other-operations');
/** Entries of the coverage; a document may have thousands. */
const LISTED = 500;

interface BadInput {
  readonly id: string;
  /** Completes "refuses … with a client error". */
  readonly what: string;
  readonly probe: Probe<Trials>;
}

/** Bad input is the client's fault: neither is it served, nor does the service fail over it. */
const refuses = ({ id, what, probe }: BadInput): CheckDefinition =>
  check(id, {
    title: `refuses ${what} with a client error`,
    grounds: [documented],
    judge: ({ expect }) =>
      expect(probe).toConform('a client error (4xx, but not 401)', ({ response: { status, statusClass } }) =>
        statusClass === 4 && status !== 401 ? null : `status ${status}`,
      ),
  });

const checks: readonly CheckDefinition[] = [
  // endpoint.other-operations: each has responses that are documented.
  check('operations.status', {
    title: 'answers each operation with a status that is documented as success',
    grounds: [documented],
    judge: ({ expect }) =>
      expect(operation.operationCalls).toConform(
        'the documented status',
        ({ expected, response, operation: { response: wanted } }) =>
          expected === null ? `status ${response.status} instead of ${wanted.status}` : null,
      ),
  }),

  // endpoint.other-operations: and these have media types.
  check('operations.content-type', {
    title: 'answers each operation in a media type that is documented for it',
    grounds: [documented],
    judge: ({ expect }) =>
      expect(operation.callsOfMediaType).toConform(
        'the documented media type',
        ({ foreignMediaType }) => foreignMediaType,
      ),
  }),

  // endpoint.other-operations: and these have schemas.
  check('operations.schema', {
    title: 'answers each operation with a body that fits its documented JSON Schema',
    grounds: [documented],
    judge: ({ expect, service }) =>
      expect(operation.callsOfSchema).toConform('a body that fits its schema', (reply) =>
        responseSchemas(service).fault(reply),
      ),
  }),

  // RFC 9110 §15.5.4 lets a service answer 404 where it hides what it has; 403 needs no credential to be said either.
  check('operations.auth-required', {
    title: 'refuses each operation that demands a credential without one',
    grounds: [documented, practice('OWASP API2:2023')],
    applies: [credentialed],
    judge: ({ expect }) => expect(operation.withoutCredentialOfOperation).toHaveStatus(401, 403, 404),
  }),

  // RFC 9110 §9.1: 501 for a method that is not implemented, 405 for one that is not allowed here.
  check('operations.unknown-method', {
    title: 'refuses a method that nobody has registered at each documented path',
    grounds: [rfc9110('9.1', 'SHOULD')],
    judge: ({ expect }) => expect(operation.unknownMethodOfOperation).toHaveStatus(400, 403, 404, 405, 501),
  }),

  // endpoint.other-operations: types, what is required and what is allowed are documented.
  refuses({ id: 'operations.negative-type', what: 'input of the wrong type', probe: operation.wrongTypes }),
  refuses({
    id: 'operations.negative-missing',
    what: 'a request that lacks what is required',
    probe: operation.missingInputs,
  }),
  refuses({
    id: 'operations.negative-range',
    what: 'input beyond its documented range',
    probe: operation.outOfRange,
  }),
  refuses({
    id: 'operations.negative-surplus',
    what: 'members that its schema rules out',
    probe: operation.surplusMembers,
  }),

  // Ignored or refused: whether parameters that nobody documented are taken is not shown.
  check('operations.extra-handled', {
    title: 'does not fail over query parameters that are not documented',
    grounds: [clause('responses.status-codes')],
    judge: ({ expect }) =>
      expect(operation.extraInputs).toConform('an orderly answer', ({ response: { status, statusClass } }) =>
        statusClass === 5 ? `status ${status}` : null,
      ),
  }),

  // endpoint.parameters does not show what becomes of others.
  observation('operations.negative-extra', {
    title: 'takes or refuses query parameters that are not documented',
    grounds: [clause('endpoint.parameters')],
    records: 'operations.unknown-parameter',
    async observe({ probe, expect }) {
      await expect(operation.extraInputs).toConform('an answer', () => null);
      const { all } = await probe(operation.extraInputs);
      const ignored = all.filter(({ expected }) => expected !== null).length;
      return {
        seen: { ignored, otherwise: all.length - ignored },
        note: `${ignored} of ${all.length} operations ignore it.`,
      };
    },
  }),

  // What could not be called, may not be called or was left out for the ceiling.
  observation('operations.coverage', {
    title: 'is asked for the operations that are documented',
    grounds: [documented],
    async observe({ probe, service }) {
      const calls = await probe(operation.operationCalls);
      const { unexercised } = operation.operationPlan(service);
      const left = [...new Set([...unexercised, ...calls.unexercised])];
      const called = `${calls.all.length} of ${service.operations.length} operations were called.`;
      return {
        seen: {
          documented: service.operations.length,
          called: calls.all.length,
          notExercised: left.slice(0, LISTED).map((each) => ({
            operation: labelOf(each.operation),
            request: each.kind,
            reason: each.reason,
          })),
          notListed: Math.max(0, left.length - LISTED),
        },
        note: [called, ...(calls.remark === null ? [] : [calls.remark])].join(' '),
      };
    },
  }),
];

/**
 * One check for all operations: its message names those that deviate. What cannot be called, may not be called or
 * was left out for the ceiling is told by the check itself, and whole by `operations.coverage`.
 */
export const operations = suite('operations', 'Operations and schemas', given([hasOperations], checks));
