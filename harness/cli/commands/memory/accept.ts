import { join } from 'node:path';
import { EXIT, UsageError } from '../../../base/exit.ts';
import { ACCEPTED } from '../../../config/kept/accepted.ts';
import { keptFile, withEntries } from '../../../config/kept/kept-file.ts';
import { namedFiles } from '../../../config/yaml/catalogue-folder.ts';
import { didYouMean } from '../../../config/yaml/nearest.ts';
import { acceptable, driftOf } from '../../../report/memory/drift.ts';
import type { Observation, ServiceResult } from '../../../report/results/results.ts';
import { counted } from '../../../report/results/tally.ts';
import { plainLine } from '../../../report/results/words/plain.ts';
import { valueInWords } from '../../../report/results/words/words.ts';
import { writeWhole } from '../../../report/whole-file.ts';
import { openAsker } from '../../ask.ts';
import { lastRun } from './last-run.ts';

interface AcceptOptions {
  readonly config: string;
  readonly reports: string;
  readonly results?: string;
  readonly yes: boolean;
}

/** What is to be written of one observation. */
interface Change {
  readonly service: ServiceResult;
  readonly observation: Observation;
  /** How it differs from what is accepted so far; null where nothing is. */
  readonly drift: string | null;
}

/** `conform accept`: takes observations of the last run as what the service is held to from now on. */
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
  const files = await namedFiles(join(options.config, 'services'));
  const changes: Change[] = [];
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
    process.stdout.write('Nothing to accept: all of it is accepted already.\n');
    return EXIT.conforms;
  }
  process.stdout.write(changes.map((change) => `${lineOf(change)}\n`).join(''));
  if (!options.yes) await hold(changes.length);
  for (const [of, some] of Map.groupBy(changes, ({ service: each }) => each)) write(of, some, options);
  process.stdout.write(`Accepted: ${counted(changes.length, 'observation')}.\n`);
  return EXIT.conforms;
}

function lineOf({ service, observation, drift }: Change): string {
  const { key, value } = observation;
  return plainLine(`${service.service}: ${key}: ${drift ?? `new, ${valueInWords(value, 200)}`}`);
}

/** @throws UsageError unless somebody at a terminal says yes. */
async function hold(changes: number): Promise<void> {
  const asker = openAsker('look at the differences, then give --yes');
  try {
    const answer = await asker.answer(undefined, {
      option: 'yes',
      question: `Accept ${counted(changes, 'observation')}? yes or no`,
      fallback: 'no',
      unfit: (text) =>
        ['yes', 'no'].includes(text) ? null : { problem: 'is neither', remedy: 'answer yes or no' },
    });
    if (answer === 'no') throw new UsageError('nothing is written');
  } finally {
    asker.close();
  }
}

function write(
  { service, environment }: ServiceResult,
  changes: readonly Change[],
  options: AcceptOptions,
): void {
  const { folder } = ACCEPTED;
  const { file, text } = keptFile(options.config, folder, service);
  const entries = changes.map(({ observation: { key, value, varies = 'never' } }) => ({
    key,
    value: acceptable(value, varies),
    ...(environment === null ? {} : { environment }),
  }));
  writeWhole(file, withEntries(text, { folder, key: 'key' }, entries));
}
