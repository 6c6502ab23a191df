import { readFileSync } from 'node:fs';
import { filledIn } from '../../base/finding.ts';
import type { CheckResult } from '../results/check-result.ts';
import { cheapestCover } from './cover.ts';
import { distinctParts, formOf, likeness, type PartForm, partsOf, type ResultPart } from './form.ts';

/** The parts of a check that a diagnosis looks at. */
export type DiagnosedCheck = Pick<CheckResult, 'id' | 'outcome' | 'finding' | 'explainedBy'>;

/** One fault of a service, and what it explains. */
export interface Diagnosis {
  readonly entry: Entry;
  readonly sentence: string;
  /** What would explain as well what this alone explains. */
  readonly rivals: readonly Entry[];
  /** Their sentences. */
  readonly alternatives: readonly string[];
  /** `high`: no other fault explains any of it; `medium`: another explains a part; `low`: rivals explain all of it. */
  readonly confidence: 'high' | 'medium' | 'low';
  /** Ids of the findings that it explains, the one that shows it best first. */
  readonly checks: readonly [string, ...string[]];
}

/** The result of one stimulus, by one check. */
interface Symptom {
  readonly check: string;
  readonly form: PartForm;
}

/** A check that was violated, and blocked since another finding explains it. */
interface BlockedEcho {
  readonly check: string;
  /** What explains it. */
  readonly of: string;
}

/** An entry of the dictionary, held against a run. */
interface SuspectedFault {
  readonly entry: Entry;
  /** Numbers of symptoms. */
  readonly explains: ReadonlySet<number>;
  readonly cost: number;
  /** From 0, exactly what the proof has seen, to 1. */
  readonly misfit: number;
}

/** What the worst fit costs beside a fault that is named: two faults are never cheaper than one. */
const MISFIT_COST = 0.9;
/** Of a certain finding whose check was not judged; half as much as of one that says something else. */
const NOT_JUDGED = 0.2;
/** Of a possible finding that was judged and passed. */
const NOT_SEEN = 0.05;
/** A cause that fits worse is of another fault. */
const GOOD_FIT = 0.2;
const EQUAL = 0.02;

/**
 * The fewest entries that explain all findings, as far as they say more than these: a passed check contradicts an entry
 * that is certain of it, and what fits badly, or only says again what one finding says, is not named.
 */
export function diagnose(checks: readonly DiagnosedCheck[], entries: readonly Entry[]): readonly Diagnosis[] {
  const findings = new RunFindings(checks, entries);
  const suspects = entries.flatMap((entry) => findings.suspect(entry) ?? []);
  const named = cheapestCover(suspects);
  const helping = named.filter((suspect) => suspect.misfit < GOOD_FIT && findings.isMoreThanOne(suspect));
  return helping.flatMap((suspect) => {
    const [leading, ...rest] = findings.explainedBy(suspect);
    if (leading === undefined) return [];
    const said = ({ entry }: SuspectedFault) => filledIn(entry.sentence, leading.finding);
    const neighbours = neighboursOf(suspect, named, suspects);
    const rivals = rivalsAmong(neighbours, suspect, named);
    return {
      entry: suspect.entry,
      sentence: said(suspect),
      rivals: rivals.map(({ entry }) => entry),
      alternatives: rivals.map(said),
      confidence: rivals.length > 0 ? 'low' : neighbours.length > 0 ? 'medium' : 'high',
      checks: [leading.id, ...rest.map(({ id }) => id)],
    };
  });
}

/** Those of another cause that explain some of it as well, and are not named. */
function neighboursOf(
  { entry, explains }: SuspectedFault,
  named: readonly SuspectedFault[],
  suspects: readonly SuspectedFault[],
): readonly SuspectedFault[] {
  return suspects.filter(
    (each) =>
      !named.includes(each) &&
      each.entry.sentence !== entry.sentence &&
      each.misfit < GOOD_FIT &&
      !each.explains.isDisjointFrom(explains),
  );
}

/** The neighbours that fit as well and explain all that a suspect explains and no other that is named. */
function rivalsAmong(
  neighbours: readonly SuspectedFault[],
  suspect: SuspectedFault,
  named: readonly SuspectedFault[],
): readonly SuspectedFault[] {
  const others = named.filter((each) => each !== suspect);
  const alone = [...suspect.explains].filter((item) => !others.some(({ explains }) => explains.has(item)));
  return neighbours.filter(
    ({ cost, explains }) => cost < suspect.cost + EQUAL && alone.every((item) => explains.has(item)),
  );
}

/** What one run has found, by the ids of the dictionary. */
class RunFindings {
  readonly #found: ReadonlyMap<string, readonly DiagnosedCheck[]>;
  readonly #passed: ReadonlySet<string>;
  readonly #symptoms: readonly Symptom[];
  readonly #echoes: readonly BlockedEcho[];

  constructor(checks: readonly DiagnosedCheck[], entries: readonly Entry[]) {
    const known = new Set(entries.flatMap(({ certain, possible }) => [certain, possible].flatMap(idsOf)));
    const byId = Map.groupBy(checks, ({ id }) => knownId(id, known));
    const found = [...byId].map(([id, all]) => [id, all.filter(isFinding)] as const);
    this.#found = new Map(found.filter(([, all]) => all.length > 0));
    const idOf = (id: string) => knownId(id, known);
    this.#echoes = echoesIn(checks).map(({ check, of }) => ({ check: idOf(check), of: idOf(of) }));
    this.#passed = new Set(
      [...byId]
        .filter(([id, all]) => !this.#found.has(id) && all.some(({ outcome }) => outcome === 'pass'))
        .map(([id]) => id),
    );
    this.#symptoms = [...this.#found].flatMap(([check, all]) =>
      distinctParts(all.flatMap(({ finding }) => (finding === undefined ? [] : partsOf(finding))))
        .flatMap((part) => eachOf(formOf(part)))
        .map((form) => ({ check, form })),
    );
  }

  /** Null where the entry explains nothing, or is contradicted. */
  suspect(entry: Entry): SuspectedFault | null {
    const { certain, possible } = entry;
    if (idsOf(certain).some((id) => this.#passed.has(id)) || !this.#isCalledSo(entry)) return null;
    const seen = formsOf(entry);
    const alike = this.#symptoms.map(({ check, form }) => closest(form, seen.get(check) ?? []));
    const explains = new Set(alike.flatMap((each, at) => (each > 0 ? at : [])));
    if (explains.size === 0 || !this.#isShown(entry, explains)) return null;
    const misfits = [
      ...idsOf(certain).map((id) => {
        if (this.#echoes.some(({ check }) => check === id)) return 0;
        return this.#found.has(id) ? 1 - this.#best(id, alike) : NOT_JUDGED;
      }),
      // A check that was not judged says nothing of possible findings.
      ...idsOf(possible)
        .filter((id) => this.#passed.has(id) || this.#found.has(id))
        .map((id) => (this.#passed.has(id) ? NOT_SEEN : 0)),
      // Another fault would have to be behind an echo of what it explains, and that fault may explain all of it.
      ...this.#echoes
        .filter(({ of }) => [...explains].some((at) => this.#symptoms[at]?.check === of))
        .flatMap(({ check }) => (idsOf(certain).includes(check) || idsOf(possible).includes(check) ? [] : 1)),
    ];
    const misfit = misfits.reduce((sum, each) => sum + each, 0) / misfits.length;
    return { entry, explains, misfit, cost: 1 + MISFIT_COST * misfit };
  }

  /** Not, where checks that it takes another way of calling to judge were not judged. */
  #isCalledSo({ setting, own }: Entry): boolean {
    return setting === undefined || own.every((id) => this.#found.has(id) || this.#passed.has(id));
  }

  /** Whether a check of its own has found the fault; if none was judged, most of the others. */
  #isShown({ own, certain }: Entry, explained: ReadonlySet<number>): boolean {
    const shown = new Set([...explained].map((at) => this.#symptoms[at]?.check));
    if (own.some((id) => shown.has(id))) return true;
    const others = idsOf(certain).filter((id) => !own.includes(id));
    const isJudged = own.some((id) => this.#found.has(id) || this.#passed.has(id));
    const seen = others.filter((id) => shown.has(id)).length;
    return !isJudged && seen > 1 && 2 * seen > others.length;
  }

  /** Whether it joins findings, or says what the number of one finding means. */
  isMoreThanOne(suspect: SuspectedFault): boolean {
    const isTelling = [...suspect.explains].some((at) => this.#symptoms[at]?.form.isTelling);
    // Nothing in a number shows that the service is called in another way than usual.
    return (isTelling && suspect.entry.setting === undefined) || this.explainedBy(suspect).length > 1;
  }

  /** The findings that a suspect explains; those that show it for its own reason come first. */
  explainedBy({ entry: { own }, explains }: SuspectedFault): readonly DiagnosedCheck[] {
    const ids = new Set([...explains].map((at) => this.#symptoms[at]?.check ?? ''));
    const order = [...own.filter((id) => ids.has(id)), ...[...ids].filter((id) => !own.includes(id))];
    return order.flatMap((id) => this.#found.get(id) ?? []);
  }

  #best(id: string, alike: readonly number[]): number {
    return Math.max(0, ...alike.filter((_, at) => this.#symptoms[at]?.check === id));
  }
}

export function isFinding({ outcome }: Pick<DiagnosedCheck, 'outcome'>): boolean {
  return outcome === 'fail' || outcome === 'warning';
}

/** The checks that were blocked since they rest on one that is violated. */
export function echoesIn(checks: readonly DiagnosedCheck[]): readonly BlockedEcho[] {
  const found = new Set(checks.filter(isFinding).map(({ id }) => id));
  return checks.flatMap(({ id, outcome, explainedBy: of }) =>
    outcome === 'blocked' && of !== undefined && found.has(of) ? { check: id, of } : [],
  );
}

/** The id that the dictionary has for it: a check of one operation, or one interaction, is known without its name. */
function knownId(id: string, known: ReadonlySet<string>): string {
  for (let part = id; part !== ''; part = part.slice(0, Math.max(0, part.lastIndexOf('.')))) {
    if (known.has(part)) return part;
  }
  return id;
}

function idsOf(seen: PartsByCheck = {}): readonly string[] {
  return Object.keys(seen);
}

/** A form for each thing that was sent. */
function eachOf(form: PartForm): readonly PartForm[] {
  if (form.stimuli.length < 2) return [{ ...form, isCut: false }];
  return form.stimuli.map((stimulus) => ({ ...form, stimuli: [stimulus], isCut: false }));
}

function closest(form: PartForm, forms: readonly PartForm[]): number {
  return Math.max(0, ...forms.map((each) => likeness(form, each)));
}

const read = new WeakMap<Entry, ReadonlyMap<string, readonly PartForm[]>>();

/** The forms of what an entry has caused, by check; read once. */
function formsOf(entry: Entry): ReadonlyMap<string, readonly PartForm[]> {
  const all = { ...entry.possible, ...entry.certain };
  const forms = read.get(entry) ?? new Map(Object.entries(all).map(([id, parts]) => [id, parts.map(formOf)]));
  read.set(entry, forms);
  return forms;
}

/** Results, `partsOf` findings, by the id of the check that found them; none of an echo of another check. */
export type PartsByCheck = Readonly<Record<string, readonly ResultPart[]>>;

/** What one fault does to a service, as the proof has seen it. */
export interface Entry {
  /** Name of the defect of the reference providers. */
  readonly defect: string;
  /** The fault in one sentence, with places for values. */
  readonly sentence: string;
  /** The reference providers that can have it. */
  readonly services: readonly string[];
  /** The services and the settings of the proof under which it was seen: `search, bearer`. */
  readonly under: readonly string[];
  /** Set where it takes another way of calling than the usual one: then all checks of its own are judged. */
  readonly setting?: string;
  /** Ids of the checks that notice it for its own reason, and not along with others. */
  readonly own: readonly string[];
  /** Findings that it caused wherever the check was judged: the results, by id. */
  readonly certain: PartsByCheck;
  /** Findings that it caused only sometimes. */
  readonly possible?: PartsByCheck;
}

/** Where the proof keeps it, a line for each defect. */
export const DICTIONARY = new URL('./dictionary.json', import.meta.url);

let known: readonly Entry[] | undefined;

/** The fault dictionary that the proof has written (`npm run prove -- --update`). */
export function dictionary(): readonly Entry[] {
  known ??= JSON.parse(readFileSync(DICTIONARY, 'utf8')) as readonly Entry[];
  return known;
}
