import { readFileSync, writeFileSync } from 'node:fs';
import { EXIT, UsageError } from '../../base/exit.ts';
import { loadServices } from '../../config/load.ts';
import { loadOwnChecks, provenFile, provenIn } from '../../config/own/own-checks-block.ts';
import { moduleDigest } from '../../config/own/own-module.ts';
import { provenBy } from '../../engine/check/own-suites.ts';
import { plainLine } from '../../report/results/words/plain.ts';

/** Characters of a line. */
const LONGEST = 400;

/**
 * `conform prove`: runs the proof of each check of the user's own, and writes which of them are proven. It also names
 * the conditions of a proven check that its proof does not exercise. Sends nothing, and needs no secret.
 */
export async function prove(
  services: readonly string[],
  { config: configDir }: { readonly config: string },
): Promise<number> {
  const standIns = () => ({ forms: null });
  const loaded = await loadServices({ configDir, services, env: process.env, standIns });
  const files = new Set(
    loaded.services.flatMap(({ config }) => (config.ownChecks ?? []).map(({ path }) => path)),
  );
  if (files.size === 0)
    throw new UsageError('no service has checks of its own', {
      remedy: 'write `checks: [./house.ts]` into the file of a service; see docs/own-checks.md',
    });
  const proven: Record<string, string> = { ...provenIn(configDir) };
  const lines: string[] = [];
  let gaps = 0;
  let rules = 0;
  for (const file of files) {
    const digest = moduleDigest(file);
    for (const rule of await loadOwnChecks(file)) {
      const { gap, unexercised } = provenBy(rule, file);
      if (gap === null) proven[rule.id] = digest;
      else delete proven[rule.id];
      gaps += gap === null ? 0 : 1;
      const defects = Object.keys(rule.proof?.defects ?? {}).join(', ');
      const shown = gap ?? `fails for ${defects}, and passes without`;
      lines.push(plainLine(`${gap === null ? '✓' : '✕'} ${rule.id}: ${shown}`, LONGEST));
      if (gap === null) lines.push(...unexercised.map((each) => `    ${plainLine(each, LONGEST)}`));
      rules += 1;
    }
  }
  const path = provenFile(configDir);
  const text = `${JSON.stringify(Object.fromEntries(Object.entries(proven).toSorted()), null, 2)}\n`;
  if (textOf(path) !== text) writeFileSync(path, text);
  const summary = `${rules - gaps} of ${rules} proven, in ${path}`;
  process.stdout.write(`${[...lines, plainLine(summary, LONGEST)].join('\n')}\n`);
  return gaps === 0 ? EXIT.conforms : EXIT.doesNotConform;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
