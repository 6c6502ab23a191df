import { join } from 'node:path';
import { EXIT, UsageError } from '../../../base/exit.ts';
import { keptFile, withEntries, withoutEntries } from '../../../config/kept/kept-file.ts';
import { KNOWN } from '../../../config/kept/known.ts';
import { isDay } from '../../../config/shape/units.ts';
import { namedFiles } from '../../../config/yaml/catalogue-folder.ts';
import { didYouMean } from '../../../config/yaml/nearest.ts';
import { isFinding } from '../../../report/diagnosis/diagnose.ts';
import { signatureOf } from '../../../report/diagnosis/form.ts';
import { fits } from '../../../report/memory/known.ts';
import type { ServiceResult } from '../../../report/results/results.ts';
import { counted } from '../../../report/results/tally.ts';
import { plainLine } from '../../../report/results/words/plain.ts';
import { writeWhole } from '../../../report/whole-file.ts';
import { openAsker } from '../../ask.ts';
import { lastRun } from './last-run.ts';

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
  "for example: conform known add orders --check headers.date --reason 'mended in 3.2' --owner orders-team --until 2027-01-31";

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
      reason: await asker.answer(options.reason, said('reason', 'Why is nothing done about it for now?')),
      owner: await asker.answer(options.owner, said('owner', 'Who will?')),
      until: await asker.answer(options.until, {
        option: 'until',
        question: 'Last day on which it counts as known, such as 2027-01-31',
        unfit: (text) =>
          isDay(text) ? null : { problem: 'is not a day of the calendar', remedy: 'write it as 2027-01-31' },
      }),
      ...(options.link === undefined ? {} : { link: options.link }),
    };
    for (const { service, findings } of failing) {
      const entries = findings.map(({ id, message }) => {
        const { environment } = service;
        const where = environment === null ? {} : { environment };
        return { check: id, got: signatureOf(message), ...asked, ...where };
      });
      const { file, text } = keptFile(options.config, KNOWN.folder, service.service);
      writeWhole(file, withEntries(text, { folder: KNOWN.folder, key: 'check' }, entries));
      for (const { check } of entries) process.stdout.write(`${plainLine(`${file}: ${check}`)}\n`);
    }
  } finally {
    asker.close();
  }
  return EXIT.conforms;
}

/** `conform known prune`: takes out what passes now. Nothing is added, and what was not judged stays. */
export async function pruneKnown(services: readonly string[], options: KnownOptions): Promise<number> {
  for (const { service, known = [] } of await servicesOf(services, options)) {
    const stale = known.filter(({ state }) => state === 'stale').map(({ check, got }) => ({ check, got }));
    if (stale.length === 0) continue;
    const { file, text } = keptFile(options.config, KNOWN.folder, service);
    const { text: left, removed } = withoutEntries(text, KNOWN.folder, stale);
    if (removed === 0) continue;
    writeWhole(file, left);
    process.stdout.write(`${plainLine(`${file}: ${counted(removed, 'entry', 'entries')} removed`)}\n`);
  }
  return EXIT.conforms;
}

/** The services of the last run that are meant, once it is known that their lists can be read. */
async function servicesOf(
  wanted: readonly string[],
  { config, reports, results }: KnownOptions,
): Promise<readonly ServiceResult[]> {
  const { services } = lastRun(wanted, { reports, results });
  const files = await namedFiles(join(config, 'services'));
  await KNOWN.read(config, { files, environment: null });
  return services;
}

function said(option: string, question: string) {
  const unfit = (text: string) =>
    text.trim() === '' ? { problem: 'is empty', remedy: 'write a sentence' } : null;
  return { option, question, unfit };
}
