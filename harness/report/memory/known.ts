import { nearestHint } from '../../config/yaml/nearest.ts';
import { echoesIn, isFinding } from '../diagnosis/diagnose.ts';
import {
  operationIn,
  operationInSignature,
  signatureBefore,
  signatureOf,
  withoutOperation,
} from '../diagnosis/form.ts';
import type { CheckResult } from '../results/check-result.ts';
import { withExitCode } from '../results/fold/fold.ts';
import type { ListedFailure, Results, ServiceResult } from '../results/results.ts';
import { counted, tallyOf } from '../results/tally.ts';

/** Days before the end of an entry from which on a remark warns of it. */
const WARNED_DAYS = 7;
const DAY_MS = 24 * 60 * 60_000;

/** The results with listed failures, and those that they explain, `known`, and a state for each entry. */
export function withKnown(results: Results): Results {
  if (results.services.every(({ known }) => known === undefined)) return results;
  const { asOf = results.run.startedAt.slice(0, 10), selection } = results.run;
  const services = results.services.map((service) =>
    service.known === undefined ? service : judged(service, service.known, { asOf, isWhole: !selection }),
  );
  return withExitCode({ ...results, services, totals: tallyOf(services.flatMap(({ checks }) => checks)) });
}

interface Setting {
  /** `2027-01-31`. */
  readonly asOf: string;
  /** All checks ran that there are. */
  readonly isWhole: boolean;
}

function judged(service: ServiceResult, listed: readonly ListedFailure[], setting: Setting): ServiceResult {
  const holding = listed.filter(({ until }) => until >= setting.asOf);
  const known = new Map(
    service.checks.flatMap((check) => {
      const entry = holding.find((each) => isAsListed(each, check));
      return entry ? [[check.id, entry] as const] : [];
    }),
  );
  const echoes = new Set(echoesIn(service.checks).flatMap(({ check, of }) => (known.has(of) ? [check] : [])));
  const checks = service.checks.map((check): CheckResult => {
    const entry = known.get(check.id);
    if (entry !== undefined) return { ...check, outcome: 'known', message: knownMessage(entry, check) };
    return echoes.has(check.id) ? { ...check, outcome: 'known' } : check;
  });
  const entries = listed.map((entry) => stated(entry, service, setting));
  const remarks = [...(service.remarks ?? []), ...entries.flatMap(remarkOn)];
  return { ...service, checks, known: entries, ...(remarks.length > 0 ? { remarks } : {}) };
}

function knownMessage({ reason, owner, until }: ListedFailure, { message }: CheckResult): string {
  return `known until ${until} (${owner}): ${reason}; ${message}`;
}

/** The entry as this run leaves it. The checks as they were judged, before any of them is `known`. */
function stated(entry: ListedFailure, service: ServiceResult, setting: Setting): ListedFailure {
  const { asOf, isWhole } = setting;
  const { checks, coverage } = service;
  const meant = checks.filter(({ id }) => fits(entry.check, id));
  if (meant.length === 0) {
    if (!isWhole || checks.length === 0 || mayBelong(entry, checks)) return entry;
    const ids = checks.map(({ id }) => id);
    const note = `this service has no such check${nearestHint(entry.check, ids)}`;
    return { ...entry, state: 'unmatched', note };
  }
  const failing = meant.filter(isFinding);
  if (failing.some((check) => isAsListed(entry, check))) return stillListed(entry, asOf);
  const gone = missingOperation(entry, service);
  if (gone !== null) return { ...entry, state: 'unmatched', note: gone };
  const [other] = failing;
  if (other !== undefined) {
    const got = signatureOfCheck(other).join('; ');
    return { ...entry, state: 'changed', note: `${other.id} fails in another way now: ${got}` };
  }
  // Of a pattern, checks that were not selected may still fail, and so may operations that a cap left out.
  const isUnseen = (coverage && meant.some(isOfOperations)) || (!isWhole && entry.check.includes('*'));
  const isSeen = meant.every(passes) && !isUnseen;
  if (isSeen) return { ...entry, state: 'stale', note: 'it passes now: remove the entry' };
  return until(entry, asOf) < 0 ? stillListed(entry, asOf) : entry;
}

/** Whether the check may be one of those hidden by one that stands for several (pacts not fetched). */
function mayBelong({ check }: ListedFailure, checks: readonly CheckResult[]): boolean {
  return checks.some(({ id, outcome }) => outcome === 'blocked' && check.startsWith(`${id}.`));
}

/** The fault of an entry that names operations none of which is documented; null for any other. */
function missingOperation({ got }: ListedFailure, { operations }: ServiceResult): string | null {
  const named = got.map(operationIn);
  const [first = null] = named;
  if (operations === undefined || first === null) return null;
  const documented = operations.map(operationInSignature);
  if (named.some((each) => each === null || documented.some((path) => fits(each, path)))) return null;
  return `this service has no operation ${first}${nearestHint(first, documented)}`;
}

/** An entry whose failure still comes, or may. */
function stillListed(entry: ListedFailure, asOf: string): ListedFailure {
  const days = until(entry, asOf);
  if (days < 0) {
    const note = `it was known until ${entry.until}: mend the failure, or set a later day`;
    return { ...entry, state: 'expired', note };
  }
  if (days > WARNED_DAYS) return { ...entry, state: 'known' };
  const left = days === 0 ? 'today' : `in ${counted(days, 'day')}`;
  const note = `it ends ${left}, on ${entry.until}: mend the failure, or set a later day`;
  return { ...entry, state: 'known', note };
}

/** Days that are left, 0 on the last; less than 0 once it is over. */
function until({ until: last }: ListedFailure, asOf: string): number {
  return Math.round((Date.parse(last) - Date.parse(asOf)) / DAY_MS);
}

/** The verdict names the entries that make the run fail, and the news those that end soon. */
function remarkOn({ state, note, check, place }: ListedFailure): readonly string[] {
  return note !== null && state === 'changed' ? [`known failure ${check} (${place}): ${note}`] : [];
}

function isOfOperations({ suite }: CheckResult): boolean {
  return suite === 'operations';
}

function passes({ outcome }: CheckResult): boolean {
  return outcome === 'pass' || outcome === 'observed';
}

/** The signature of a check that failed, as a list has it. */
export function signatureOfCheck({ finding }: CheckResult): readonly string[] {
  return finding === undefined ? [] : signatureOf(finding);
}

/** Whether a check failed as an entry says, in all that came. */
function isAsListed({ check: pattern, got }: ListedFailure, check: CheckResult): boolean {
  if (!isFinding(check) || !fits(pattern, check.id)) return false;
  const { finding } = check;
  if (finding === undefined) return true;
  const isListed = (each: string) =>
    got.some((listed) => fits(listed, each) || fits(listed, withoutOperation(each)));
  return [signatureOf, signatureBefore].some((form) => form(finding).every(isListed));
}

/** Whether a text is what a pattern says, in which `*` stands for any text. Linear in both. */
export function fits(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
