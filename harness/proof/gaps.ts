import type { CheckDefinition, Suite } from '../check/check.ts';
import { CONSEQUENCES, type Consequence } from './consequences.ts';
import type { Judged, ProvenCase } from './proof.ts';

/**
 * What the proof leaves open, one line each; empty when every check is proven by a defect, every defect trips what it
 * says and related checks alone, every observation changes with the deviations that say so, and nothing that
 * conforms raises anything.
 */
export function gapsIn(
  cases: readonly ProvenCase[],
  suites: readonly Suite[],
  consequences: readonly Consequence[] = CONSEQUENCES,
): readonly string[] {
  return [...unproven(cases, suites), ...gapsAmong(cases, suites, consequences)];
}

/** The same of some cases alone: what others would have shown is not missed. */
export function gapsAmong(
  cases: readonly ProvenCase[],
  suites: readonly Suite[],
  consequences: readonly Consequence[] = CONSEQUENCES,
): readonly string[] {
  const defects = cases.filter(({ kind }) => kind === 'defect');
  const known = suites.flatMap(({ checks }) => checks);
  return [
    ...cases.filter(({ kind }) => kind !== 'defect').flatMap(falseAlarms),
    ...cases.flatMap((each) => unnoticed(each, known)),
    ...unshown(cases, known),
    ...unclaimed(defects),
    ...unrelated(defects, suites, consequences),
    ...withoutConsequence(defects, consequences),
    ...defects.flatMap(({ name, tripped }) =>
      tripped
        .filter(({ outcome }) => outcome === 'error')
        .map(({ id, message }) => `${name}: ${id} met a harness error: ${message}`),
    ),
  ];
}

function falseAlarms(each: ProvenCase): readonly string[] {
  return [...each.tripped, ...each.blocked].map(
    ({ id, outcome, message }) => `${caseName(each)}: ${id} ${outcome}: ${message}`,
  );
}

export function caseName({ service, setting, name }: ProvenCase): string {
  return `${service} ${name === '' ? 'as it is' : name}${setting === 'bearer' ? '' : ` (${setting})`}`;
}

function unproven(cases: readonly ProvenCase[], suites: readonly Suite[]): readonly string[] {
  const proven = new Set(cases.flatMap(({ trips }) => trips));
  return suites
    .flatMap(({ checks }) => checks)
    .filter(({ id, observes }) => !observes && !proven.has(id))
    .map(({ id }) => `${id} is proven by no defect`);
}

function unnoticed(
  { name, trips, tripped }: ProvenCase,
  checks: readonly CheckDefinition[],
): readonly string[] {
  return trips.flatMap((id) => {
    const check = checks.find((each) => each.id === id);
    if (check === undefined || check.observes) {
      return [`${name} should trip ${id}, which is ${check ? 'an observation' : 'not there'}`];
    }
    const noticed = tripped.some((each) => each.outcome !== 'error' && standsFor(id, each));
    return noticed ? [] : [`${name} should trip ${id}, and does not`];
  });
}

/** A check that stands for one thing of the config each is seen in any of them. */
function standsFor(id: string, tripped: Judged): boolean {
  return tripped.id === id || tripped.id.startsWith(`${id}.`);
}

/** Observations that are the same with a deviation as without it, on each service that can have it. */
function unshown(cases: readonly ProvenCase[], checks: readonly CheckDefinition[]): readonly string[] {
  const promised = cases.flatMap(({ name, shows }) => shows.map((id) => ({ name, id })));
  return [...new Map(promised.map((each) => [`${each.name} ${each.id}`, each])).values()].flatMap(
    ({ name, id }) => {
      const check = checks.find((each) => each.id === id);
      if (check === undefined) return [`${name} should change ${id}, which is not there`];
      const differs = cases.some((each) => {
        if (each.name !== name) return false;
        const plain = cases.find(
          ({ kind, service, setting }) =>
            kind === 'conforming' && service === each.service && setting === each.setting,
        );
        return plain !== undefined && seenBy(plain, id) !== seenBy(each, id);
      });
      return differs ? [] : [`${name} should change what ${id} observes, and does not`];
    },
  );
}

function seenBy({ observed }: ProvenCase, id: string): string {
  return JSON.stringify(observed.get(id) ?? null);
}

function unclaimed(defects: readonly ProvenCase[]): readonly string[] {
  return defects
    .filter(({ trips, shows }) => trips.length + shows.length === 0)
    .map(
      ({ name, tripped }) =>
        `${name} proves nothing (it trips ${tripped.map(({ id }) => id).join(', ') || 'nothing'})`,
    );
}

/** Checks that complain of a defect which none of their suite names, where no consequence of it is known to be that. */
function unrelated(
  defects: readonly ProvenCase[],
  suites: readonly Suite[],
  consequences: readonly Consequence[],
): readonly string[] {
  return defects.flatMap(({ name, trips, shows, tripped }) => {
    const claimed = [...trips, ...shows];
    const related = [
      ...suites
        .filter(({ checks }) => checks.some(({ id }) => claimed.includes(id)))
        .flatMap(({ checks }) => checks.map(({ id }): string => id)),
      ...consequences.filter((each) => each.defects.includes(name)).flatMap(({ trips }) => trips),
    ];
    return tripped
      .filter((each) => !related.some((id) => standsFor(id, each)))
      .map(({ id, message }) => `${name} trips ${id}, which is none of its suites: ${message}`);
  });
}

function withoutConsequence(
  defects: readonly ProvenCase[],
  consequences: readonly Consequence[],
): readonly string[] {
  return consequences.flatMap(({ defects: names, trips }) =>
    names.flatMap((name) => {
      const shown = defects.find((each) => each.name === name);
      if (shown === undefined) return [];
      return trips
        .filter((id) => !shown.tripped.some((each) => standsFor(id, each)))
        .map((id) => `${name} should trip ${id} as a consequence, and does not`);
    }),
  );
}
