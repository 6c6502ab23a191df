import { beforeAll, describe, expect, it } from 'vitest';
import { suites } from '../../../suites/catalogue.ts';
import { dictionary } from '../../diagnosis/dictionary.ts';
import type { ProofCase } from '../cases/cases.ts';
import { proofConfigs } from '../cases/configs.ts';
import { type ProvenCase, prove } from '../proof.ts';
import { aloneCases, areAllSeen, togetherCases, verdictOn } from './benchmark.ts';

const entries = dictionary();
const SEED = 7;
const PAIRS = togetherCases(entries, { size: 2, count: 5, seed: SEED });
const TRIPLES = togetherCases(entries, { size: 3, count: 3, seed: SEED });
const FIVE = 'accepts-key-prefix+etag-unquoted+no-date+retry-after-missing+unknown-path-500';
/** Some of the many. */
const ALONE = aloneCases().filter(
  ({ name, service, setting }, at) =>
    at % 80 === 3 &&
    entries.some(({ defect, under }) => defect === name && under.includes(`${service}, ${setting}`)),
);

function named(name: string, [first]: readonly ProofCase[] = PAIRS): ProofCase {
  if (first === undefined) throw new Error('no case');
  return { ...first, service: 'search', setting: 'bearer', name };
}

describe('the diagnosis of what the reference providers do', () => {
  let proven: readonly ProvenCase[] = [];
  const of = (cases: readonly ProofCase[]) =>
    proven.filter(({ name, service, setting }) =>
      cases.some((each) => each.name === name && each.service === service && each.setting === setting),
    );

  beforeAll(async () => {
    proven = await prove(suites, [...ALONE, ...PAIRS, ...TRIPLES, named(FIVE)], await proofConfigs());
  });

  it('names each fault alone', () => {
    const verdicts = of(ALONE).map((each) => verdictOn(each, entries, proven));
    expect(verdicts.length).toBeGreaterThan(3);
    expect(verdicts.filter(({ isRight, isAmongAlternatives }) => !isRight && !isAmongAlternatives)).toEqual(
      [],
    );
  });

  it('names most of two and of three at once', () => {
    const seen = [...of(PAIRS), ...of(TRIPLES)].filter((each) => areAllSeen(each, entries));
    // Some faults look the same from outside: then each is named as what it may be.
    const right = seen.filter((each) => {
      const { isRight, isAmongAlternatives } = verdictOn(each, entries, proven);
      return isRight || isAmongAlternatives;
    });
    expect(seen.length).toBeGreaterThan(3);
    expect(right.length / seen.length).toBeGreaterThan(0.75);
  });

  it('puts a fault that it does not know down to nothing that is contradicted', () => {
    for (const each of of(ALONE)) {
      const others = entries.filter(({ defect }) => defect !== each.name);
      const { named: blamed, contradicted } = verdictOn(each, others, proven);
      expect(contradicted).toEqual([]);
      expect(blamed).not.toContain(each.name);
    }
  });

  it('gives five causes and no sixth for five faults of one service', () => {
    const [five] = of([named(FIVE)]);
    const verdict = five && verdictOn(five, entries, proven);
    expect(verdict?.named).toEqual(FIVE.split('+'));
    expect(verdict?.unexplained).toEqual([]);
  });
});

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
