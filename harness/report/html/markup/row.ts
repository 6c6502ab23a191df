import { grouped } from '../../../base/text.ts';
import { NEWEST_FIRST } from '../../results/age.ts';
import { firstOf } from '../../results/causes.ts';
import type { CheckResult } from '../../results/check-result.ts';
import { operationsAgainst } from '../../results/operation-outcome.ts';
import type { Change, Results, ServiceResult } from '../../results/results.ts';
import { counted, type JudgedCheck, NOUNS, WORST_FIRST, waitedMs } from '../../results/tally.ts';
import { plainLine } from '../../results/words/plain.ts';
import { dayInWords, duration } from '../../results/words/words.ts';
import { html, icon, type Markup } from './markup.ts';

/** Services from which on a page takes the form of a fleet: squares for a matrix, lines that tell of many services. */
const FLEET = 13;

export function isFleet(services: readonly ServiceResult[]): boolean {
  return services.length >= FLEET;
}

/** The permalink of a check: `search/auth.missing-credential`. White space cannot stand in an id. */
export function checkAnchor(service: ServiceResult, check: CheckResult): string {
  return safe(`${service.service}/${check.id}`);
}

/** The anchor of a suite among all checks, where a cell of the matrix leads. */
export function suiteAnchor(suite: string): string {
  return safe(`suite/${suite}`);
}

export function evidenceKey(service: ServiceResult, id: string): string {
  return safe(`${service.service}/${id}`);
}

function safe(text: string): string {
  return text.replace(/[^A-Za-z0-9./_-]/g, '_');
}

/**
 * What the filter looks at: outcomes and services, with blanks between, and operations, a line each; the suite stands on
 * the element around.
 */
export function filterable(
  outcomes: string,
  services: readonly string[],
  operations: readonly string[] = [],
): Markup {
  const names = operations.slice(0, MOST_OPERATIONS).map((each) => plainLine(each));
  return html`data-o="${outcomes.trim()}" data-s="${services.join(' ')}"${names.length > 0 && html` data-op="${names.join('\n')}"`}`;
}

/** Operations by which the filter finds one row. */
const MOST_OPERATIONS = 200;

export function levelOf({ level }: CheckResult): Markup {
  return html`<span class="lv">${level === 'NONE' ? '' : level}</span>`;
}

/** `orders, search`; of more than four the first, and how many more. */
export function servicesInWords(names: readonly string[], all: number): string {
  if (names.length === all && all > 2) return `all ${all}`;
  return firstOf(names, 4);
}

/** A line that leads to a check elsewhere in the page. */
export function linkRow({ service, check }: JudgedCheck, line: Markup, age: Age | null = null): Markup {
  return html`<a class="row" href="#${checkAnchor(service, check)}" ${filterable(`${check.outcome} ${ageTerm(age)}`, [service.service], operationsAgainst(check))}>${line}</a>`;
}

/** What the runs before say of a finding. */
export interface Age {
  readonly state: Change['state'];
  /** `9 runs, since 14 Nov` */
  readonly words: string;
}

export type Ages = (judged: JudgedCheck) => Age | null;

/** How old each finding is; null where no history is kept. */
export function agesOf({ history }: Results): Ages {
  const changes = new Map(history?.changes.map((each) => [keyOf(each.service, each.check), each]));
  const before = history?.runs.length ?? 0;
  return ({ service, check }) => {
    const change = changes.get(keyOf(service.service, check.id));
    return change === undefined ? null : { state: change.state, words: inWords(change, before) };
  };
}

function inWords({ state, runs, since, operations = [] }: Change, before: number): string {
  if (operations.length > 0) return `new for ${firstOf(operations, 2)}`;
  if (state === 'new') return `in none of the ${counted(before, 'run')} before`;
  if (state === 'back') return 'was fixed before';
  return `${counted(runs, 'run')}, since ${dayInWords(since)}`;
}

/** The age of what explains several findings: that of the newest. */
export function newestOf(ages: readonly (Age | null)[]): Age | null {
  return ages.toSorted((a, b) => rankOf(a) - rankOf(b))[0] ?? null;
}

/** Where in a list something of this age stands. */
export function rankOf(age: Age | null): number {
  return age === null ? NEWEST_FIRST.length : NEWEST_FIRST.indexOf(age.state);
}

/** `is:still` and the like find it by this word. */
export function ageTerm(age: Age | null): string {
  return age === null ? '' : (age.state.split(' ')[0] ?? '');
}

function keyOf(service: string, check: string): string {
  return `${service} ${check}`;
}

/** Time at work and time of waiting on purpose, ms. */
export interface TimeSpent {
  readonly workMs: number;
  readonly waitedMs: number;
}

export function spentOn(checks: readonly CheckResult[]): TimeSpent {
  const allMs = checks.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return spent(allMs, waitedMs(checks));
}

/** Of a whole service: what its checks do not account for is work as well. */
export function spentBy({ durationMs, checks }: ServiceResult): TimeSpent {
  return spent(durationMs, waitedMs(checks));
}

function spent(allMs: number, waited: number): TimeSpent {
  return { workMs: Math.max(0, allMs - waited), waitedMs: waited };
}

/** Waits that are shorter are as good as none. */
const LEAST_WAIT_MS = 500;

/** `0.9 + 51 s` */
export function shortSpent({ workMs, waitedMs: waited }: TimeSpent): string {
  if (waited < LEAST_WAIT_MS) return figure(workMs);
  const wait = figure(waited);
  if (!wait.endsWith(' s') || wait.includes('min')) return `${figure(workMs)} + ${wait}`;
  return `${figure(Math.max(workMs, 50)).replace(/ s$/, '')} + ${wait}`;
}

/** `1.9 + 10 s waiting` */
export function spentInWords(time: TimeSpent): string {
  return time.waitedMs < LEAST_WAIT_MS ? figure(time.workMs) : `${shortSpent(time)} waiting`;
}

/** `51 s waiting`, `no waits` */
export function waitInWords({ waitedMs: waited }: TimeSpent): string {
  return waited < LEAST_WAIT_MS ? 'no waits' : `${figure(waited)} waiting`;
}

/** Rounded as far as a column of figures needs: `14 ms`, `0.3 s`, `51 s`, `6 min 8 s`. */
function figure(ms: number): string {
  if (ms < 50) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 99_500 ? `${Math.round(ms / 1_000)} s` : duration(ms);
}

/** How many checks ended how: a toggle for each outcome that occurs. */
export function chips({ totals }: Results): Markup {
  return html`<div class="chips" role="group" aria-label="Filter by outcome" tabindex="-1">${WORST_FIRST.filter(
    (outcome) => totals[outcome] > 0,
  ).map((outcome) => {
    const n = totals[outcome];
    const said = outcome === 'skipped' ? 'do not apply' : NOUNS[outcome](n);
    return html`<button type="button" class="chip" data-chip="${outcome}" aria-pressed="false">${icon(outcome)}<b>${grouped(n)}</b> ${said}</button>`;
  })}</div>`;
}
