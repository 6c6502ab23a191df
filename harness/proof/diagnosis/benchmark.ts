import { type DiagnosedCheck, diagnose, type Entry, isFinding } from '../../report/diagnosis/diagnose.ts';
import { furtherCases, type ProofCase, proofCases } from '../cases.ts';
import { caseName } from '../gaps.ts';
import type { ProvenCase } from '../proof.ts';
import { underOf } from './dictionary.ts';

/** Every defect alone: on each service, and called in each way, that the dictionary knows. */
export function aloneCases(): readonly ProofCase[] {
  return [...proofCases().filter(({ kind }) => kind === 'defect'), ...furtherCases()];
}

/**
 * Several defects at once in one service, drawn at random, always the same for the same seed: only faults that
 * differ in their findings are drawn together, and no set twice.
 */
export function togetherCases(
  entries: readonly Entry[],
  { size, count, seed }: { readonly size: number; readonly count: number; readonly seed: number },
): readonly ProofCase[] {
  const known = new Map(entries.map((entry) => [entry.defect, checksOf(entry)]));
  const below = randomBelow(seed);
  const pools = [...Map.groupBy(aloneCases(), underOf).values()].map((cases) =>
    cases.filter(({ name, service, setting }) =>
      entries.some(({ defect, under }) => defect === name && under.includes(`${service}, ${setting}`)),
    ),
  );
  const all = pools.flat();
  const drawn = new Map<string, ProofCase>();
  for (let tries = 0; drawn.size < count && tries < count * 100; tries += 1) {
    // Of all cases, so that a service is drawn as often as it has defects.
    const first = all[below(all.length)];
    const pool = pools.find((cases) => first !== undefined && cases.includes(first)) ?? [];
    const chosen = first === undefined ? [] : [first];
    for (let more = 0; chosen.length < size && more < 20; more += 1) {
      const next = pool[below(pool.length)];
      const sets = [...chosen, next].map((each) => known.get(each?.name ?? '') ?? new Set<string>());
      if (next !== undefined && areApart(sets)) chosen.push(next);
    }
    const names = chosen.map(({ name }) => name).sort();
    if (first !== undefined && names.length === size) {
      const name = names.join('+');
      drawn.set(`${underOf(first)} ${name}`, { ...first, name, fails: [], alsoFails: [], changes: [] });
    }
  }
  return [...drawn.values()];
}

/** The result of diagnosing one case. */
export interface DiagnosisScore {
  readonly planted: readonly string[];
  readonly named: readonly string[];
  readonly isRight: boolean;
  /** The rivals of the named defects explain the findings as well, and include the planted ones. */
  readonly isAmongAlternatives: boolean;
  /** Named although, alone in this service, it causes a finding that was judged and passed here. */
  readonly contradicted: readonly string[];
  /** Ids of findings without a cause. */
  readonly unexplained: readonly string[];
}

/** Compares the diagnosis of a case with the planted defects; `alone` holds the cases of single defects. */
export function verdictOn(
  proven: ProvenCase,
  entries: readonly Entry[],
  alone: readonly ProvenCase[],
): DiagnosisScore {
  const checks = judgedIn(proven);
  const found = diagnose(checks, entries);
  const named = found.map(({ entry }) => entry.defect).sort();
  const planted = proven.name.split('+').sort();
  const passed = new Set(proven.passed);
  const explained = new Set(found.flatMap((each) => each.checks));
  return {
    planted,
    named,
    isRight: named.join() === planted.join(),
    isAmongAlternatives:
      found.length === planted.length &&
      planted.every((name) =>
        found.some(({ entry, rivals }) => [entry, ...rivals].some(({ defect }) => defect === name)),
      ),
    contradicted: named.filter((name) =>
      alone.some(
        (each) =>
          each.name === name &&
          underOf(each) === underOf(proven) &&
          each.findings.some((finding) => isFinding(finding) && passed.has(finding.id)),
      ),
    ),
    unexplained: checks.filter(isFinding).flatMap(({ id }) => (explained.has(id) ? [] : id)),
  };
}

/** Whether a check of each planted defect still fails: a defect may hide another. */
export function areAllSeen({ name, findings }: ProvenCase, entries: readonly Entry[]): boolean {
  const found = new Set(findings.filter(isFinding).map(({ id }) => id));
  return name.split('+').every((planted) => {
    const entry = entries.find(({ defect }) => defect === planted);
    const own = entry?.own.length ? entry.own : Object.keys(entry?.certain ?? {});
    return own.some((id) => found.has(id));
  });
}

function judgedIn({ findings, passed }: ProvenCase): readonly DiagnosedCheck[] {
  return [...findings, ...passed.map((id) => ({ id, outcome: 'pass', message: '' }) as const)];
}

function checksOf({ certain, possible = {} }: Entry): ReadonlySet<string> {
  return new Set([...Object.keys(certain), ...Object.keys(possible)]);
}

function areApart(sets: readonly ReadonlySet<string>[]): boolean {
  return sets.every((one, at) => sets.every((other, place) => at === place || !one.isSubsetOf(other)));
}

/** Whole numbers from 0 to below `n`, at random, always the same for the same seed (mulberry32). */
function randomBelow(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

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
  const alone = defects.filter(({ name, findings }) => !name.includes('+') && findings.some(isFinding));
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

function shortOf(reach: number, what: string, verdicts: readonly DiagnosisScore[]): readonly string[] {
  const named = verdicts.filter(({ isRight, isAmongAlternatives }) => isRight || isAmongAlternatives).length;
  if (named >= reach * verdicts.length) return [];
  return [`the diagnosis names ${named} of ${verdicts.length} ${what}, and should name ${100 * reach} %`];
}

function missed({
  each,
  isRight,
  named,
  unexplained,
}: DiagnosisScore & { readonly each: ProvenCase }): readonly string[] {
  if (isRight && unexplained.length === 0) return [];
  const rest = unexplained.length === 0 ? '' : `, and nothing for ${unexplained.join(', ')}`;
  return [`the diagnosis of ${caseName(each)} names ${named.join(', ') || 'nothing'}${rest}`];
}
