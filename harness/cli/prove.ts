import { loadSuites, SUITES_URL } from '../run/catalogue.ts';
import { proofConfigs, prove } from '../run/proof.ts';
import { proofCases } from '../run/proof-cases.ts';
import { gapsIn } from '../run/proof-gaps.ts';
import { matrixText } from '../run/proof-matrix.ts';

/**
 * `npm run prove`: every check fails on the defects that it names, and none on what conforms. Arguments: names of
 * defects and variants, all without any; of some alone the gaps are not told, for most are then missing.
 */
const wanted = process.argv.slice(2);
const suites = await loadSuites(SUITES_URL);
const configs = await proofConfigs();
const all = proofCases(suites, configs);
const cases = wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name));
let done = 0;
const proven = await prove(suites, cases, configs, () => {
  done += 1;
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${cases.length}`);
});
if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
process.stdout.write(`${matrixText(proven, suites)}\n`);

if (wanted.length > 0) {
  for (const { name, tripped } of proven) {
    for (const { id, outcome, message } of tripped)
      process.stdout.write(`${name}: ${id} ${outcome}: ${message}\n`);
  }
} else {
  const gaps = gapsIn(proven, suites);
  const defects = proven.filter(({ kind }) => kind === 'defect').length;
  process.stdout.write(`${defects} defects, ${proven.length - defects} conforming, ${gaps.length} gaps\n`);
  for (const gap of gaps) process.stdout.write(`  ${gap}\n`);
  process.exitCode = gaps.length === 0 ? 0 : 1;
}
