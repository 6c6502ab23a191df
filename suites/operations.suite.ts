import { check, observation, suite } from '../harness/check/check.ts';
import type { CheckContext } from '../harness/check/context.ts';
import { credentialed, hasOperations } from '../harness/check/requirement.ts';
import { clause, practice, rfc9110 } from '../harness/contract/ground.ts';
import type { Reply } from '../harness/evidence/exchange/reply.ts';
import { visible } from '../harness/evidence/octets/visible.ts';
import * as operation from '../harness/probe/operation/operation.ts';
import { responseSchemas } from '../harness/probe/operation/schema.ts';
import { expectedFor, labelOf, type Trials } from '../harness/probe/operation/trials.ts';
import type { Probe } from '../harness/session.ts';

/** What the config or its OpenAPI document says of the calls beyond the sample. */
const documented = clause('endpoint.other-operations');
const applies = [hasOperations];
const limitMs = operation.OPERATIONS_LIMIT_MS;

const OTHER_STATUS = { reason: 'its status is not the documented one', why: 'left' } as const;
const NO_MEDIA_TYPE = { reason: 'no media type is documented for its response', why: 'open' } as const;

/**
 * One check for all operations: its message names those that deviate. What cannot be called, may not be called or
 * was left out for the ceiling is told by the check itself, and whole by `operations.coverage`.
 */
export const operations = suite('operations', 'Operations and schemas', [
  check(
    'operations.status',
    {
      title: 'answers each operation with a status that is documented as success',
      grounds: [documented],
      applies,
      limitMs,
      provenBy: ['operation-wrong-status'],
    },
    async (context) => {
      const calls = await context.probe(operation.operationCalls);
      holdEach(context, calls, 'the documented status', (reply) => {
        if (calls.expectedOf(reply) !== null) return null;
        return `status ${reply.response.status} instead of ${calls.operationOf(reply).response.status}`;
      });
    },
  ),

  check(
    'operations.content-type',
    {
      title: 'answers each operation in a media type that is documented for it',
      grounds: [documented],
      applies,
      limitMs,
      provenBy: ['operation-wrong-media-type'],
    },
    async (context) => {
      const calls = (await context.probe(operation.operationCalls)).judgeable(({ order, reply }) => {
        const expected = expectedFor(order.operation, reply);
        if (expected === null) return OTHER_STATUS;
        return expected.mediaTypes.length === 0 ? NO_MEDIA_TYPE : null;
      });
      holdEach(context, calls, 'the documented media type', (reply) => {
        const wanted = calls.expectedOf(reply)?.mediaTypes ?? [];
        const got = reply.response.mediaType?.essence;
        if (got !== undefined && wanted.some((type) => covers(type, got))) return null;
        const given = visible(reply.response.field('content-type') ?? 'none', 80);
        return `${given} instead of ${wanted.join(', ')}`;
      });
    },
  ),

  check(
    'operations.schema',
    {
      title: 'answers each operation with a body that fits its documented JSON Schema',
      grounds: [documented],
      applies,
      limitMs,
      provenBy: ['operation-breaks-schema'],
    },
    async (context) => {
      const schemas = responseSchemas(context.service);
      const calls = (await context.probe(operation.operationCalls)).judgeable(({ order, reply }) => {
        const expected = expectedFor(order.operation, reply);
        return expected === null ? OTHER_STATUS : schemas.whyNotJudged(expected, reply);
      });
      holdEach(context, calls, 'a body that fits its schema', (reply) => {
        const expected = calls.expectedOf(reply);
        return expected === null ? null : schemas.fault(expected, reply);
      });
    },
  ),

  // RFC 9110 §15.5.4 lets a service answer 404 where it hides what it has; 403 needs no credential to be said either.
  check(
    'operations.auth-required',
    {
      title: 'refuses each operation that demands a credential without one',
      grounds: [documented, practice('OWASP API2:2023')],
      applies: [hasOperations, credentialed],
      limitMs,
      provenBy: ['operation-skips-auth'],
    },
    async (context) => {
      const refused = await context.probe(operation.withoutCredentialOfOperation);
      holdEach(context, refused, 'status 401, 403 or 404', ({ response }) =>
        [401, 403, 404].includes(response.status) ? null : `status ${response.status}`,
      );
    },
  ),

  // RFC 9110 §9.1: 501 for a method that is not implemented, 405 for one that is not allowed here.
  check(
    'operations.unknown-method',
    {
      title: 'refuses a method that nobody has registered at each documented path',
      grounds: [rfc9110('9.1', 'SHOULD')],
      applies,
      limitMs,
      provenBy: ['operation-serves-unknown-method'],
    },
    async (context) => {
      const refused = await context.probe(operation.unknownMethodOfOperation);
      holdEach(context, refused, 'status 400, 403, 404, 405 or 501', ({ response }) =>
        [400, 403, 404, 405, 501].includes(response.status) ? null : `status ${response.status}`,
      );
    },
  ),

  refuses('operations.negative-type', 'input of the wrong type', operation.wrongTypes, [
    'operation-500-on-bad-type',
  ]),
  refuses('operations.negative-missing', 'a request that lacks what is required', operation.missingInputs, [
    'operation-accepts-missing-input',
  ]),
  refuses('operations.negative-range', 'input beyond its documented range', operation.outOfRange, [
    'operation-accepts-bad-range',
  ]),

  refuses('operations.negative-surplus', 'members that its schema rules out', operation.surplusMembers, [
    'operation-accepts-surplus-member',
  ]),

  // Ignored or refused: whether parameters that nobody documented are taken is not shown.
  check(
    'operations.extra-handled',
    {
      title: 'does not fail over query parameters that are not documented',
      grounds: [clause('responses.status-codes')],
      applies,
      limitMs,
      provenBy: ['operation-500-on-extra'],
    },
    async (context) => {
      const extra = await context.probe(operation.extraInputs);
      holdEach(context, extra, 'an orderly answer', ({ response }) =>
        response.statusClass === 5 ? `status ${response.status}` : null,
      );
    },
  ),

  observation(
    'operations.negative-extra',
    {
      title: 'takes or refuses query parameters that are not documented',
      grounds: [clause('endpoint.parameters')],
      applies,
      limitMs,
    },
    async (context) => {
      const extra = await context.probe(operation.extraInputs);
      const ignored = extra.all.filter(
        ({ order, reply }) => expectedFor(order.operation, reply) !== null,
      ).length;
      holdEach(context, extra, 'an answer', () => null);
      context.observe('operations.unknown-parameter', { ignored, otherwise: extra.all.length - ignored });
      context.note(`${ignored} of ${extra.all.length} operations ignore it.`);
    },
  ),

  observation(
    'operations.coverage',
    {
      title: 'is asked for the operations that are documented',
      grounds: [documented],
      applies,
      limitMs,
    },
    async ({ probe, observe, note, service }) => {
      const calls = await probe(operation.operationCalls);
      const { unexercised } = operation.operationPlan(service);
      const left = [...new Set([...unexercised, ...calls.unexercised])];
      observe('operations.coverage', {
        documented: service.operations.length,
        called: calls.all.length,
        notExercised: left.slice(0, LISTED).map((each) => ({
          operation: labelOf(each.operation),
          request: each.kind,
          reason: each.reason,
        })),
        notListed: Math.max(0, left.length - LISTED),
      });
      note(`${calls.all.length} of ${service.operations.length} operations were called.`);
      const { remark } = calls;
      if (remark !== null) note(remark);
    },
  ),
]);

/** Entries of the coverage; a document may have thousands. */
const LISTED = 500;

/** Bad input is the client's fault: neither is it served, nor does the service fail over it. */
function refuses(id: string, what: string, probe: Probe<Trials>, provenBy: readonly [string, ...string[]]) {
  return check(
    id,
    { title: `refuses ${what} with a client error`, grounds: [documented], applies, limitMs, provenBy },
    async (context) => {
      holdEach(context, await context.probe(probe), 'a client error (4xx, but not 401)', ({ response }) =>
        response.statusClass === 4 && response.status !== 401 ? null : `status ${response.status}`,
      );
    },
  );
}

/** Whatever was exercised is judged first; then it is told what was not. */
function holdEach(
  { expect, blocked, notApplicable, note }: CheckContext,
  trials: Trials,
  wanted: string,
  got: (reply: Reply) => string | null,
): void {
  if (trials.all.length > 0) expect(...trials.replies).toConform(wanted, got);
  const { remark, unexercised, ended } = trials;
  if (remark === null) {
    if (trials.all.length === 0)
      notApplicable(unexercised[0]?.reason ?? 'the documented operations give no occasion for it');
  } else if (ended?.blocked) {
    blocked(remark);
  } else if (trials.all.length > 0) {
    note(remark);
  } else if (unexercised.every(({ why }) => why === 'unsafe' || why === 'open')) {
    notApplicable(remark);
  } else {
    blocked(remark);
  }
}

/** `application/*+json` covers `application/hal+json`. */
function covers(documentedType: string, got: string): boolean {
  if (documentedType === got) return true;
  const pattern = documentedType.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${pattern}$`).test(got);
}
