import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { clause, practice, rfc9457 } from '../../harness/contract/ground.ts';
import { shapeOf } from '../../harness/evidence/shape.ts';
import { errorReplies } from '../../harness/probe/gathered.ts';
import { sample, sampleAgain } from '../../harness/probe/sample.ts';

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
      const claimed = (await probe(errorReplies)).filter(({ response }) => response.isProblem);
      if (claimed.length === 0) return notApplicable('no error claims application/problem+json');
      expect(...claimed).toConform(
        'a problem details object',
        ({ response }) => response.problemFaults[0] ?? null,
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
    async ({ probe, observe, note }) => {
      const seen = (await probe(errorReplies)).map(({ response }) => ({
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
    async ({ probe, observe, note }) => {
      const shape = shapeOf((await probe(sample)).response.json.value);
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
    async ({ probe, expect }) => {
      const before = JSON.stringify(shapeOf((await probe(sample)).response.json.value));
      expect(await probe(sampleAgain)).toConform('the shape of the first answer', ({ response }) => {
        const now = JSON.stringify(shapeOf(response.json.value));
        return now === before ? null : 'another one';
      });
    },
  ),
];
