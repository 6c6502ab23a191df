import { EXIT } from '../../base/exit.ts';
import { SUITES_URL } from '../../engine/selection/selection.ts';
import {
  aloneCases,
  areAllSeen,
  togetherCases,
  type Verdict,
  verdictOn,
} from '../../proof/diagnosis/benchmark.ts';
import { complains } from '../../proof/gaps.ts';
import type { ProvenCase } from '../../proof/proof.ts';
import { proveInThreads } from '../../proof/threads.ts';
import { dictionary } from '../../report/diagnosis/dictionary.ts';
import { conclude } from '../process.ts';

/**
 * `npm run benchmark:causes`: how often the diagnosis names the faults that were planted. Every defect alone, 500 pairs
 * and 500 triples at once in one service, and every defect alone to a dictionary that does not know it.
 */
const SETS = 500;
/** Drawn beside those, since now and then one fault hides another. */
const SPARE = 200;
const SEED = 20_261_122;
/** Shares that the diagnosis reaches at the least. */
const REACH = { alone: 0.97, pairs: 0.85, triples: 0.75 };

async function benchmark(): Promise<number> {
  const entries = dictionary();
  const pairs = togetherCases(entries, { size: 2, count: SETS + SPARE, seed: SEED });
  const triples = togetherCases(entries, { size: 3, count: SETS + SPARE, seed: SEED });
  const cases = [...aloneCases(), ...pairs, ...triples];
  let done = 0;
  const proven = await proveInThreads(SUITES_URL, cases, () => {
    done += 1;
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${cases.length}`);
  });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  const of = (size: number) => proven.filter(({ name }) => name.split('+').length === size);
  const alone = of(1).filter(({ findings }) => findings.some(complains));
  const judge = (all: readonly ProvenCase[]) => all.map((each) => verdictOn(each, entries, alone));
  const together = (name: string, all: readonly ProvenCase[], reach: number) => {
    const seen = all.filter((each) => areAllSeen(each, entries));
    const left = all.indexOf(seen[SETS - 1] ?? (all.at(-1) as ProvenCase)) + 1 - Math.min(SETS, seen.length);
    const what = `${name} (${left} left out, where one fault hides another)`;
    return report(what, judge(seen.slice(0, SETS)), reach);
  };
  const shares = [
    report('alone', judge(alone), REACH.alone),
    together('pairs', of(2), REACH.pairs),
    together('triples', of(3), REACH.triples),
  ];
  const without = ({ name }: ProvenCase) => entries.filter(({ defect }) => defect !== name);
  const unknown = alone.map((each) => verdictOn(each, without(each), alone));
  const sums = {
    unexplained: unknown.filter(({ named }) => named.length === 0).length,
    neighbour: unknown.filter(({ named }) => named.length === 1).length,
    several: unknown.filter(({ named }) => named.length > 1).length,
  };
  const contradicted = unknown.filter((each) => each.contradicted.length > 0);
  process.stdout.write(
    `unknown to the dictionary: ${unknown.length} cases: ${sums.unexplained} without a cause, ${sums.neighbour} put down to a neighbour, ${sums.several} to several; ${contradicted.length} contradicted\n`,
  );
  return shares.every(Boolean) && contradicted.length === 0 ? EXIT.conforms : EXIT.doesNotConform;
}

/** Prints the figures of some cases; whether they reach what they should. */
function report(what: string, verdicts: readonly Verdict[], reach: number): boolean {
  const right = verdicts.filter(({ isRight }) => isRight).length;
  const among = verdicts.filter((each) => !each.isRight && each.isAmongAlternatives).length;
  const contradicted = verdicts.filter((each) => each.contradicted.length > 0).length;
  const unexplained = verdicts.filter((each) => each.unexplained.length > 0).length;
  const share = right / verdicts.length;
  process.stdout.write(
    `${what}: ${right} of ${verdicts.length} right (${(100 * share).toFixed(1)} %, at least ${100 * reach} %), ${among} more among the alternatives; ${contradicted} contradicted; ${unexplained} with a finding unexplained\n`,
  );
  if (process.argv.includes('--wrong')) {
    for (const { planted, named } of verdicts.filter(({ isRight }) => !isRight)) {
      process.stdout.write(`  ${planted.join(' + ')} taken for ${named.join(' + ') || 'nothing'}\n`);
    }
  }
  return share >= reach && contradicted === 0;
}

await conclude(benchmark);
