import { join } from 'node:path';
import { EXIT, UsageError } from '../../base/exit.ts';
import { ACCEPTED, baselineFile, KNOWN, withEntries, withoutEntries } from '../../config/baseline.ts';
import { isDay } from '../../config/shape/text-forms.ts';
import { serviceFiles } from '../../config/yaml/config-place.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import { isFinding } from '../../report/diagnosis/diagnose.ts';
import { acceptable, driftOf } from '../../report/memory/drift.ts';
import { fits, signatureOfCheck } from '../../report/memory/known.ts';
import { readResults } from '../../report/results/read-results.ts';
import type { Observation, Results, ServiceResult } from '../../report/results/results.ts';
import { counted } from '../../report/results/tally.ts';
import { plainLine } from '../../report/results/words/plain.ts';
import { valueInWords } from '../../report/results/words/words.ts';
import { writeWhole } from '../../report/whole-file.ts';
import { newestReports } from '../../report/write.ts';
import { openAsker } from '../ask.ts';

interface AcceptOptions {
  readonly config: string;
  readonly reports: string;
  readonly results?: string;
  readonly yes: boolean;
}

/** An observation to pin. */
interface NewPin {
  readonly service: ServiceResult;
  readonly observation: Observation;
  /** The difference from its accepted value; null if none is accepted. */
  readonly drift: string | null;
}

/** `conform accept`: pins observations of the last run. */
export async function accept(
  service: string | undefined,
  keys: readonly string[],
  options: AcceptOptions,
): Promise<number> {
  const { services } = lastRun(service === undefined ? [] : [service], options);
  const seen = services.flatMap(({ observations }) => observations.map(({ key }) => key));
  for (const key of keys) {
    if (seen.includes(key)) continue;
    throw new UsageError(`the last run observed nothing under ${JSON.stringify(key)}`, {
      remedy: didYouMean(key, [...new Set(seen)]),
    });
  }
  const files = await serviceFiles(options.config);
  const changes: NewPin[] = [];
  for (const each of services) {
    const { environment, observations } = each;
    const listed = (await ACCEPTED.read(options.config, { files, environment })).get(each.service) ?? [];
    for (const observation of observations) {
      if (keys.length > 0 && !keys.includes(observation.key)) continue;
      const { value, varies } = observation;
      const entry = listed.find(({ key }) => key === observation.key);
      const drift = entry === undefined ? null : driftOf(entry.value, value, varies ?? 'never');
      if (entry === undefined || drift !== null) changes.push({ service: each, observation, drift });
    }
  }
  if (changes.length === 0) {
    process.stdout.write('Nothing to accept: everything is accepted already.\n');
    return EXIT.conforms;
  }
  process.stdout.write(changes.map((change) => `${lineOf(change)}\n`).join(''));
  if (!options.yes) await confirm(changes.length);
  for (const [of, some] of Map.groupBy(changes, ({ service: each }) => each)) write(of, some, options);
  process.stdout.write(`Accepted: ${counted(changes.length, 'observation')}.\n`);
  return EXIT.conforms;
}

function lineOf({ service, observation, drift }: NewPin): string {
  const { key, value } = observation;
  return plainLine(`${service.service}: ${key}: ${drift ?? `new, ${valueInWords(value, 200)}`}`);
}

/** @throws UsageError unless the user confirms at a terminal. */
async function confirm(changes: number): Promise<void> {
  const asker = openAsker('check the differences, then pass --yes');
  try {
    const answer = await asker.answer(undefined, {
      option: 'yes',
      question: `Accept ${counted(changes, 'observation')}? yes or no`,
      fallback: 'no',
      unfit: (text) =>
        ['yes', 'no'].includes(text) ? null : { problem: 'is neither', remedy: 'answer yes or no' },
    });
    if (answer === 'no') throw new UsageError('nothing was written');
  } finally {
    asker.close();
  }
}

function write(
  { service, environment }: ServiceResult,
  changes: readonly NewPin[],
  options: AcceptOptions,
): void {
  const { folder } = ACCEPTED;
  const list = baselineFile(options.config, folder, service);
  const entries = changes.map(({ observation: { key, value, varies = 'never' } }) => ({
    key,
    value: acceptable(value, varies),
    ...(environment === null ? {} : { environment }),
  }));
  writeWhole(list.file, list.with(withEntries(list.text, { folder, key: 'key' }, entries)));
}

interface RunLocation {
  /** Folder of the reports. */
  readonly reports: string;
  /** Results of an earlier run. */
  readonly results?: string | undefined;
}

/**
 * The newest run with the named services, or with all if none is named.
 *
 * @throws UsageError when it had no such service, or there is none.
 */
export function lastRun(wanted: readonly string[], { reports, results }: RunLocation): Results {
  const last = readResults(results ?? join(newestReports(reports), 'results.json'));
  const names = last.services.map(({ service }) => service);
  for (const name of wanted) {
    if (names.includes(name)) continue;
    throw new UsageError(`the last run had no service ${JSON.stringify(name)}`, {
      remedy: didYouMean(name, names),
    });
  }
  const isWanted = ({ service }: { readonly service: string }) =>
    wanted.length === 0 || wanted.includes(service);
  return { ...last, services: last.services.filter(isWanted) };
}

interface KnownOptions {
  readonly config: string;
  readonly reports: string;
  readonly results?: string;
}

interface AddOptions extends KnownOptions {
  readonly check: readonly string[];
  readonly reason?: string;
  readonly owner?: string;
  readonly until?: string;
  readonly link?: string;
}

const EXAMPLE =
  "for example: conform known add orders --check headers.date --reason 'fixed in 3.2' --owner orders-team --until 2027-01-31";

/** `conform known add`: lists failures and warnings of the last run as known. */
export async function addKnown(services: readonly string[], options: AddOptions): Promise<number> {
  const found = (await servicesOf(services, options)).map((service) => ({
    service,
    findings: service.checks.filter(
      (check) => isFinding(check) && options.check.some((pattern) => fits(pattern, check.id)),
    ),
  }));
  const failing = found.filter(({ findings }) => findings.length > 0);
  if (failing.length === 0) {
    const ids = found.flatMap(({ service }) => service.checks.filter(isFinding).map(({ id }) => id));
    throw new UsageError(`nothing that failed in the last run matches ${options.check.join(' or ')}`, {
      remedy: didYouMean(options.check[0] ?? '', [...new Set<string>(ids)]),
    });
  }
  const asker = openAsker(EXAMPLE);
  try {
    const asked = {
      reason: await asker.answer(options.reason, said('reason', 'Why is it not fixed yet?')),
      owner: await asker.answer(options.owner, said('owner', 'Who will fix it?')),
      until: await asker.answer(options.until, {
        option: 'until',
        question: 'Last day on which it counts as known, such as 2027-01-31',
        unfit: (text) =>
          isDay(text) ? null : { problem: 'is not a day of the calendar', remedy: 'write it as 2027-01-31' },
      }),
      ...(options.link === undefined ? {} : { link: options.link }),
    };
    for (const { service, findings } of failing) {
      const entries = findings.map((check) => {
        const { environment } = service;
        const where = environment === null ? {} : { environment };
        return { check: check.id, got: signatureOfCheck(check), ...asked, ...where };
      });
      const { folder } = KNOWN;
      const list = baselineFile(options.config, folder, service.service);
      writeWhole(list.file, list.with(withEntries(list.text, { folder, key: 'check' }, entries)));
      for (const { check } of entries) process.stdout.write(`${plainLine(`${list.file}: ${check}`)}\n`);
    }
  } finally {
    asker.close();
  }
  return EXIT.conforms;
}

/** `conform known prune`: removes entries that pass now. Entries that were not judged stay. */
export async function pruneKnown(services: readonly string[], options: KnownOptions): Promise<number> {
  for (const { service, known = [] } of await servicesOf(services, options)) {
    const stale = known.filter(({ state }) => state === 'stale').map(({ check, got }) => ({ check, got }));
    if (stale.length === 0) continue;
    const list = baselineFile(options.config, KNOWN.folder, service);
    const { text: left, removed } = withoutEntries(list.text, KNOWN.folder, stale);
    if (removed === 0) continue;
    writeWhole(list.file, list.with(left));
    process.stdout.write(`${plainLine(`${list.file}: ${counted(removed, 'entry', 'entries')} removed`)}\n`);
  }
  return EXIT.conforms;
}

/** The named services of the last run, after their lists have been read without a fault. */
async function servicesOf(
  wanted: readonly string[],
  { config, reports, results }: KnownOptions,
): Promise<readonly ServiceResult[]> {
  const { services } = lastRun(wanted, { reports, results });
  const files = await serviceFiles(config);
  await KNOWN.read(config, { files, environment: null });
  return services;
}

function said(option: string, question: string) {
  const unfit = (text: string) =>
    text.trim() === '' ? { problem: 'is empty', remedy: 'write a sentence' } : null;
  return { option, question, unfit };
}
