import { type Entry, isFinding } from '../../report/diagnosis/diagnose.ts';
import type { CaseFinding, ProvenCase } from '../proof.ts';
import { underOf } from './dictionary.ts';

/** Faults that the dictionary does not know, made of what the proof has found of those that it knows. */

/** Whole numbers from 0 to below `n`, at random. */
export type RandomBelow = (n: number) => number;

/** Always the same for the same seed (mulberry32). */
export function randomBelow(seed: number): RandomBelow {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

/** The dictionary without some defects, and without the rows of the same causes. */
export function without(entries: readonly Entry[], defects: readonly string[]): readonly Entry[] {
  const causes = new Set(
    entries.flatMap(({ defect, sentence }) => (defects.includes(defect) ? sentence : [])),
  );
  return entries.filter(({ sentence }) => !causes.has(sentence));
}

/** A fault that shows at some requests alone: on every tenth, and then only some checks see it. */
const INTERMITTENT = 10;

/** One of three kinds in turn: part of the findings of a defect, those of every tenth request, those of two defects. */
export function madeUpFaults(
  proven: readonly ProvenCase[],
  { count, seed }: { readonly count: number; readonly seed: number },
): readonly ProvenCase[] {
  const below = randomBelow(seed);
  const several = proven.filter(({ findings }) => findings.filter(isFinding).length > 1);
  const pools = Map.groupBy(proven, underOf);
  const drawnFrom = <Each>(all: readonly Each[]): readonly Each[] => all.slice(below(all.length)).slice(0, 1);
  const kinds = [
    () => drawnFrom(several).map((each) => only(each, (finding) => (below(2) === 0 ? finding : null))),
    () => drawnFrom(several).map((each) => only(each, (finding) => atSomeRequests(finding, below))),
    () =>
      drawnFrom(proven).flatMap((one) =>
        drawnFrom((pools.get(underOf(one)) ?? []).filter(({ name }) => name !== one.name)).map((other) =>
          both(one, other),
        ),
      ),
  ];
  const made: ProvenCase[] = [];
  for (let tries = 0; made.length < count && tries < 100 * count; tries += 1) {
    const drawn = kinds[tries % kinds.length]?.() ?? [];
    made.push(...drawn.filter(({ findings }) => findings.some(isFinding)));
  }
  return made.slice(0, count);
}

/** What becomes of each finding; null for a check that passes. What it explained passes then as well. */
function only(proven: ProvenCase, becomes: (finding: CaseFinding) => CaseFinding | null): ProvenCase {
  const seen = proven.findings.flatMap((each) => (isFinding(each) ? (becomes(each) ?? []) : []));
  const ids = new Set(seen.map(({ id }) => id));
  const echoes = proven.findings.filter(
    (each) => !isFinding(each) && (each.explainedBy === undefined || ids.has(each.explainedBy)),
  );
  const findings = [...seen, ...echoes];
  const kept = new Set(findings.map(({ id }) => id));
  const passed = proven.findings.flatMap(({ id }) => (kept.has(id) ? [] : id));
  return { ...proven, findings, passed: [...proven.passed, ...passed] };
}

function atSomeRequests(each: CaseFinding, below: RandomBelow): CaseFinding | null {
  const { finding } = each;
  if (finding === undefined) return null;
  const isHit = () => below(INTERMITTENT) === 0;
  const got = finding.got.flatMap((one) => {
    const stimuli = one.stimuli.filter(isHit);
    return stimuli.length > 0 || (one.stimuli.length === 0 && isHit()) ? { ...one, stimuli } : [];
  });
  const [first] = got;
  return first === undefined ? null : { ...each, finding: { ...finding, got: [first, ...got.slice(1)] } };
}

/** A check that one of them trips fails; in one service a check says one thing. */
function both(one: ProvenCase, other: ProvenCase): ProvenCase {
  const all = [...one.findings, ...other.findings];
  const ordered = [...all.filter(isFinding), ...all.filter((each) => !isFinding(each))];
  const findings = [...new Map(ordered.toReversed().map((each) => [each.id, each])).values()].toReversed();
  const ids = new Set(findings.map(({ id }) => id));
  const passed = [...new Set([...one.passed, ...other.passed])].filter((id) => !ids.has(id));
  return { ...one, name: `${one.name}+${other.name}`, findings, passed };
}
