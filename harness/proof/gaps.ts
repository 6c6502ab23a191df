import type { Suite } from '../check/check.ts';
import { CONSEQUENCES, type Consequence } from './consequences.ts';
import type { Judged, ProvenCase } from './proof.ts';

/**
 * What the proof leaves open, one line each; empty when every check notices the defects that it names, every
 * defect is named by a check that notices it and trips related checks alone, every observation changes with the
 * deviations that it names, and nothing that conforms raises anything.
 */
export function gapsIn(
  cases: readonly ProvenCase[],
  suites: readonly Suite[],
  consequences: readonly Consequence[] = CONSEQUENCES,
): readonly string[] {
  return [...unproven(suites), ...gapsOf(cases, suites, consequences)];
}

function gapsOf(
  cases: readonly ProvenCase[],
  suites: readonly Suite[],
  consequences: readonly Consequence[],
): readonly string[] {
  const defects = new Map(cases.filter(({ kind }) => kind === 'defect').map((each) => [each.name, each]));
  return [
    ...cases.filter(({ kind }) => kind !== 'defect').flatMap(falseAlarms),
    ...unnoticed(defects, suites),
    ...unshown(cases, suites),
    ...unclaimed(defects, suites),
    ...unrelated(defects, suites, consequences),
    ...withoutConsequence(defects, consequences),
    ...[...defects.values()].flatMap(({ name, tripped }) =>
      tripped
        .filter(({ outcome }) => outcome === 'error')
        .map(({ id, message }) => `${name}: ${id} met a harness error: ${message}`),
    ),
  ];
}

/**
 * The same of these defects and variants alone, with the conforming cases beside them: what others would have shown
 * is not missed.
 */
export function gapsAmong(
  names: readonly string[],
  cases: readonly ProvenCase[],
  suites: readonly Suite[],
  consequences: readonly Consequence[] = CONSEQUENCES,
): readonly string[] {
  const among = (all: readonly string[]) => all.filter((name) => names.includes(name));
  const concerned = suites.map((suite) => ({
    ...suite,
    checks: suite.checks.map((each) => ({
      ...each,
      provenBy: among(each.provenBy),
      shownBy: among(each.shownBy),
    })),
  }));
  const following = consequences.map((each) => ({ ...each, defects: among(each.defects) }));
  return gapsOf(cases, concerned, following);
}

function falseAlarms(each: ProvenCase): readonly string[] {
  return [...each.tripped, ...each.blocked].map(
    ({ id, outcome, message }) => `${caseName(each)}: ${id} ${outcome}: ${message}`,
  );
}

export function caseName({ service, setting, name }: ProvenCase): string {
  return `${service} ${name === '' ? 'as it is' : name}${setting === 'bearer' ? '' : ` (${setting})`}`;
}

function unproven(suites: readonly Suite[]): readonly string[] {
  return suites
    .flatMap(({ checks }) => checks)
    .filter(({ observes, provenBy }) => !observes && provenBy.length === 0)
    .map(({ id }) => `${id} names no defect`);
}

function unnoticed(defects: ReadonlyMap<string, ProvenCase>, suites: readonly Suite[]): readonly string[] {
  return suites
    .flatMap(({ checks }) => checks)
    .flatMap(({ id, provenBy }) =>
      provenBy.flatMap((defect) => {
        const shown = defects.get(defect);
        if (shown === undefined) return [`${id} names the defect ${defect}, which is not there`];
        return shown.tripped.some((each) => each.outcome !== 'error' && standsFor(id, each))
          ? []
          : [`${id} does not notice the defect ${defect}`];
      }),
    );
}

/** A check that stands for one thing of the config each is seen in any of them. */
function standsFor(id: string, tripped: Judged): boolean {
  return tripped.id === id || tripped.id.startsWith(`${id}.`);
}

/** Observations that are the same with a deviation as without it. */
function unshown(cases: readonly ProvenCase[], suites: readonly Suite[]): readonly string[] {
  return suites
    .flatMap(({ checks }) => checks)
    .flatMap(({ id, shownBy }) =>
      shownBy.flatMap((name) => {
        const shown = cases.filter((each) => each.name === name);
        if (shown.length === 0) return [`${id} names ${name}, which is not there`];
        const differs = shown.some((each) => {
          const plain = cases.find(
            ({ kind, service, setting }) =>
              kind === 'conforming' && service === each.service && setting === each.setting,
          );
          return plain !== undefined && seenBy(plain, id) !== seenBy(each, id);
        });
        return differs ? [] : [`${id} observes the same with ${name} as without it`];
      }),
    );
}

function seenBy({ observed }: ProvenCase, id: string): string {
  return JSON.stringify(observed.get(id) ?? null);
}

function unclaimed(defects: ReadonlyMap<string, ProvenCase>, suites: readonly Suite[]): readonly string[] {
  const claimed = new Set(
    suites.flatMap(({ checks }) => checks.flatMap(({ provenBy, shownBy }) => [...provenBy, ...shownBy])),
  );
  return [...defects.values()]
    .filter(({ name }) => !claimed.has(name))
    .map(
      ({ name, tripped }) =>
        `no check names the defect ${name} (trips ${tripped.map(({ id }) => id).join(', ') || 'nothing'})`,
    );
}

/** Checks that complain of a defect which none of their suite names, where no consequence of it is known to be that. */
function unrelated(
  defects: ReadonlyMap<string, ProvenCase>,
  suites: readonly Suite[],
  consequences: readonly Consequence[],
): readonly string[] {
  return [...defects.values()].flatMap(({ name, tripped }) => {
    const related = [
      ...suites
        .filter(({ checks }) =>
          checks.some(({ provenBy, shownBy }) => provenBy.includes(name) || shownBy.includes(name)),
        )
        .flatMap(({ checks }) => checks.map(({ id }): string => id)),
      ...consequences.filter((each) => each.defects.includes(name)).flatMap(({ trips }) => trips),
    ];
    return tripped
      .filter((each) => !related.some((id) => standsFor(id, each)))
      .map(({ id, message }) => `${name} trips ${id}, whose suite does not name it: ${message}`);
  });
}

function withoutConsequence(
  defects: ReadonlyMap<string, ProvenCase>,
  consequences: readonly Consequence[],
): readonly string[] {
  return consequences.flatMap(({ defects: names, trips }) =>
    names.flatMap((name) => {
      const shown = defects.get(name);
      if (shown === undefined) return [`a consequence is told of ${name}, which is not there`];
      return trips
        .filter((id) => !shown.tripped.some((each) => standsFor(id, each)))
        .map((id) => `${name} should trip ${id} as a consequence, and does not`);
    }),
  );
}
