import type { CheckDefinition, Suite } from '../engine/check/check.ts';
import { isFinding } from '../report/diagnosis/diagnose.ts';
import type { CaseFinding, ProvenCase } from './proof.ts';
import { SHIPPED, settingNamed } from './settings.ts';

/**
 * What the proof leaves open, one line each; empty when every check is proven by a defect, every defect trips what it
 * says and nothing else, every observation changes with the deviations that say so, every variant is met, and nothing
 * that conforms raises anything.
 */
export function gapsIn(cases: readonly ProvenCase[], suites: readonly Suite[]): readonly string[] {
  return [...unproven(cases, suites), ...gapsAmong(cases, suites)];
}

/** The same of some cases alone: what others would have shown is not missed. */
export function gapsAmong(cases: readonly ProvenCase[], suites: readonly Suite[]): readonly string[] {
  const checks = suites.flatMap((suite) => suite.checks);
  return [
    ...cases.filter(isDefect).flatMap((each) => unexpected(each, checks)),
    ...cases.filter(isToConform).flatMap(falseAlarms),
    ...unshown(cases, checks),
    ...unmet(cases),
    ...cases.flatMap(spent),
    ...cases.flatMap(illWorded),
  ];
}

export function caseName({ service, setting, name }: ProvenCase): string {
  return `${service} ${name === '' ? 'as it is' : name}${setting === SHIPPED ? '' : ` (${setting})`}`;
}

function unproven(cases: readonly ProvenCase[], suites: readonly Suite[]): readonly string[] {
  const proven = new Set(cases.flatMap(({ fails }) => fails));
  return suites
    .flatMap(({ checks }) => checks)
    .filter(({ id, observes }) => !observes && !proven.has(id))
    .map(({ id }) => `${id} is proven by no defect`);
}

function falseAlarms(each: ProvenCase): readonly string[] {
  return each.findings.map(({ id, outcome, message }) => `${caseName(each)}: ${id} ${outcome}: ${message}`);
}

/** Compares the checks that a defect names with the checks that failed. */
function unexpected(
  { name, fails, changes, alsoFails, findings }: ProvenCase,
  checks: readonly CheckDefinition[],
): readonly string[] {
  const said = [...fails, ...alsoFails];
  const tripped = findings.filter(isFinding);
  return [
    ...(fails.length + changes.length === 0 ? [`${name} proves nothing`] : []),
    ...said.flatMap((id) => {
      const check = checks.find((each) => each.id === id);
      if (check === undefined || check.observes) {
        return [`${name} should trip ${id}, which is ${check ? 'an observation' : 'not there'}`];
      }
      return tripped.some((each) => standsFor(id, each)) ? [] : [`${name} should trip ${id}, and does not`];
    }),
    ...tripped
      .filter((each) => !said.some((id) => standsFor(id, each)) && !isBeside(each, said))
      .map(({ id, message }) => `${name} trips ${id}, which it does not say: ${message}`),
    ...findings
      .filter(({ outcome }) => outcome === 'error')
      .map(({ id, message }) => `${name}: ${id} met a harness error: ${message}`),
  ];
}

/** What a defect trips there depends on the plan and on the operations of a service: the dictionary has it. */
const BESIDE = ['limits', 'operations'];

function isBeside({ id }: CaseFinding, said: readonly string[]): boolean {
  const suites = said.map(suiteOf);
  if (suites.includes(suiteOf(id))) return false;
  return BESIDE.includes(suiteOf(id)) || (suites.length > 0 && suites.every((suite) => suite === 'limits'));
}

function suiteOf(id: string): string {
  return id.slice(0, id.indexOf('.'));
}

/** Observations that are the same with a deviation as without it, on each service that can have it. */
function unshown(cases: readonly ProvenCase[], checks: readonly CheckDefinition[]): readonly string[] {
  const promised = cases.flatMap(({ name, changes }) => changes.map((id) => ({ name, id })));
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

/** What a REST service is asked at most, by every check that asks for its own sake; some settings take more. */
const MOST_REQUESTS = 177;
/** As many requests as a config describes operations, or a plan allows. */
const BY_CONFIG: ReadonlySet<string> = new Set(['operations', 'pact', 'limits']);

function spent(each: ProvenCase): readonly string[] {
  if (!isToConform(each) || each.service !== 'search') return [];
  const requests = Object.entries(each.requests).filter(([suite]) => !BY_CONFIG.has(suite));
  const sum = requests.reduce((before, [, count]) => before + count, 0);
  const most = MOST_REQUESTS + (settingNamed(each.setting).moreRequests ?? 0);
  if (sum > 0 && sum <= most) return [];
  return [`${caseName(each)}: judged from ${sum} requests, and not from 1 to ${most}`];
}

/** A message is one line with the expectation, the observation and the ground. */
function illWorded({ name, findings }: ProvenCase): readonly string[] {
  return findings
    .filter(isFinding)
    .filter(({ id, message }) => {
      const isLine = /^[^\n]{1,600} \[.+\]$/.test(message);
      // What Pact says of an interaction is in its words.
      return !isLine || !(id.startsWith('pact.') || /^expected .+, got .+/.test(message));
    })
    .map(({ id, message }) => `${name}: ${id} does not say in one line what it expected and got: ${message}`);
}

/**
 * Variants of which nothing came, on any service that can have them, that had not come of the same service without them:
 * they do nothing, or no request meets what they do. That no check isFinding of them shows nothing then.
 */
function unmet(cases: readonly ProvenCase[]): readonly string[] {
  const variants = Map.groupBy(
    cases.filter(({ traced }) => traced),
    ({ name }) => name,
  );
  return [...variants].flatMap(([name, all]) => {
    const isMet = all.some(({ service, setting, traces }) => {
      const without = cases.find(
        (each) => each.kind === 'counterpart' && each.service === service && each.setting === setting,
      );
      const known = new Set(without?.traces);
      return traces.some((trace) => !known.has(trace));
    });
    return isMet ? [] : [`${name} leaves no trace: it does nothing, or nothing meets it`];
  });
}

function isDefect({ kind }: ProvenCase): boolean {
  return kind === 'defect';
}

/** Whether nothing may complain about it. */
export function isToConform({ kind }: ProvenCase): boolean {
  return kind === 'conforming' || kind === 'variant';
}

function seenBy({ observed }: ProvenCase, id: string): string {
  return JSON.stringify(observed[id] ?? null);
}

/** A check that stands for one thing of the config each is seen in any of them. */
export function standsFor(id: string, finding: CaseFinding): boolean {
  return finding.id === id || finding.id.startsWith(`${id}.`);
}

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
      .filter(isFinding)
      .map(({ id }) => id)
      .join(' ') || 'nothing'
  );
}
