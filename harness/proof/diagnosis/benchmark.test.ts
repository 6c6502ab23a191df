import { describe, expect, it } from 'vitest';
import { dictionary } from '../../report/diagnosis/diagnose.ts';
import type { CaseFinding, ProvenCase } from '../proof.ts';
import {
  areSeveral,
  diagnosisGaps,
  MOST_WRONG,
  REACH_ALONE,
  someTogether,
  togetherCases,
  verdictOn,
} from './benchmark.ts';
import { madeUpFaults, without } from './made-up.ts';

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
  const findings = Object.entries(certain).filter(([, parts]) => parts.length > 0);
  return findings.map(([id, [[text, ...sent] = ['nothing']]]) => ({
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

const [TAGS, GZIP, ORIGIN] = ['tags-compared-as-text', 'gzip-at-a-word', 'reflects-any-origin'];

it('sets of two, of three and of five defects are diagnosed', () => {
  const sizes = someTogether(entries).map(({ name }) => name.split('+').length);
  expect(sizes).toEqual([...Array(14).fill(2), 3, 3, 3, 5]);
});

describe('what the diagnosis of the proof leaves open', () => {
  it('is nothing where each defect is named, alone and together', () => {
    const [one, other] = [causedBy(TAGS), causedBy(GZIP)];
    const both = proven(`${GZIP}+${TAGS}`, [...one, ...other]);
    expect(diagnosisGaps([proven(TAGS, one), proven(GZIP, other), both], entries)).toEqual([]);
  });

  it('is how many are not named, alone and together', () => {
    const cases = [
      proven(TAGS, causedBy(GZIP)),
      proven(`${GZIP}+${TAGS}`, [...causedBy(GZIP), ...causedBy(TAGS), ...causedBy(ORIGIN)]),
    ];
    const gaps = diagnosisGaps(cases, entries);
    expect(gaps).toContain('the diagnosis names 0 of 1 defects alone, and should name 97 %');
    expect(gaps).toContain('the diagnosis names 0 of 1 sets of defects, and should name 75 %');
  });

  it('is not that nothing is named where one finding says it all', () => {
    expect(diagnosisGaps([proven('no-date', causedBy('no-date'))], entries)).toEqual([]);
  });

  it('is what is not named where five are there', () => {
    const name = FIVE?.name ?? '';
    const names = name.split('+');
    const alone = names.map((each) => proven(each, causedBy(each)));
    const [first = '', ...rest] = names;
    expect(diagnosisGaps([...alone, proven(name, causedBy(first))], entries)).toContain(
      `the diagnosis of search ${name} names ${first}, and not ${rest.join(', ')}`,
    );
  });

  it('is a fault of no row that is taken for another', () => {
    // To this dictionary the one causes what the other does.
    const mistaken = entries.map((each) => (each.defect === TAGS ? { ...each, defect: 'another' } : each));
    const unknown = mistaken.map((each) =>
      each.defect === 'another' ? { ...each, sentence: 'Another' } : each,
    );
    expect(diagnosisGaps([proven(TAGS, causedBy(TAGS))], unknown)).toContainEqual(
      expect.stringMatching(
        /^the diagnosis takes 1 of 1 defects that the dictionary does not have for others/,
      ),
    );
  });

  it('is a defect that is named although what it causes here was judged and passed', () => {
    const [seen, passed] = [causedBy(GZIP), causedBy(TAGS)];
    const mistaken = entries.flatMap((each) => (each.defect === GZIP ? { ...each, defect: TAGS } : []));
    const ids = passed.map(({ id }) => id);
    expect(diagnosisGaps([proven(TAGS, passed), proven(GZIP, seen, ids)], mistaken)).toContain(
      `the diagnosis of search ${GZIP} names ${TAGS}, by whose findings it cannot be`,
    );
  });
});

/** Each defect as the dictionary has it: what it always causes came, and every other check has passed. */
const RECORDED = entries.map(({ defect, certain, possible = {} }) => {
  const ids = new Set(entries.flatMap((each) => Object.keys({ ...each.certain, ...each.possible })));
  const passed = [...ids].filter((id) => !(id in certain) && !(id in possible));
  return proven(defect, causedBy(defect), passed);
});

describe('a fault that is no row of the dictionary', () => {
  const shareOf = (cases: readonly ProvenCase[], known: (each: ProvenCase) => typeof entries) => {
    const wrong = cases.filter((each) => verdictOn(each, known(each), RECORDED).wrong.length > 0);
    return wrong.length / cases.length;
  };

  it('ends without a cause: each row left out in turn', () => {
    const share = shareOf(RECORDED, ({ name }) => without(entries, [name]));
    expect(share).toBeLessThanOrEqual(MOST_WRONG);
  });

  it('ends without a cause that is not in it: parts of faults, some requests alone, and two at once', () => {
    const madeUp = madeUpFaults(RECORDED, { count: 300, seed: SEED });
    expect(new Set(madeUp.map(({ name }) => name)).size).toBeGreaterThan(100);
    expect(shareOf(madeUp, () => entries)).toBeLessThanOrEqual(MOST_WRONG);
  });

  it('and those that are rows keep theirs', () => {
    const verdicts = RECORDED.filter(areSeveral).map((each) => verdictOn(each, entries, RECORDED));
    const right = verdicts.filter(({ isRight, isAmongAlternatives }) => isRight || isAmongAlternatives);
    expect(right.length / verdicts.length).toBeGreaterThanOrEqual(REACH_ALONE);
  });
});
