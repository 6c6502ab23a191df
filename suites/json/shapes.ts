import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { IN_JSON } from '../../harness/check/reading.ts';
import { clause, practice, rfc9457 } from '../../harness/contract/ground.ts';
import { shapeOf } from '../../harness/evidence/json/shape.ts';
import { errorReplies, serverErrorReplies } from '../../harness/probe/gathered.ts';
import { sample, sampleAgain } from '../../harness/probe/request/sample.ts';

/** What the content looks like. */
export const shapes: readonly CheckDefinition[] = [
  // RFC 9457 §3: members of a problem details object have their types; status repeats the status code.
  check(
    'json.problem-details',
    {
      title: 'keeps RFC 9457 where it claims application/problem+json',
      grounds: [rfc9457('3', 'MUST')],
      provenBy: ['problem-invalid'],
    },
    async ({ probe, expect, notApplicable }) => {
      const errors = [...(await probe(errorReplies)), ...(await probe(serverErrorReplies))];
      const claimed = errors.filter(({ response }) => response.isProblem);
      if (claimed.length === 0) return notApplicable('no error claims application/problem+json');
      expect(...claimed).toConform(
        'a problem details object',
        ({ response }) => response.problemFaults[0] ?? null,
        IN_JSON,
      );
    },
  ),

  observation(
    'json.error-shape',
    {
      title: 'gives its errors a shape, the same for every status',
      grounds: [clause('errors.shape')],
      shownBy: ['error-shape-by-status', 'plain-json-errors'],
    },
    async ({ probe, expect, observe, note }) => {
      const errors = await probe(errorReplies);
      expect(...errors).toConform('a shape', () => null, IN_JSON);
      const seen = errors.map(({ response }) => ({
        status: response.status,
        shape: shapeOf(response.json.value),
      }));
      const same = new Set(seen.map(({ shape }) => JSON.stringify(shape))).size <= 1;
      const byStatus = Object.fromEntries(seen.map(({ status, shape }) => [status, shape]));
      observe('errors.shape', same ? { same, shape: seen[0]?.shape ?? null } : { same, byStatus });
      note(same ? 'one shape for every error' : 'the shape differs from status to status');
    },
  ),

  observation(
    'json.success-shape',
    {
      title: 'gives the documented response a shape',
      grounds: [clause('endpoint.response-fields')],
      shownBy: ['bare-array-body'],
    },
    async ({ probe, expect, observe, note }) => {
      const reply = await probe(sample);
      expect(reply).toConform('a shape', () => null, IN_JSON);
      const shape = shapeOf(reply.response.json.value);
      observe('success.shape', shape);
      note(`at the top: ${shape?.type ?? 'nothing'}`);
    },
  ),

  check(
    'json.shape-stable',
    {
      title: 'keeps the shape of the documented response from request to request',
      grounds: [practice('repeatable answers')],
      provenBy: ['unstable-shape'],
    },
    async ({ probe, expect, notApplicable }) => {
      const first = await probe(sample);
      expect(first).toConform('a shape', () => null, IN_JSON);
      const before = shapeOf(first.response.json.value);
      if (before === null) return notApplicable('the documented response is no JSON text');
      expect(await probe(sampleAgain)).toConform(
        'the shape of the first answer',
        ({ response }) =>
          JSON.stringify(shapeOf(response.json.value)) === JSON.stringify(before) ? null : 'another one',
        IN_JSON,
      );
    },
  ),
];
