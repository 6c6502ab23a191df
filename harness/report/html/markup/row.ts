import type { CheckResult, ServiceResult } from '../../results/results.ts';
import type { Judged } from '../../results/tally.ts';
import { type Age, ageTerm } from './age.ts';
import { html, type Markup } from './markup.ts';

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

/** What the filter looks at: outcomes and services, with blanks between; the suite stands on what is around. */
export function filterable(outcomes: string, services: readonly string[]): Markup {
  return html`data-o="${outcomes.trim()}" data-s="${services.join(' ')}"`;
}

export function levelOf({ level }: CheckResult): Markup {
  return html`<span class="lv">${level === 'NONE' ? '' : level}</span>`;
}

/** `orders, search`; of more than four the first, and how many more. */
export function servicesInWords(names: readonly string[], all: number): string {
  if (names.length === all && all > 2) return `all ${all}`;
  return names.length <= 5
    ? names.join(', ')
    : `${names.slice(0, 4).join(', ')} and ${names.length - 4} more`;
}

/** A line that leads to a check told elsewhere in the page. */
export function linkRow({ service, check }: Judged, line: Markup, age: Age | null = null): Markup {
  return html`<a class="row" href="#${checkAnchor(service, check)}" ${filterable(`${check.outcome} ${ageTerm(age)}`, [service.service])}>${line}</a>`;
}
