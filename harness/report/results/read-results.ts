import { UsageError } from '../../base/exit.ts';
import { type Finding, type Got, SILENT_SINCE } from '../../base/finding.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { readRegularFile } from '../../base/regular-file.ts';
import { codeOf, reasonOf } from '../../base/thrown.ts';
import type { CheckResult } from './check-result.ts';
import { RESULTS, type Results } from './results.ts';
import { problemIn } from './shapes.ts';

const SCHEMA_VERSION = 1;

/** Holds a value against `results.schema.json`; unknown fields stay. `source`: usually a path. */
export function validateResults(value: unknown, source = 'results'): Results {
  const version = isJsonObject(value) ? value.schemaVersion : undefined;
  if (typeof version === 'number' && version > SCHEMA_VERSION) {
    throw new UsageError(
      `schema version ${version} is newer than this conform understands (${SCHEMA_VERSION})`,
      {
        place: { file: source },
        key: 'schemaVersion',
        remedy: 'use the version of conform that wrote the file, or a newer one',
      },
    );
  }
  const fault = problemIn(RESULTS, value);
  if (!fault) return withFindings(value as Results);
  const { key, problem } = fault;
  throw new UsageError(`not a results file: ${problem}`, {
    place: { file: source },
    ...(key === '' ? {} : { key }),
    remedy: 'give a results.json as `conform run` writes it',
  });
}

function withFindings(results: Results): Results {
  const services = results.services.map((service) => ({
    ...service,
    checks: service.checks.map((check) => withFinding(check, service.service)),
  }));
  return { ...results, services };
}

/** The longest text that fits in a string. */
const MOST_OCTETS = 0x1fff_ffe8;

/** Reads and validates a `results.json`. Throws UsageError (exit 2) when it cannot be read or is not one. */
export function readResults(path: string): Results {
  return validateResults(parseResults(path), path);
}

/** The id of the run in a `results.json`, whether or not the rest is valid. @throws UsageError as `readResults`. */
export function readRunId(path: string): unknown {
  const results = parseResults(path);
  return isJsonObject(results) && isJsonObject(results.run) ? results.run.id : undefined;
}

function parseResults(path: string): unknown {
  let text: string;
  try {
    text = readRegularFile(path, MOST_OCTETS).toString();
  } catch (cause) {
    throw new UsageError(`cannot be read: ${READ_FAULTS[codeOf(cause) ?? ''] ?? reasonOf(cause)}`, {
      place: { file: path },
      remedy: 'give the path of a results.json, e.g. reports/latest/results.json',
    });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`not JSON: ${reasonOf(cause)}`, {
      place: { file: path },
      remedy: 'the file may have been cut short; render the run again',
    });
  }
}

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};

/** The only reader of messages: those of journals and results from before findings become data. */
export function withFinding(check: CheckResult, service: string): CheckResult {
  const { outcome, message, finding, explainedBy } = check;
  if (outcome === 'blocked') {
    const of = explainedBy ?? EXPLAINED.exec(message)?.[1];
    return of === undefined ? check : { ...check, explainedBy: of };
  }
  const isViolated = VIOLATED.has(outcome) || (outcome === 'observed' && message.startsWith(EXPECTED));
  if (finding !== undefined || !isViolated) return check;
  return { ...check, finding: findingIn(message, service, check.decisive ?? null) };
}

const VIOLATED: ReadonlySet<CheckResult['outcome']> = new Set(['fail', 'warning', 'known']);
const EXPLAINED = /^(\S+) fails, which explains this/;
const EXPECTED = 'expected ';
const GOT = ', got ';
/** Begins a stimulus; `N` stands for a number in a signature. */
const SENT = 'for (?=[A-Z]|an? |(?:N|\\d+) more)';
const FIRST = new RegExp(` ${SENT}`);
const NEXT = new RegExp(`(?:,| and) ${SENT}`);
const MORE = /^(\d+) more$/;
/** Where signatures were cut before findings, also within a stimulus. */
export const CUT = new RegExp(`(?:,| and)? ${SENT}`);

/** A message, `expected …, got … for …, for … and for 2 more; … [ground]`, taken apart. */
export function findingIn(message: string, subject: string, evidence: string | null): Finding {
  const { said, ground } = halved(message.replace(/^known until .*?; (?=expected )/s, ''));
  const silentSince = said.endsWith(SILENT_SINCE);
  const deviation = silentSince ? said.slice(0, -SILENT_SINCE.length) : said;
  const end = { subject, evidence, ...(ground && { ground }), ...(silentSince && { silentSince }) };
  const between = deviation.indexOf(GOT);
  if (!deviation.startsWith(EXPECTED) || between === -1)
    return { expected: null, got: [{ text: deviation, stimuli: [] }], ...end };
  let more = 0;
  const got = partsIn(deviation.slice(between + GOT.length)).map((part): Got => {
    const at = FIRST.exec(part);
    const text = at === null ? part : part.slice(0, at.index);
    const stimuli = at === null ? [] : part.slice(at.index + at[0].length).split(NEXT);
    const counted = MORE.exec(stimuli.at(-1) ?? '')?.[1];
    more += Number(counted ?? 0);
    const named = counted === undefined ? stimuli : stimuli.slice(0, -1);
    return { text, stimuli: named.map((to) => ({ to })) };
  });
  return { expected: deviation.slice(EXPECTED.length, between), got, ...(more > 0 && { more }), ...end };
}

/** Each result with its stimuli; a piece without a stimulus of its own belongs to the one before it or after. */
function partsIn(came: string): readonly string[] {
  const parts: string[] = [];
  let open: string[] = [];
  for (const piece of came.split('; ')) {
    open.push(piece);
    const at = FIRST.exec(piece);
    if (at === null) continue;
    const isAnother = /(?:,| and)$/.test(piece.slice(0, at.index));
    if (isAnother) open.unshift(parts.pop() ?? '');
    parts.push(open.join('; '));
    open = [];
  }
  if (open.length > 0) parts.push([...parts.splice(-1), ...open].join('; '));
  return parts;
}

function halved(message: string): { readonly said: string; readonly ground: Finding['ground'] } {
  const at = message.endsWith(']') ? message.lastIndexOf(' [') : -1;
  if (at === -1) return { said: message, ground: undefined };
  const [ref = '', ...place] = message.slice(at + 2, -1).split(': ');
  const ground = place.length === 0 ? { ref } : { ref, place: place.join(': ') };
  return { said: message.slice(0, at), ground };
}
