import type { Suite } from '../../engine/check/check.ts';
import { listDefects } from '../../reference/catalogue.ts';
import { type Entry, echoesIn, isFinding, type PartsByCheck } from '../../report/diagnosis/diagnose.ts';
import { distinctParts, formOf, likeness, partsOf, type ResultPart } from '../../report/diagnosis/form.ts';
import { standsFor } from '../gaps.ts';
import type { ProvenCase } from '../proof.ts';

/** A form at least this similar stays unchanged: the difference is chance. */
const THE_SAME = 0.8;

/**
 * The fault dictionary from the findings of the defects, on each service that can have them. Forms in `kept` that are
 * nearly the same stay unchanged, a finding that was missing once counts as possible from then on, and entries of defects
 * outside the cases stay.
 */
export function dictionaryOf(
  cases: readonly ProvenCase[],
  suites: readonly Suite[],
  kept: readonly Entry[],
): readonly Entry[] {
  const checks = suites.flatMap((suite) => suite.checks.map(({ id }) => id));
  return listDefects().flatMap(({ name, cause, services, setting, fails = [] }) => {
    const before = kept.find(({ defect }) => defect === name);
    const proven = cases.filter((each) => each.kind === 'defect' && each.name === name);
    if (proven.length === 0) return before ?? [];
    // Called in another way a service may have the defect and show nothing of it.
    const showing = proven.filter(({ findings }) => findings.some(isFinding));
    const { certain, possible } = seenIn(showing, checks, before);
    if (Object.keys(certain).length === 0) return [];
    return {
      defect: name,
      sentence: cause,
      services,
      under: showing.map(underOf),
      ...(setting === undefined ? {} : { setting }),
      own: fails.length > 0 ? fails : Object.keys(certain),
      certain,
      ...(Object.keys(possible).length === 0 ? {} : { possible }),
    };
  });
}

/** `search, bearer` */
export function underOf({ service, setting }: Pick<ProvenCase, 'service' | 'setting'>): string {
  return `${service}, ${setting}`;
}

function seenIn(
  proven: readonly ProvenCase[],
  checks: readonly string[],
  before: Entry | undefined,
): { readonly certain: PartsByCheck; readonly possible: PartsByCheck } {
  const certain: Record<string, readonly ResultPart[]> = {};
  const possible: Record<string, readonly ResultPart[]> = {};
  for (const id of checks) {
    const parts = partsIn(proven, id);
    const known = before?.certain[id] ?? before?.possible?.[id];
    const isSeen = parts.length > 0 || proven.some((each) => isEchoed(each, id));
    if (!isSeen && known === undefined) continue;
    const isCertain =
      isSeen && before?.possible?.[id] === undefined && !proven.some((each) => passes(each, id));
    const news = parts.filter((part) => !known?.some((each) => standsForPart(each, part)));
    // Certain forms change with the wording of the checks; forms that come only sometimes are kept.
    const stays = (known ?? []).filter(
      (each) => !isCertain || parts.some((part) => standsForPart(each, part)),
    );
    (isCertain ? certain : possible)[id] = [...stays, ...news];
  }
  return { certain, possible };
}

/** Whether a part that is kept says as much as one that was found: of more stimuli than are named, too. */
function standsForPart(kept: ResultPart, found: ResultPart): boolean {
  const [one, other] = [formOf(kept), formOf(found)];
  return likeness(one, other) > THE_SAME && (one.isCut || !other.isCut);
}

/** The parts found in all cases; interactions and operations count for the check that they stand for. */
function partsIn(proven: readonly ProvenCase[], id: string): readonly ResultPart[] {
  const found = proven.flatMap(({ findings }) =>
    findings.filter((each) => isFinding(each) && standsFor(id, each)),
  );
  return distinctParts(found.flatMap(({ finding }) => (finding === undefined ? [] : partsOf(finding))));
}

function isEchoed({ findings }: ProvenCase, id: string): boolean {
  return echoesIn(findings).some(({ check }) => check === id || check.startsWith(`${id}.`));
}

function passes({ passed, findings }: ProvenCase, id: string): boolean {
  const isOf = (each: string) => each === id || each.startsWith(`${id}.`);
  return passed.some(isOf) && !findings.some((each) => isOf(each.id));
}

/** Entries that differ from today's findings, one line each. */
export function dictionaryGaps(kept: readonly Entry[], now: readonly Entry[]): readonly string[] {
  const before = new Map(kept.map((entry) => [entry.defect, JSON.stringify(entry)]));
  const stale = now.filter((entry) => before.get(entry.defect) !== JSON.stringify(entry));
  const gone = kept.filter(({ defect }) => !now.some((entry) => entry.defect === defect));
  return [...stale, ...gone].map(
    ({ defect }) => `the fault dictionary is out of date about ${defect}: \`npm run prove -- --update\``,
  );
}

/** As it stands in the file: a line for each defect. */
export function dictionaryText(entries: readonly Entry[]): string {
  return `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`;
}
