import { matchesGlob } from 'node:path';
import { HarnessError, UsageError } from '../../base/exit.ts';
import { reasonOf } from '../../base/thrown.ts';
import { ruleSet } from '../../config/blocks/rules.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import { type CheckDefinition, type Suite, suitesFor } from '../check/check.ts';
import { type EveryAnswer, ownSuites } from '../check/own-suites.ts';

interface SelectionOptions {
  /** Empty: all. */
  readonly suites: readonly string[];
  /** Ids or globs (`auth.*`); empty: all. */
  readonly checks: readonly string[];
}

export interface Selection {
  /** The suites of a service with the selected checks only. */
  selected(config: ServiceConfig): readonly Suite[];
  /** Number of checks of a whole run of the service. */
  catalogue(config: ServiceConfig): number;
  /** How many checks there are besides, outside its rule set. */
  outside(config: ServiceConfig): number;
}

/**
 * Checks the options against the checks of these services. A name or pattern without a match is a usage error: no run
 * tests less than it was asked to.
 */
export function selectChecks(
  all: readonly Suite[],
  options: SelectionOptions,
  configs: readonly ServiceConfig[],
): Selection {
  const names = all.map(({ name }) => name);
  for (const wanted of options.suites) {
    if (!names.includes(wanted)) throw unknown('suite', wanted, names, configs);
  }
  const suites = options.suites.length === 0 ? all : all.filter(({ name }) => options.suites.includes(name));
  const checks = [suites, ...configs.map((config) => suitesFor(suites, config))]
    .flat()
    .flatMap((each) => each.checks);
  for (const pattern of options.checks) {
    const meant = checks.some((check) => matches(check, pattern)) || mayBeFetched(pattern, checks, configs);
    if (!meant) throw unknown('check', pattern, [...new Set(checks.map(({ id }) => id))], configs);
  }
  const isInSet = (check: CheckDefinition, { rules }: ServiceConfig) =>
    ruleSet(rules).has(check.partOf ?? check.id);
  /** Who names a check by its id wants it, whatever set it is in. */
  const isChosen = (check: CheckDefinition, config: ServiceConfig) => {
    if (options.checks.length === 0) return isInSet(check, config);
    return options.checks.some(
      (pattern) => matches(check, pattern) && (PLAIN.test(pattern) || isInSet(check, config)),
    );
  };
  const isAnyChosen = configs.some((config) =>
    suitesFor(suites, config).some((each) => each.checks.some((check) => isChosen(check, config))),
  );
  const mayCome = options.checks.some((pattern) => mayBeFetched(pattern, checks, configs));
  if (!isAnyChosen && !mayCome && configs.length > 0 && checks.length > 0)
    throw outsideOfSet(options, configs);
  const checksOf = (config: ServiceConfig) => suitesFor(all, config).flatMap((suite) => suite.checks);
  return {
    selected: (config) => withChecks(suitesFor(suites, config), (check) => isChosen(check, config)),
    catalogue: (config) => checksOf(config).filter((check) => isInSet(check, config)).length,
    outside: (config) => checksOf(config).filter((check) => !isInSet(check, config)).length,
  };
}

function outsideOfSet({ suites, checks }: SelectionOptions, configs: readonly ServiceConfig[]): UsageError {
  const sets = [...new Set(configs.map(({ rules }) => rules))].join(', ');
  const wanted = [...suites, ...checks].map((each) => JSON.stringify(each)).join(', ');
  return new UsageError(`${wanted || 'the selection'} has no check in ${sets}`, {
    remedy: 'add --rules all, or name a check by its whole id',
  });
}

/** A pattern without wildcards. */
const PLAIN = /^[\w.-]+$/;

/** The id of a check with several cases selects each of them. */
function matches({ id, partOf }: CheckDefinition, pattern: string): boolean {
  if (id === pattern || partOf === pattern) return true;
  return !PLAIN.test(pattern) && matchesGlob(id, pattern);
}

/** An interaction of a pact that is not fetched yet. */
function mayBeFetched(
  pattern: string,
  checks: readonly CheckDefinition[],
  configs: readonly ServiceConfig[],
): boolean {
  const open = configs.some(({ pacts }) => pacts !== undefined && pacts.unread.length > 0);
  return open && checks.some(({ id, each }) => each !== undefined && pattern.startsWith(`${id}.`));
}

function unknown(
  kind: 'suite' | 'check',
  wanted: string,
  known: readonly string[],
  configs: readonly ServiceConfig[],
): UsageError {
  const isService = configs.some(({ service }) => service === wanted);
  return new UsageError(`no ${kind} matches ${JSON.stringify(wanted)}`, {
    remedy: isService
      ? 'name services before the options'
      : `${didYouMean(wanted, known)}; \`conform list\` shows all`,
  });
}

export function selectById(all: readonly Suite[], ids: readonly string[]): readonly Suite[] {
  const wanted = new Set(ids);
  return withChecks(all, ({ id }) => wanted.has(id));
}

function withChecks(all: readonly Suite[], wanted: (check: CheckDefinition) => boolean): readonly Suite[] {
  return all
    .map((suite) => ({ ...suite, checks: suite.checks.filter(wanted) }))
    .filter(({ checks }) => checks.length > 0);
}

export const SUITES_URL = new URL('../../../suites/catalogue.ts', import.meta.url).href;

/** Milliseconds to import suites: a module may wait forever. */
const LOAD_MS = 10_000;

/**
 * Loads the `suites` of a module, and the checks of their own that services have. @throws HarnessError if it does not
 * load or declares an id twice.
 */
export async function loadSuites(
  url: string,
  configs: readonly ServiceConfig[] = [],
): Promise<readonly Suite[]> {
  const { suites, everyAnswer } = await importSuites(url);
  const seen = new Set<string>();
  for (const { id } of suites.flatMap(({ checks }) => checks)) {
    if (seen.has(id)) throw new HarnessError(`the check id ${id} is declared twice`);
    seen.add(id);
  }
  return [...suites, ...(await ownSuites(configs, everyAnswer))];
}

/** `everyAnswer`: the record of answers, for checks of users. */
interface SuitesModule {
  readonly suites: readonly Suite[];
  readonly everyAnswer?: EveryAnswer;
}

async function importSuites(url: string): Promise<SuitesModule> {
  const patience = Promise.withResolvers<never>();
  const timer = setTimeout(() => patience.reject(new Error(`nothing after ${LOAD_MS} ms`)), LOAD_MS);
  try {
    return (await Promise.race([import(url), patience.promise])) as SuitesModule;
  } catch (cause) {
    const why = reasonOf(cause);
    throw new HarnessError(`the suites of ${url} do not load: ${why}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}
