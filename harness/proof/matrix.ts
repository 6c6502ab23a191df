import type { Suite } from '../engine/check/check.ts';
import { caseName, complains, isToConform } from './gaps.ts';
import type { ProvenCase } from './proof.ts';

/** The proof for a person: what each defect trips, what proves each check, and what raises nothing. */
export function matrixText(cases: readonly ProvenCase[], suites: readonly Suite[]): string {
  const defects = cases.filter(({ kind }) => kind === 'defect');
  const conforming = cases.filter(isToConform);
  const checks = suites.flatMap((suite) => suite.checks);
  const proofOf = ({ id, observes }: (typeof checks)[number]) => {
    const named = cases.filter(({ fails, changes }) => (observes ? changes : fails).includes(id));
    const names = [...new Set(named.map(({ name }) => name))];
    return names.length === 0 ? (observes ? '(observes)' : 'nothing') : names.join(' ');
  };
  return [
    ...section('Defects, and the checks that they trip', defects, (each) => [each.name, idsOf(each)]),
    ...section('Checks, and the defects that prove them', checks, (check) => [check.id, proofOf(check)]),
    ...section('Conforming, and what they trip', conforming, (each) => [caseName(each), idsOf(each)]),
  ].join('\n');
}

function section<T>(
  title: string,
  items: readonly T[],
  row: (item: T) => readonly [string, string],
): string[] {
  const rows = items.map(row);
  const width = Math.min(48, Math.max(0, ...rows.map(([left]) => left.length)));
  return [title, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`), ''];
}

function idsOf({ findings }: ProvenCase): string {
  return (
    findings
      .filter(complains)
      .map(({ id }) => id)
      .join(' ') || 'nothing'
  );
}
