import type { Entry } from '../../report/diagnosis/dictionary.ts';
import type { ProofCase } from '../cases/cases.ts';
import { caseName, complains } from '../gaps.ts';
import type { ProvenCase } from '../proof.ts';
import { aloneCases, areAllSeen, togetherCases, type Verdict, verdictOn } from './benchmark.ts';

const SEED = 7;
const FIVE = 'accepts-key-prefix+etag-unquoted+no-date+retry-after-missing+unknown-path-500';
/** Shares that the diagnosis reaches at the least; faults that look the same from outside count as named. */
const REACH_ALONE = 0.97;
const REACH_TOGETHER = 0.75;

/** Several defects at once in one service: some of two, some of three, and five that are named one and all. */
export function someTogether(entries: readonly Entry[]): readonly ProofCase[] {
  const bearer = aloneCases().find(({ service, setting }) => service === 'search' && setting === 'bearer');
  return [
    ...togetherCases(entries, { size: 2, count: 5, seed: SEED }),
    ...togetherCases(entries, { size: 3, count: 3, seed: SEED }),
    ...(bearer ? [{ ...bearer, name: FIVE, fails: [], alsoFails: [], changes: [] }] : []),
  ];
}

/**
 * Where the diagnosis of proven cases falls short, one line each: of every defect alone, of each by a dictionary that
 * does not know it, and of several at once.
 */
export function diagnosisGaps(proven: readonly ProvenCase[], entries: readonly Entry[]): readonly string[] {
  const defects = proven.filter(({ kind }) => kind === 'defect');
  const alone = defects.filter(({ name, findings }) => !name.includes('+') && findings.some(complains));
  const together = defects.filter((each) => each.name.includes('+') && areAllSeen(each, entries));
  const verdict = (each: ProvenCase, known = entries) => ({ each, ...verdictOn(each, known, alone) });
  const ofAlone = alone.map((each) => verdict(each));
  const without = ({ name }: ProvenCase) => entries.filter(({ defect }) => defect !== name);
  const ofUnknown = alone.map((each) => verdict(each, without(each)));
  const ofTogether = together.map((each) => verdict(each));
  return [
    ...shortOf(REACH_ALONE, 'defects alone', ofAlone),
    ...shortOf(REACH_TOGETHER, 'sets of defects', ofTogether),
    ...defects.filter(({ name }) => name === FIVE).flatMap((each) => missed(verdict(each))),
    ...[...ofAlone, ...ofUnknown].flatMap(({ each, contradicted }) =>
      contradicted.map(
        (name) => `the diagnosis of ${caseName(each)} names ${name}, by whose findings it cannot be`,
      ),
    ),
  ];
}

function shortOf(reach: number, what: string, verdicts: readonly Verdict[]): readonly string[] {
  const named = verdicts.filter(({ isRight, isAmongAlternatives }) => isRight || isAmongAlternatives).length;
  if (named >= reach * verdicts.length) return [];
  return [`the diagnosis names ${named} of ${verdicts.length} ${what}, and should name ${100 * reach} %`];
}

function missed({
  each,
  isRight,
  named,
  unexplained,
}: Verdict & { readonly each: ProvenCase }): readonly string[] {
  if (isRight && unexplained.length === 0) return [];
  const rest = unexplained.length === 0 ? '' : `, and nothing for ${unexplained.join(', ')}`;
  return [`the diagnosis of ${caseName(each)} names ${named.join(', ') || 'nothing'}${rest}`];
}
