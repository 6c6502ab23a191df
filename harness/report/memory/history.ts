import { isJsonObject } from '../../base/json-text.ts';
import type { Outcome } from '../../base/verdict.ts';
import { isFinding } from '../diagnosis/diagnose.ts';
import type { CheckResult } from '../results/check-result.ts';
import { operationsAgainst } from '../results/operation-outcome.ts';
import type { Change, PastFigures, Results, ServiceResult } from '../results/results.ts';
import { isWithoutVerdict } from '../results/run-verdict.ts';
import { tallyOf } from '../results/tally.ts';

/** What became of the checks of one service in one run. */
export interface PastService {
  readonly service: string;
  readonly environment: string | null;
  /** The provider's version; null where it is not known. */
  readonly version: string | null;
  readonly outcomes: ReadonlyMap<string, string>;
  readonly requests: number;
  readonly durationMs: number;
  /** Of checks with a failure or a warning the operations that violated them; absent in lines of older versions. */
  readonly operations?: ReadonlyMap<string, readonly string[]>;
  /** true: the run says nothing of it as a whole. */
  readonly noVerdict?: boolean;
}

export interface PastRun {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly exitCode: number;
  readonly services: readonly PastService[];
}

/** As one letter each: a line of history is short. */
const LETTERS: Readonly<Record<Outcome, string>> = {
  pass: 'p',
  observed: 'o',
  fail: 'f',
  warning: 'w',
  known: 'k',
  skipped: 's',
  blocked: 'b',
  error: 'e',
};

/** In place of the letter of a check that is well, but for what it observed, which has drifted. */
const DRIFTED = 'd';

const SHOWN_RUNS = 30;
/** Of the runs that judged a check, those that are looked at to call it flaky. */
const FLAKY_RUNS = 10;
/** Changes between passing and failing of one version, and where no version is known: a fault that was mended has two. */
const FLAKY_FLIPS = 2;
const FLAKY_FLIPS_UNKNOWN = 3;

export function pastRun({ run, services }: Results): PastRun {
  return {
    id: run.id,
    startedAt: run.startedAt,
    exitCode: run.exitCode,
    services: services.map((service) => ({
      service: service.service,
      environment: service.environment,
      version: versionOf(service),
      outcomes: lettersOf(service),
      operations: violatingOperations(service),
      requests: service.requestsSent,
      durationMs: service.durationMs,
      ...(isWithoutVerdict(service, run) && { noVerdict: true }),
    })),
  };
}

function lettersOf({ checks, observations }: ServiceResult): ReadonlyMap<string, string> {
  const drifted = new Set(observations.flatMap(({ check, drift }) => (drift === undefined ? [] : [check])));
  return new Map(
    checks.map(({ id, outcome }) => {
      const letter = LETTERS[outcome];
      return [id, drifted.has(id) && GOOD.includes(letter) ? DRIFTED : letter];
    }),
  );
}

/** Operations of one check that are kept; of more nothing is said. */
const MOST_OPERATIONS = 100;

/** The operations that violated each check, in the order of their names. */
function violatingOperations({ checks }: ServiceResult): ReadonlyMap<string, readonly string[]> {
  return new Map(
    checks.flatMap((check) => {
      const names = operationsAgainst(check);
      return names.length > 0 && names.length <= MOST_OPERATIONS ? [[check.id, names] as const] : [];
    }),
  );
}

/** Adds the history. A run that blocked, skipped or left out a check says nothing of it. */
export function withHistory(results: Results, past: readonly PastRun[], notes: readonly string[]): Results {
  const earlier = past
    .filter(({ id, startedAt }) => id !== results.run.id && startedAt <= results.run.startedAt)
    .toSorted((a, b) => a.startedAt.localeCompare(b.startedAt) || a.id.localeCompare(b.id));
  const names = new Set(results.services.map(keyOf));
  const runs = earlier.filter(({ services }) => services.some((service) => names.has(keyOf(service))));
  const stories = results.services.flatMap((service) => storiesOf(service, earlier, results.run.startedAt));
  return {
    ...results,
    services: results.services.map((service) => withDriftSince(service, earlier, results.run.startedAt)),
    history: {
      runs: runs.slice(-SHOWN_RUNS).map(({ id, startedAt, exitCode, services }) => ({
        id,
        startedAt,
        exitCode,
        failed: services
          .filter((service) => names.has(keyOf(service)))
          .flatMap(({ outcomes }) => [...outcomes.values()].filter((each) => each === 'f')).length,
        ...(services.every(({ noVerdict }) => noVerdict) && { noVerdict: true }),
      })),
      services: results.services.flatMap((service) => {
        const figures = earlierOf(service, runs).map(figuresOf).slice(-SHOWN_RUNS);
        return figures.length === 0 ? [] : [{ service: service.service, runs: figures }];
      }),
      changes: stories.flatMap(({ change }) => change ?? []),
      flaky: stories.filter(({ isFlaky }) => isFlaky).map(({ service, check }) => ({ service, check })),
      notes: [...notes],
    },
  };
}

/** What a run came to for a service. */
function figuresOf({ at, outcomes, requests, durationMs, noVerdict }: Earlier): PastFigures {
  const known = [...outcomes.values()].flatMap((letter) => OUTCOME_OF.get(letter) ?? []);
  const tally = tallyOf(known.map((outcome) => ({ outcome })));
  return { startedAt: at, outcomes: tally, requests, durationMs, ...(noVerdict && { noVerdict }) };
}

/** The version of the provider: deployed, else its image, else by its headers; null if unknown. */
function versionOf({ provider, observations }: ServiceResult): string | null {
  const seen = (wanted: string) => observations.find(({ key }) => key === wanted)?.value;
  const deployed = seen('versioning.deployed');
  if (typeof deployed === 'string') return deployed;
  if (provider.image !== undefined) return provider.image;
  const fields = seen('versioning.version-field');
  return isJsonObject(fields) && Object.keys(fields).length > 0 ? JSON.stringify(fields) : null;
}

/** The service with when each drift began, by the runs in a row that saw one. */
function withDriftSince(service: ServiceResult, past: readonly PastRun[], today: string): ServiceResult {
  const earlier = earlierOf(service, past);
  const since = (check: string): string => {
    const seen = seenOf(check, earlier);
    return seen.slice(seen.findLastIndex(({ letter }) => letter !== DRIFTED) + 1)[0]?.at ?? today;
  };
  const observations = service.observations.map((each) =>
    each.drift === undefined ? each : { ...each, driftSince: since(each.check) },
  );
  return { ...service, observations };
}

type Earlier = PastService & { readonly at: string };

function earlierOf(service: ServiceResult, past: readonly PastRun[]): readonly Earlier[] {
  return past.flatMap(({ startedAt, services }) =>
    services.filter((each) => keyOf(each) === keyOf(service)).map((each) => ({ ...each, at: startedAt })),
  );
}

/** What the runs before say of one check, those that judged it. */
function seenOf(check: string, earlier: readonly Earlier[]): PastOutcomes {
  return earlier.flatMap(({ at, version, outcomes, operations }) => {
    const letter = outcomes.get(check);
    if (letter === undefined || !JUDGED.includes(letter)) return [];
    return [{ at, version, letter, operations: operations?.get(check) }];
  });
}

interface Story {
  readonly service: string;
  readonly check: string;
  readonly change: Change | null;
  readonly isFlaky: boolean;
}

/** What one run says of one check. */
interface PastOutcome {
  readonly at: string;
  /** The operations that violated it; absent if unknown. */
  readonly operations?: readonly string[] | undefined;
  readonly version: string | null;
  readonly letter: string;
}
type PastOutcomes = readonly PastOutcome[];

function storiesOf(service: ServiceResult, past: readonly PastRun[], today: string): readonly Story[] {
  const earlier = earlierOf(service, past);
  if (earlier.length === 0) return [];
  const version = versionOf(service);
  return service.checks.map((check) => {
    const seen = seenOf(check.id, earlier);
    const now = LETTERS[check.outcome];
    return {
      service: service.service,
      check: check.id,
      change: changeOf(service.service, check, seen, today),
      isFlaky: JUDGED.includes(now) && isFlaky([...seen, { at: '', version, letter: now }]),
    };
  });
}

const GOOD = `po${DRIFTED}`;
const BAD = 'fwk';
const JUDGED = GOOD + BAD;

function changeOf(service: string, check: CheckResult, seen: PastOutcomes, today: string): Change | null {
  const now = LETTERS[check.outcome];
  // What only warned before, and fails now, is new.
  const isBad = ({ letter }: PastOutcome) =>
    now === 'f' ? letter === 'f' || letter === 'k' : BAD.includes(letter);
  const lastGood = seen.findLastIndex((each) => !isBad(each));
  const streak = seen.slice(lastGood + 1);
  const [first] = streak;
  const about = { service, check: check.id };
  const runs = streak.length;
  if (!isFinding(check)) {
    if (first === undefined || !GOOD.includes(now)) return null;
    const warned = streak.at(-1)?.letter === 'w' && { warned: true };
    return { ...about, state: 'fixed', runs, since: first.at, ...warned };
  }
  if (first) {
    const operations = newOperations(check, seen);
    // A check that failed for others says nothing of an operation that it never found before.
    if (operations.length > 0) return { ...about, state: 'new', runs: 1, since: today, operations };
    return { ...about, state: 'still failing', runs: runs + 1, since: first.at };
  }
  return { ...about, state: seen.some(isBad) ? 'back' : 'new', runs: 1, since: today };
}

/** The operations of a failing check that violated it in no earlier run; none where a run does not name its own. */
function newOperations(check: CheckResult, seen: PastOutcomes): readonly string[] {
  const violated = seen.filter(({ letter }) => BAD.includes(letter));
  const before = violated.flatMap(({ operations = [] }) => operations);
  if (violated.some(({ operations }) => operations === undefined)) return [];
  return operationsAgainst(check).filter((operation) => !before.includes(operation));
}

/** Often enough from passing to failing and back, with no known change of the provider. */
function isFlaky(seen: PastOutcomes): boolean {
  const version = seen.at(-1)?.version ?? null;
  if (version === null && seen.some((each) => each.version !== null)) return false;
  const same = seen.filter((each) => each.version === version).slice(-FLAKY_RUNS);
  const flips = same.filter(({ letter }, at) => {
    const before = same[at - 1];
    return before !== undefined && BAD.includes(letter) !== BAD.includes(before.letter);
  });
  return flips.length >= (version === null ? FLAKY_FLIPS_UNKNOWN : FLAKY_FLIPS);
}

function keyOf({ service, environment }: Pick<PastService, 'service' | 'environment'>): string {
  return JSON.stringify([service, environment]);
}

export interface Difference {
  readonly service: string;
  readonly environment: string | null;
  readonly check: string;
  /** The operation that a check judges otherwise which failed in both runs; absent for the check itself. */
  readonly operation?: string;
  readonly before: Outcome;
  readonly after: Outcome;
}

/** What two runs, both of which judged it, say differently, in the order of the later run. */
export function differences(before: PastRun, after: PastRun): readonly Difference[] {
  return after.services.flatMap(({ service, environment, outcomes, operations }) => {
    const other = before.services.find((each) => keyOf(each) === keyOf({ service, environment }));
    return [...outcomes].flatMap(([check, letter]) => {
      const [was, is] = [OUTCOME_OF.get(other?.outcomes.get(check) ?? ''), OUTCOME_OF.get(letter)];
      const isJudged = [was, is].every((each) => each !== undefined && JUDGED.includes(LETTERS[each]));
      if (was === undefined || is === undefined || !isJudged) return [];
      const about = { service, environment, check };
      if (was !== is) return [{ ...about, before: was, after: is }];
      const [old, now] = [other?.operations?.get(check), operations?.get(check)];
      if (old === undefined || now === undefined) return [];
      const only = (some: readonly string[], others: readonly string[]) =>
        some.filter((operation) => !others.includes(operation));
      return [
        ...only(now, old).map((operation) => ({ ...about, operation, before: 'pass' as const, after: is })),
        ...only(old, now).map((operation) => ({ ...about, operation, before: was, after: 'pass' as const })),
      ];
    });
  });
}

const OUTCOME_OF: ReadonlyMap<string, Outcome> = new Map([
  ...Object.entries(LETTERS).map(([outcome, letter]) => [letter, outcome as Outcome] as const),
  [DRIFTED, 'observed'] as const,
]);
