import { describe, expect, it } from 'vitest';
import { operationResults } from '../fixtures/sample-results.ts';
import { renderMarkdown } from '../formats/markdown.ts';
import { constraintCoverage, constraintsInWords, triedInWords } from './constraint-coverage.ts';
import type { Coverage, OperationCoverage } from './results.ts';

const LIST: OperationCoverage = {
  operation: 'GET /yards',
  id: 'listYards',
  place: 'openapi.yaml:7:3',
  answers: [],
  undocumented: [],
  trials: 5,
};

const tried = { operation: 'listYards', in: 'query', name: 'limit', keyword: 'maximum' } as const;
const coverage: readonly Coverage[] = [
  {
    request: 'out-of-range',
    sent: 2,
    capped: 0,
    trials: [
      { ...tried, side: 'outside', status: 422 },
      { ...tried, operation: 'addYard', side: 'outside', status: 201 },
    ],
  },
  { request: 'boundary', sent: 1, capped: 2, trials: [{ ...tried, side: 'inside', status: 200 }] },
  { request: 'call', sent: 2, capped: 0 },
  {
    request: 'missing',
    sent: 1,
    capped: 0,
    trials: [{ ...tried, in: 'body', name: '', keyword: 'required', side: 'outside', status: null }],
  },
];

describe('the constraints of an operation', () => {
  const constraints = constraintCoverage({ coverage })(LIST);

  it('are those of the requests under its id, each once, with the answers outside and inside', () => {
    expect(constraints.tried.map((each) => [each.input, triedInWords(each)])).toEqual([
      ['limit in the query', 'maximum: outside 422, inside 200'],
      ['the body', 'required: outside no response'],
    ]);
  });

  it('say how many requests were not sent', () => {
    expect(constraints).toMatchObject({ sent: 3, notSent: 2 });
    expect(constraintsInWords(constraints)).toBe('2 constraints tried, 2 requests not sent');
    expect(constraintsInWords(constraintCoverage({})({ ...LIST, trials: 0 }))).toBe('');
  });

  it('stand in the summary, by operation, with the answers', () => {
    const [, table = ''] = renderMarkdown(operationResults()).split('### Operations');
    const [head, , ...rows] = table.trim().split('\n');
    expect(head).toBe('| operation | seen | never seen | not documented | constraints | not exercised |');
    expect(rows.slice(0, 2)).toEqual([
      '| GET /v1/orders | 200 |  | 418 | 1 constraint tried, 1 request not sent |  |',
      expect.stringMatching(/^\| GET \/v1\/orders\/\{id\} \| 200 \|/),
    ]);
  });
});
