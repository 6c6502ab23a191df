import { readdirSync, readFileSync } from 'node:fs';
import { UsageError } from '../../base/exit.ts';
import { type Fault, text } from '../shape/kinds.ts';
import { didYouMean } from '../yaml/nearest.ts';

/**
 * Named, dated lists of checks, one file for each date: `config/rules/2026-11.json`. A check belongs to the team
 * that would change a line to mend its violation.
 */
const FOLDER = new URL('../../../config/rules/', import.meta.url);

/** A file of one date: each check of that time stands in it once. */
export interface DatedRules {
  /** What the service, its documents and its team own. */
  readonly api: readonly string[];
  /** The same set, too: a credential or a boundary of messages that the server or the proxy can lose. Never a failure. */
  readonly warnings: readonly string[];
  /** What the HTTP server, the proxy or the WebSocket library owns. */
  readonly server: readonly string[];
  /** What few services have, and observations that few act on: in `all` alone. */
  readonly rare: readonly string[];
}

/** `all` adds the rare checks to both others. */
const SETS = ['api', 'server', 'all'] as const;
type SetName = (typeof SETS)[number];

/** One of them at one date. */
export interface RuleSet {
  /** `api@2026-11` */
  readonly name: string;
  /** Whether a check of this id belongs to it. */
  has(id: string): boolean;
  /** Whether a violation of this check is a warning, whatever its grounds say. */
  warns(id: string): boolean;
}

const FORM = `^(${SETS.join('|')})(@\\d{4}-\\d{2})?$`;

export const RULES = text(
  'The rule set that the service is held to: `api` (what its team owns), `server` (what its HTTP server, proxy or WebSocket library owns) or `all`. With a date, such as `api@2026-11`, it never changes; without one it is the newest.',
  {
    pattern: FORM,
    expected: 'a rule set such as api, server, all or api@2026-11',
    examples: ['api@2026-11'],
    default: 'api',
    read: dated,
    def: 'rules',
  },
);

/** The dates of which there is a file, the oldest first. */
export function ruleDates(): readonly string[] {
  return readdirSync(FOLDER)
    .map((file) => file.replace(/\.json$/, ''))
    .sort();
}

/** The name of a set with the newest date. */
export function newestRules(name: SetName): string {
  return `${name}@${ruleDates().at(-1)}`;
}

/** The name of the smallest set that has a check; null for a check that is in no file. */
export function setOf(id: string): SetName | null {
  const { api, warnings, server, rare } = rulesOf(ruleDates().at(-1) ?? '');
  if (api.includes(id) || warnings.includes(id)) return 'api';
  if (server.includes(id)) return 'server';
  return rare.includes(id) ? 'all' : null;
}

/** @throws UsageError unless there is a set of this name, `api` or `api@2026-11`. */
export function datedRules(written: string): string {
  const fault: Fault = (problem, remedy) => new UsageError(problem, { remedy });
  if (!new RegExp(FORM).test(written))
    throw fault(`there is no rule set ${written}`, `write ${SETS.join(', ')} or ${newestRules('api')}`);
  return dated(written, fault);
}

/** The name with its date. */
function dated(written: string, fault: Fault): string {
  const [name = '', date] = written.split('@');
  const dates = ruleDates();
  if (date !== undefined && !dates.includes(date))
    throw fault(
      `there is no rule set ${written}`,
      didYouMean(
        written,
        dates.map((each) => `${name}@${each}`),
      ),
    );
  return `${name}@${date ?? dates.at(-1)}`;
}

const read = new Map<string, RuleSet>();

/** @param name with its date, as a config holds it. */
export function ruleSet(name: string): RuleSet {
  const known = read.get(name) ?? readSet(name);
  read.set(name, known);
  return known;
}

const files = new Map<string, DatedRules>();

/** The file of a date, read once. */
export function rulesOf(date: string): DatedRules {
  const known = files.get(date) ?? readRules(date);
  files.set(date, known);
  return known;
}

function readRules(date: string): DatedRules {
  return JSON.parse(readFileSync(new URL(`${date}.json`, FOLDER), 'utf8')) as DatedRules;
}

function readSet(name: string): RuleSet {
  const [set, date = ''] = name.split('@') as [SetName, string?];
  const { api, warnings, server, rare } = rulesOf(date);
  const warning = new Set(set === 'api' ? warnings : []);
  const ids = new Set(
    { api: [api, warnings], server: [server, warnings], all: [api, warnings, server, rare] }[set].flat(),
  );
  const known = new Set(ruleDates().flatMap((each) => Object.values(rulesOf(each)).flat()));
  // A check that is in no file is the user's own.
  return { name, has: (id) => ids.has(id) || !known.has(id), warns: (id) => warning.has(id) };
}
