import { type DiagnosedCheck, diagnose, type Entry, isFinding } from '../../report/diagnosis/diagnose.ts';
import { furtherCases, type ProofCase, proofCases } from '../cases.ts';
import { caseName } from '../gaps.ts';
import type { ProvenCase } from '../proof.ts';
import { underOf } from './dictionary.ts';
import { madeUpFaults, randomBelow, without } from './made-up.ts';

/** Every defect alone: on each service, and called in each way, that the dictionary knows. */
export function aloneCases(): readonly ProofCase[] {
  return [...proofCases().filter(({ kind }) => kind === 'defect'), ...furtherCases()];
}

/**
 * Several defects at once in one service, drawn at random, always the same for the same seed: only faults that join
 * findings and differ in these are drawn together, and no set twice.
 */
export function togetherCases(
  entries: readonly Entry[],
  { size, count, seed }: { readonly size: number; readonly count: number; readonly seed: number },
): readonly ProofCase[] {
  const known = new Map(entries.map((entry) => [entry.defect, checksOf(entry)]));
  const below = randomBelow(seed);
  const pools = [...Map.groupBy(aloneCases(), underOf).values()].map((cases) =>
    cases.filter(({ name, service, setting }) =>
      entries.some(
        (entry) =>
          entry.defect === name && entry.under.includes(`${service}, ${setting}`) && joinsFindings(entry),
      ),
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
  /** Those of them that cause several findings alone in this service, and so have a cause to be named. */
  readonly due: readonly string[];
  readonly named: readonly string[];
  /** Named, while neither it nor an alternative was planted. */
  readonly wrong: readonly string[];
  /** All that are due are named, and nothing that was not planted. */
  readonly isRight: boolean;
  /** The rivals of the named defects explain the findings as well, and include those that are due. */
  readonly isAmongAlternatives: boolean;
  /** Named although, alone in this service, it causes a finding that was judged and passed here. */
  readonly contradicted: readonly string[];
}

/** Compares the diagnosis of a case with the planted defects; `alone` holds the cases of single defects. */
export function verdictOn(
  proven: ProvenCase,
  entries: readonly Entry[],
  alone: readonly ProvenCase[],
): DiagnosisScore {
  const found = diagnose(judgedIn(proven), entries);
  const named = found.map(({ entry }) => entry.defect).sort();
  const planted = proven.name.split('+').sort();
  const inService = alone.filter((each) => underOf(each) === underOf(proven));
  const due = planted.filter((name) => inService.some((each) => each.name === name && areSeveral(each)));
  // Defects of one cause have one sentence.
  const sentences = new Map(entries.map(({ defect, sentence }) => [defect, sentence]));
  const causes = new Set(planted.map((name) => sentences.get(name)));
  const isPlanted = ({ sentence }: Entry) => causes.has(sentence);
  const isSaid = (name: string, all: readonly Entry[]) =>
    all.some(({ sentence }) => sentence === sentences.get(name));
  const wrong = found.filter(({ entry, rivals }) => ![entry, ...rivals].some(isPlanted));
  const entriesNamed = found.map(({ entry }) => entry);
  const withRivals = found.flatMap(({ entry, rivals }) => [entry, ...rivals]);
  const passed = new Set(proven.passed);
  return {
    planted,
    due,
    named,
    wrong: wrong.map(({ entry }) => entry.defect),
    isRight: due.every((name) => isSaid(name, entriesNamed)) && entriesNamed.every(isPlanted),
    isAmongAlternatives: due.every((name) => isSaid(name, withRivals)) && wrong.length === 0,
    contradicted: named.filter((name) =>
      inService.some(
        (each) =>
          each.name === name && each.findings.some((finding) => isFinding(finding) && passed.has(finding.id)),
      ),
    ),
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

/** Whether it causes several findings wherever it is judged, and so has a cause to be named. */
function joinsFindings({ certain }: Entry): boolean {
  return Object.values(certain).filter((parts) => parts.length > 0).length > 1;
}

/** Whether the diagnosis has several findings to join. */
export function areSeveral({ findings }: Pick<ProvenCase, 'findings'>): boolean {
  return findings.filter(isFinding).length > 1;
}

function checksOf({ certain, possible = {} }: Entry): ReadonlySet<string> {
  return new Set([...Object.keys(certain), ...Object.keys(possible)]);
}

function areApart(sets: readonly ReadonlySet<string>[]): boolean {
  return sets.every((one, at) => sets.every((other, place) => at === place || !one.isSubsetOf(other)));
}

const SEED = 7;
const FIVE = 'gzip-at-a-word+instances-count-apart+json-nan+reflects-any-origin+tags-compared-as-text';
/** Shares that the diagnosis reaches at the least; faults that look the same from outside count as named. */
export const REACH_ALONE = 0.97;
const REACH_TOGETHER = 0.75;
/** Share of faults that the dictionary does not know to which a cause is named, at the most. */
export const MOST_WRONG = 0.02;
const MADE_UP = 100;

/** Several defects at once in one service: some of two, some of three, and five that are named one and all. */
export function someTogether(entries: readonly Entry[]): readonly ProofCase[] {
  const bearer = aloneCases().find(({ service, setting }) => service === 'search' && setting === 'bearer');
  return [
    ...togetherCases(entries, { size: 2, count: 14, seed: SEED }),
    ...togetherCases(entries, { size: 3, count: 3, seed: SEED }),
    ...(bearer ? [{ ...bearer, name: FIVE, fails: [], alsoFails: [], changes: [] }] : []),
  ];
}

/**
 * Where the diagnosis of proven cases falls short, one line each: of the defects with several findings alone, of several at
 * once, and of faults that the dictionary does not know.
 */
export function diagnosisGaps(proven: readonly ProvenCase[], entries: readonly Entry[]): readonly string[] {
  const defects = proven.filter(({ kind }) => kind === 'defect');
  const alone = defects.filter(({ name, findings }) => !name.includes('+') && findings.some(isFinding));
  const together = defects.filter((each) => each.name.includes('+') && areAllSeen(each, entries));
  const verdict = (each: ProvenCase, known = entries) => ({ each, ...verdictOn(each, known, alone) });
  const ofAlone = alone.map((each) => verdict(each));
  const ofUnknown = alone.map((each) => verdict(each, without(entries, [each.name])));
  const ofMadeUp = madeUpFaults(alone, { count: MADE_UP, seed: SEED }).map((each) => verdict(each));
  const ofTogether = together.map((each) => verdict(each));
  return [
    ...shortOf(REACH_ALONE, 'defects alone', ofAlone),
    ...shortOf(REACH_TOGETHER, 'sets of defects', ofTogether),
    ...beyond(MOST_WRONG, 'defects that the dictionary does not have', ofUnknown),
    ...beyond(MOST_WRONG, 'faults made up of several or of parts', ofMadeUp),
    ...defects.filter(({ name }) => name === FIVE).flatMap((each) => missed(verdict(each))),
    ...[...ofAlone, ...ofUnknown].flatMap(({ each, contradicted }) =>
      contradicted.map(
        (name) => `the diagnosis of ${caseName(each)} names ${name}, by whose findings it cannot be`,
      ),
    ),
  ];
}

type DiagnosedCase = DiagnosisScore & { readonly each: ProvenCase };

function beyond(most: number, what: string, verdicts: readonly DiagnosedCase[]): readonly string[] {
  const wrong = verdicts.filter((each) => each.wrong.length > 0);
  if (wrong.length <= most * verdicts.length) return [];
  const examples = wrong.slice(0, 3).map(({ each, wrong }) => `${caseName(each)} as ${wrong.join(', ')}`);
  return [
    `the diagnosis takes ${wrong.length} of ${verdicts.length} ${what} for others, and should for ${100 * most} %: ${examples.join('; ')}`,
  ];
}

function shortOf(reach: number, what: string, verdicts: readonly DiagnosedCase[]): readonly string[] {
  const due = verdicts.filter((each) => each.due.length > 0);
  const named = due.filter(({ isRight, isAmongAlternatives }) => isRight || isAmongAlternatives).length;
  if (named >= reach * due.length) return [];
  return [`the diagnosis names ${named} of ${due.length} ${what}, and should name ${100 * reach} %`];
}

function missed({ each, due, named }: DiagnosedCase): readonly string[] {
  const left = due.filter((name) => !named.includes(name));
  if (left.length === 0) return [];
  return [
    `the diagnosis of ${caseName(each)} names ${named.join(', ') || 'nothing'}, and not ${left.join(', ')}`,
  ];
}
