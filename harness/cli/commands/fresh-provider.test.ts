import { describe, expect, inject, it } from 'vitest';
import { suites } from '../../../suites/catalogue.ts';
import { MAIN } from '../../engine/fixtures/built-program.ts';
import type { Probe } from '../../engine/session/probe.ts';
import {
  example,
  expectNothingLeft,
  messages,
  release,
  SHIPS,
  type Shipped,
  verdictOf,
  WITH_KEYS,
} from '../fixtures/release.ts';

/** A provider that is started anew for each suite, where the config asks for it. */

const SUITES = ['--partial', '--suite', 'auth', 'json', 'versioning'] as const;
const { image, none } = inject('containers');
/** Ids of the checks that judge what all suites were told. */
const OVER_RECORD: ReadonlySet<string> = new Set(
  suites.flatMap(({ checks }) =>
    checks.filter(({ uses }) => Array.isArray(uses) && uses.some(isOverRecord)).map(({ id }) => id),
  ),
);

function isOverRecord({ place }: Probe<unknown>): boolean {
  return place === 'record';
}

const starts = ({ log }: Shipped, line: string) => log().split(line).length - 1;
const outcomesOf = ({ results }: Shipped) =>
  results.services.flatMap(({ checks }) => checks.map(({ id, outcome }) => `${id} ${outcome}`));
const suitesWith = ({ results }: Shipped, outcome: string) => [
  ...new Set(
    results.services.flatMap(({ checks }) =>
      checks.filter((check) => check.outcome === outcome).map(({ suite }) => suite),
    ),
  ),
];

describe.concurrent('a command that is fresh for each suite', () => {
  const serve = [process.execPath, MAIN, 'serve', 'search', '--port', `${'$'}{PORT}`];
  const environment = (run: readonly string[] | string, fresh: boolean) => `  release:
    extends: staging
    provider:
      command: { run: ${JSON.stringify(run)}, cwd: ../.., ${WITH_KEYS}, url: "http://127.0.0.1:${'$'}{PORT}", freshForEachSuite: ${fresh} }
`;

  it('is started once for each, and judged as one that is not', async () => {
    const fresh = await release('', { environment: environment(serve, true), args: SUITES });
    const shared = await release('', { environment: environment(serve, false), args: SUITES });
    expect(verdictOf(fresh)).toEqual(SHIPS);
    expect([starts(fresh, 'Ctrl-C ends it'), starts(shared, 'Ctrl-C ends it')]).toEqual([3, 1]);
    expect(outcomesOf(fresh)).toEqual(outcomesOf(shared));
    // Each suite has asked for itself; only the rules over the record judge what others were told.
    const sent = ({ results }: Shipped) => results.services[0]?.requestsSent ?? 0;
    expect(sent(fresh)).toBeGreaterThan(sent(shared));
    const kept = fresh.results.services[0]?.checks.flatMap(({ id, suite, evidence }) =>
      OVER_RECORD.has(id) ? [] : evidence.map((each) => [each, suite] as const),
    );
    for (const suites of Map.groupBy(kept ?? [], ([id]) => id).values()) {
      expect(new Set(suites.map(([, suite]) => suite)).size).toBe(1);
    }
  });

  it('blocks what is left when it does not start anew', async () => {
    const once = `test -e started && { echo the index is locked; exit 4; }; touch started; exec ${serve.join(' ')}`;
    const shipped = await release('', { environment: environment(once, true), args: SUITES });
    expect(shipped.code).toBe(3);
    const why =
      'its provider did not start anew: the command exited with code 4 before it was ready; its last lines: the index is locked';
    expect(shipped.results.services[0]?.trouble).toBe(why);
    expect(new Set(messages(shipped, 'blocked'))).toEqual(new Set([why]));
    const [first] = SUITES.slice(2);
    expect(suitesWith(shipped, 'pass')).toEqual([first]);
    expect(shipped.log()).toMatch(/Ctrl-C ends it(?:.|\n)*the index is locked/);
  });
});

describe.skipIf(none !== null)(
  `a container that is fresh for each suite${none === null ? '' : ` (${none})`}`,
  { concurrent: true },
  () => {
    const environment = (env: object) =>
      example({ ...env }).replace(
        /( +)limits:/,
        (line, indent) => `${indent}freshForEachSuite: true\n${line}`,
      );

    it('is started once for each, and nothing of them is left', async () => {
      const shipped = await release(image, { environment: environment({}), args: SUITES });
      expect(verdictOf(shipped)).toEqual(SHIPS);
      expect(starts(shipped, 'listening on 8080')).toBe(3);
      await expectNothingLeft(shipped);
    });

    it('that dies in one suite costs the others nothing, and does not ship', async () => {
      const shipped = await release(image, {
        environment: environment({ FAULT: 'die:20' }),
        args: ['--partial', '--suite', 'auth', 'versioning'],
      });
      expect(shipped.code).not.toBe(0);
      expect(shipped.results.services[0]?.trouble).toMatch(
        /container exited with code 9; its last lines: .*the index is corrupt/,
      );
      expect(suitesWith(shipped, 'blocked')).toEqual(['auth']);
      expect(suitesWith(shipped, 'pass')).toContain('versioning');
      await expectNothingLeft(shipped);
    });
  },
);
