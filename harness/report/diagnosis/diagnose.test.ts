import { describe, expect, it } from 'vitest';
import type { Got } from '../../base/finding.ts';
import type { Entry } from './diagnose.ts';
import { type DiagnosedCheck, diagnose } from './diagnose.ts';

const entry = (defect: string, own: string, certain: Entry['certain'], more: Partial<Entry> = {}): Entry => ({
  defect,
  sentence: `${defect} is answered {status:200}`,
  services: ['search'],
  under: ['search, bearer'],
  own: own.split(' '),
  certain,
  ...more,
});

const OPEN = ['status 2xx', 'METHOD'] as const;
const KNOWN: readonly Entry[] = [
  entry('any-key', 'key.wrong', { 'key.wrong': [OPEN], 'key.cut': [OPEN], class: [OPEN] }),
  entry('key-prefix', 'key.cut', { 'key.cut': [OPEN], class: [OPEN] }),
  entry('wrong-key-500', 'key.wrong', {
    'key.wrong': [['status 5xx', 'METHOD']],
    class: [['status 5xx', 'METHOD']],
  }),
  entry('no-date', 'date', { date: [['none']], age: [['none']] }, { possible: { class: [['none']] } }),
  entry('late', 'limit', { limit: [['a refusal']], quota: [['a refusal']] }),
  entry('early', 'limit', { limit: [['a refusal']], quota: [['a refusal']] }),
  entry('half', 'count', { count: [['request <half>']] }),
  entry('operation-open', 'operations.auth', { 'operations.auth': [OPEN] }),
  entry('empty-errors', 'errors.body', {
    'errors.body': [['none']],
    'errors.json': [['none']],
    'errors.class': [['none']],
  }),
  entry('signed-open', 'key.wrong signed', { 'key.wrong': [OPEN], signed: [OPEN] }, { setting: 'signed' }),
];

const got = (text: string, ...sent: readonly string[]): Got => ({
  text,
  stimuli: sent.map((to) => ({ to })),
});
const GOT: Readonly<Record<string, Got>> = {
  open: got('status 201', 'GET'),
  broken: got('status 503', 'GET'),
  none: got('none'),
  refused: got('a refusal'),
  odd: got('a parrot'),
  halved: got('request 10'),
};

/** `key.wrong open` fails in that way; `key.cut` alone passes; `class blocked` is not judged. */
function judged(...checks: readonly string[]): readonly DiagnosedCheck[] {
  return checks.map((each) => {
    const [id = '', came] = each.split(' ');
    if (came === undefined) return { id, outcome: 'pass' };
    if (came === 'blocked' || came === 'skipped') return { id, outcome: came };
    const got = [GOT[came] ?? { text: came, stimuli: [] }];
    return {
      id,
      outcome: id === 'date' ? 'warning' : 'fail',
      finding: { subject: 'search', expected: 'request 20', got, evidence: null },
    };
  });
}

function causes(...checks: readonly string[]): readonly string[] {
  return diagnose(judged(...checks), KNOWN).map(({ entry: { defect } }) => defect);
}

describe('the causes of findings', () => {
  it.each([
    ['the one that explains all of them', ['key.wrong open', 'key.cut open', 'class open'], ['any-key']],
    [
      'one for each fault',
      ['key.cut open', 'class open', 'date none', 'age none'],
      ['key-prefix', 'no-date'],
    ],
    ['none that is contradicted by a check that passed', ['key.wrong open', 'key.cut', 'class open'], []],
    ['one whose other checks were blocked', ['key.wrong open', 'key.cut open', 'class blocked'], ['any-key']],
    ['one whose other checks were not selected', ['key.wrong open', 'key.cut open'], ['any-key']],
    ['none that says again what one finding says', ['key.wrong open'], []],
    ['none for some of the findings that it causes alone', ['key.wrong broken', 'class odd'], []],
    ['by what came', ['key.wrong broken', 'class broken'], ['wrong-key-500']],
    ['by a number that tells it, if from one finding', ['count halved'], ['half']],
    ['none where something else came', ['date odd', 'age odd'], []],
    [
      'two where checks have found two faults',
      ['key.wrong broken', 'class broken', 'date none', 'age none'],
      ['wrong-key-500', 'no-date'],
    ],
    [
      'for some operations among many',
      ['operations.auth.list open', 'operations.auth.delete open', 'operations.auth.read'],
      ['operation-open'],
    ],
    ['none for what only other faults drag along', ['class open', 'other open'], []],
    [
      'by most of what it drags along, where its own was not judged',
      ['errors.json none', 'errors.class none'],
      ['empty-errors'],
    ],
    ['none that takes another way of calling', ['key.wrong open', 'key.cut', 'class'], []],
    [
      'that which takes another way of calling',
      ['key.wrong open', 'key.cut', 'signed open'],
      ['signed-open'],
    ],
    ['none where nothing failed', ['key.wrong', 'date'], []],
  ])('%s', (_, checks, expected) => {
    expect(causes(...checks)).toEqual(expected);
  });

  it('are the same whatever the order of the checks', () => {
    const checks = ['key.cut open', 'class open', 'date none', 'age none', 'limit refused', 'key.wrong'];
    expect([...causes(...checks.toReversed())].sort()).toEqual([...causes(...checks)].sort());
  });

  it('have the values of the service in their sentence, and lead with the check of their own', () => {
    const [cause] = diagnose(judged('class open', 'key.cut open', 'key.wrong'), KNOWN);
    expect(cause).toMatchObject({ sentence: 'key-prefix is answered 201', checks: ['key.cut', 'class'] });
  });

  it.each([
    ['high', ['date none', 'age none']],
    // One that fits as well explains a part of it.
    ['medium', ['key.wrong open', 'key.cut open', 'class open']],
    ['low', ['limit refused', 'quota refused']],
  ])('are named with %s confidence', (confidence, checks) => {
    expect(diagnose(judged(...checks), KNOWN)[0]).toMatchObject({ confidence });
  });

  it('are told with what would explain the same as well', () => {
    const [cause] = diagnose(judged('limit refused', 'quota refused'), KNOWN);
    expect(cause?.entry.defect).toBe('late');
    expect(cause?.alternatives).toEqual(['early is answered 200']);
  });
});
