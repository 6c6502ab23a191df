import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { EXIT, UsageError } from '../../base/exit.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import { loadSuites, SUITES_URL } from '../../engine/selection/selection.ts';
import { furtherCases, type ProofCase, proofCases } from '../../proof/cases.ts';
import { diagnosisGaps, someTogether } from '../../proof/diagnosis/benchmark.ts';
import { dictionaryGaps, dictionaryOf, dictionaryText } from '../../proof/diagnosis/dictionary.ts';
import { gapsAmong, gapsIn, isToConform, matrixText } from '../../proof/gaps.ts';
import { MESSAGES, messageGaps, messageLines } from '../../proof/messages.ts';
import { proveInThreads } from '../../proof/threads.ts';
import { DICTIONARY, dictionary } from '../../report/diagnosis/diagnose.ts';
import { conclude } from '../process.ts';

/**
 * `npm run prove`: every defect trips exactly the checks that it names, no conforming variant trips any, and the
 * diagnosis names the defects. Arguments: names of defects and variants (default: all); with names the messages are
 * printed too. `--update` saves the messages and the fault dictionary, to compare them the next time.
 */
async function proof(argv: readonly string[]): Promise<number> {
  const { names, update } = read(argv);
  const suites = await loadSuites(SUITES_URL);
  const cases = chosen(proofCases(), names);
  const further = furtherCases().filter(({ name }) => names.length === 0 || names.includes(name));
  const kept = dictionary();
  const together = names.length === 0 ? someTogether(kept) : [];
  const all = [...cases, ...further, ...together];
  let done = 0;
  const judged = await proveInThreads(SUITES_URL, all, () => {
    done += 1;
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${all.length}`);
  });
  const proven = judged.slice(0, cases.length);
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  process.stdout.write(`${matrixText(proven, suites)}\n`);
  if (names.length > 0) {
    for (const { name, findings } of proven.filter(({ kind }) => kind !== 'counterpart')) {
      for (const { id, outcome, message } of findings)
        process.stdout.write(`${name}: ${id} ${outcome}: ${message}\n`);
    }
  }
  const before = existsSync(MESSAGES) ? readFileSync(MESSAGES, 'utf8').trimEnd().split('\n') : [];
  const now = messageLines(before, proven, suites);
  const entries = dictionaryOf(judged, suites, kept);
  if (update) {
    writeFileSync(MESSAGES, `${now.join('\n')}\n`);
    writeFileSync(DICTIONARY, dictionaryText(entries));
  }
  const gaps = [
    ...(names.length > 0
      ? gapsAmong(proven, suites)
      : [...gapsIn(proven, suites), ...diagnosisGaps(judged, entries)]),
    ...(update ? [] : [...messageGaps(before, now), ...dictionaryGaps(kept, entries)]),
  ];
  const defects = proven.filter(({ kind }) => kind === 'defect').length;
  const conforming = proven.filter(isToConform).length;
  process.stdout.write(`${defects} defects, ${conforming} conforming, ${gaps.length} gaps\n`);
  for (const gap of gaps) process.stdout.write(`  ${gap}\n`);
  return gaps.length === 0 ? EXIT.conforms : EXIT.doesNotConform;
}

function read(argv: readonly string[]): { readonly names: readonly string[]; readonly update: boolean } {
  const names = argv.filter((each) => !each.startsWith('-'));
  const unknown = argv.find((each) => each.startsWith('-') && each !== '--update');
  if (unknown !== undefined) {
    throw new UsageError(`there is no option ${unknown}`, { remedy: 'the only one is --update' });
  }
  return { names, update: argv.includes('--update') };
}

/** The cases of these names, and the service without any deviation under the same settings. */
function chosen(all: readonly ProofCase[], names: readonly string[]): readonly ProofCase[] {
  for (const name of names) {
    if (name !== '' && all.some((each) => each.name === name)) continue;
    throw new UsageError(`there is no defect or variant ${JSON.stringify(name)}`, {
      remedy: didYouMean(name, [...new Set(all.map((each) => each.name))]),
    });
  }
  if (names.length === 0) return all;
  const named = all.filter(({ name }) => names.includes(name));
  return all.filter(
    (each) =>
      named.includes(each) ||
      (each.name === '' &&
        named.some(({ service, setting }) => service === each.service && setting === each.setting)),
  );
}

await conclude(() => proof(process.argv.slice(2)));
