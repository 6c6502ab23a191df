import { describe, expect, it } from 'vitest';
import { dictionary } from '../../report/diagnosis/diagnose.ts';
import type { CaseFinding, ProvenCase } from '../proof.ts';
import { diagnosisGaps, someTogether, togetherCases } from './benchmark.ts';

const entries = dictionary();
const SEED = 7;
const PAIRS = togetherCases(entries, { size: 2, count: 5, seed: SEED });

describe('the cases of several faults', () => {
  it('are always the same, and none is drawn twice', () => {
    expect(togetherCases(entries, { size: 2, count: 5, seed: SEED })).toEqual(PAIRS);
    expect(togetherCases(entries, { size: 2, count: 5, seed: SEED + 1 })).not.toEqual(PAIRS);
    const many = togetherCases(entries, { size: 3, count: 200, seed: SEED }).map(
      ({ service, setting, name }) => `${service} ${setting} ${name}`,
    );
    expect(new Set(many).size).toBe(200);
  });

  it('hold no fault that another hides', () => {
    const known = new Map(entries.map((each) => [each.defect, new Set(Object.keys(each.certain))]));
    for (const { name } of PAIRS) {
      const [one, other] = name.split('+').map((each) => known.get(each) ?? new Set());
      expect(
        [one, other].every((each) => (each?.size ?? 0) > 0),
        name,
      ).toBe(true);
      expect(one?.isSubsetOf(other ?? new Set()), name).toBe(false);
    }
  });
});

const FIVE = someTogether(entries).at(-1);

/** What a defect causes everywhere, as the dictionary has it. */
function causedBy(name: string): readonly CaseFinding[] {
  const certain = entries.find(({ defect }) => defect === name)?.certain ?? {};
  return Object.entries(certain).map(([id, [[text, ...sent] = ['nothing']]]) => ({
    id,
    outcome: 'fail',
    message: '',
    finding: {
      subject: 'search',
      expected: 'another',
      got: [{ text, stimuli: sent.map((to) => ({ to })) }],
      evidence: null,
    },
  }));
}

function proven(name: string, findings: readonly CaseFinding[], passed: readonly string[] = []): ProvenCase {
  if (FIVE === undefined) throw new Error('no case');
  return { ...FIVE, name, preceded: false, findings, passed, observed: {}, requests: {}, traces: [] };
}

const [NO_DATE, UNQUOTED] = ['no-date', 'etag-unquoted'];

it('sets of two, of three and of five defects are diagnosed', () => {
  const sizes = someTogether(entries).map(({ name }) => name.split('+').length);
  expect(sizes).toEqual([2, 2, 2, 2, 2, 3, 3, 3, 5]);
});

describe('what the diagnosis of the proof leaves open', () => {
  it('is nothing where each defect is named, alone and together', () => {
    const [one, other] = [causedBy(NO_DATE), causedBy(UNQUOTED)];
    const both = proven(`${UNQUOTED}+${NO_DATE}`, [...one, ...other]);
    expect(diagnosisGaps([proven(NO_DATE, one), proven(UNQUOTED, other), both], entries)).toEqual([]);
  });

  it('is how many are not named, alone and together', () => {
    const cases = [
      proven(NO_DATE, causedBy(UNQUOTED)),
      proven(`${UNQUOTED}+${NO_DATE}`, [
        ...causedBy(NO_DATE),
        ...causedBy(UNQUOTED),
        ...causedBy('retry-after-missing'),
      ]),
    ];
    expect(diagnosisGaps(cases, entries)).toEqual([
      'the diagnosis names 0 of 1 defects alone, and should name 97 %',
      'the diagnosis names 0 of 1 sets of defects, and should name 75 %',
    ]);
  });

  it('is what is named where five are there', () => {
    const name = FIVE?.name ?? '';
    const [first = ''] = name.split('+');
    expect(diagnosisGaps([proven(name, causedBy(first))], entries)).toEqual([
      `the diagnosis of search ${name} names ${first}`,
    ]);
  });

  it('is a defect that is named although what it causes here was judged and passed', () => {
    const [seen, passed] = [causedBy(UNQUOTED), causedBy(NO_DATE)];
    // To this dictionary the one causes what the other does.
    const mistaken = entries.flatMap((each) =>
      each.defect === UNQUOTED ? { ...each, defect: NO_DATE } : [],
    );
    const ids = passed.map(({ id }) => id);
    expect(diagnosisGaps([proven(NO_DATE, passed), proven(UNQUOTED, seen, ids)], mistaken)).toContain(
      `the diagnosis of search ${UNQUOTED} names ${NO_DATE}, by whose findings it cannot be`,
    );
  });
});
