import { expect, it } from 'vitest';
import { HOSTILE } from '../../fixtures/sample-evidence.ts';
import { factInWords } from './words.ts';

it.each([
  [null, 'none'],
  [true, 'yes'],
  [104, '104'],
  [1_048_576, '1,048,576'],
  ['fixed-window', 'fixed-window'],
  ['', 'empty'],
  [[], 'none'],
  [['a', 'b'], 'a, b'],
  [{}, 'none'],
  [{ missing: 401, wrong: 200, empty: 401 }, '401 for missing, empty; 200 for wrong'],
  [{ unknownPath: 404, unknownMethod: 501 }, '404 for unknown path; 501 for unknown method'],
  [{ served: 8192, refused: 16384, status: 414 }, 'served 8,192, refused 16,384, status 414'],
  [{ type: 'object', properties: { title: { type: 'string' }, status: {} } }, 'object with title, status'],
  [{ type: 'array', items: { type: 'object', properties: { id: {} } } }, 'list of object with id'],
  [{ same: true, shape: { deep: { deeper: 1 } } }, 'same yes, shape (deep {"deeper":1})'],
] as const)('says %j as %s', (value, words) => {
  expect(factInWords(value)).toBe(words);
});

it('keeps what a service says short and on one line', () => {
  const told = factInWords({ said: HOSTILE.repeat(100) });
  expect(told.length).toBeLessThanOrEqual(220);
  for (const hidden of ['\n', '\u001b', '\u202e']) expect(told).not.toContain(hidden);
});
