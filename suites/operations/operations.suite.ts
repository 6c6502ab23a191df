import {
  check,
  clause,
  credentialDemanded,
  given,
  hasOperations,
  observation,
  practice,
  rfc9110,
  settled,
  suite,
} from '../../harness/engine/check/suite.ts';
import { missingCredential, refusalClass } from '../auth/bad-credentials.ts';
import { unknownMethod } from '../status/methods.ts';
import { accepted } from './accepted.ts';
import { answers } from './answers.ts';
import { badInput, bodies, goodInput } from './bad-input.ts';
import { documented } from './items.ts';
import { lifecycle } from './lifecycle.ts';
import { otherAccounts } from './other-accounts.ts';
import { pagesOfLists } from './pages.ts';
import { sorting } from './sorting.ts';
import { responseTimes } from './stimuli/answers.ts';
import * as operation from './stimuli/operation.ts';
import { labelOf } from './stimuli/trials.ts';

/** Entries of the coverage; a document may have thousands. */
const LISTED = 500;

const checks = [
  // endpoint.other-operations: each has responses that are documented.
  check('operations.status', {
    title: 'answers each operation with its documented success status',
    headline: 'An operation answers with {got}',
    why: 'Generated clients know the documented status only, and take others for errors.',
    change: 'Answer with the documented status, or document the one that you send.',
    grounds: [documented],
    uses: [operation.operationCalls],
    judge: ({ expect }) =>
      expect()
        .faultOf(({ refusalSide }) => refusalSide)
        .toConform('the documented status', ({ expected, response, operation: { response: wanted } }) =>
          expected === null ? `status ${response.status} instead of ${wanted.status}` : null,
        ),
  }),

  ...answers,

  // RFC 9110 §15.5.4 lets a service answer 404 where it hides what it has; 403 needs no credential to be said either.
  check('operations.auth-required', {
    title: 'asks for a credential at each operation that needs one',
    headline: 'An operation without a credential gets {answer}',
    why: 'One forgotten operation opens the data that the others guard.',
    change: 'Ask for the credential everywhere by default, and open what is public by name.',
    grounds: [documented, practice('OWASP API2:2023')],
    applies: [credentialDemanded],
    repeats: [refusalClass, missingCredential],
    uses: [operation.withoutCredentialOfOperation],
    judge: ({ expect }) => expect().toHaveStatus(401, 403, 404),
  }),

  // RFC 9110 §9.1: 501 for a method that is not implemented, 405 for one that is not allowed here.
  check('operations.unknown-method', {
    title: 'refuses a method that does not exist at each documented path',
    headline: 'A method that does not exist gets {answer} at a documented path',
    why: 'A success or a crash for a made-up method shows that this path does not check methods.',
    change: 'Answer 405 with Allow, or 501, to every method that the document does not name.',
    grounds: [rfc9110('9.1', 'SHOULD')],
    repeats: [unknownMethod],
    uses: [operation.unknownMethodOfOperation],
    judge: ({ expect }) => expect().toHaveStatus(400, 403, 404, 405, 501),
  }),

  ...badInput,
  ...goodInput,

  // Ignored or refused: whether parameters that nobody documented are taken is not shown.
  check('operations.extra-handled', {
    title: 'does not fail over query parameters that are not documented',
    headline: 'A query parameter that is not documented gets {answer}',
    why: 'Proxies, trackers and newer clients add parameters of their own.',
    change: 'Ignore parameters that you do not know, or answer 400.',
    grounds: [clause('responses.status-codes')],
    uses: [operation.extraInputs],
    judge: ({ expect }) =>
      expect().toConform('an orderly answer', ({ response: { status, statusClass } }) =>
        statusClass === 5 ? `status ${status}` : null,
      ),
  }),

  // endpoint.parameters does not show what becomes of others.
  observation('operations.negative-extra', {
    title: 'ignores or refuses query parameters that are not documented',
    why: 'Where they are ignored, nobody notices a misspelled parameter.',
    grounds: [clause('endpoint.parameters')],
    records: 'operations.unknown-parameter',
    uses: [operation.extraInputs],
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
    why: 'It shows how much of the document this run has judged.',
    varies: 'upwards',
    grounds: [documented],
    uses: [operation.operationCalls],
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

// What was sent anyway shows it. A single slow response may be a cold start.
const responseTime = check('operations.response-time', {
  title: 'answers each operation within its documented time',
  headline: 'An operation takes longer than documented: {got}',
  why: 'Clients that wait no longer give up, try again, and add to the load.',
  change: 'Find what is slow in it, or document a time that it keeps.',
  grounds: [clause('responses.time')],
  applies: [settled('responses.time')],
  uses: [responseTimes],
  judge: async ({ probe, expect }) =>
    expect
      .each(
        (await probe(responseTimes)).all,
        ({ reply }) => reply,
        'no operation with a documented time was served',
      )
      .toConform('the documented time for 95 of 100 responses', ({ boundMs, ms }) =>
        ms <= boundMs ? null : `${Math.round(ms)} ms instead of ${boundMs} ms`,
      ),
});

/** One check for all operations: its message names those that deviate, and those without a call. `operations.coverage` has all. */
export const operations = suite('operations', 'Operations and schemas', [
  responseTime,
  ...given(
    [hasOperations],
    [...checks, ...pagesOfLists, ...sorting, ...accepted, ...lifecycle, ...otherAccounts, ...bodies],
  ),
]);
