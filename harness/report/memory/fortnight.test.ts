import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder, writeInto } from '../../base/fixtures/folder.ts';
import { ACCEPTED, withEntries } from '../../config/baseline.ts';
import type { Results } from '../results/results.ts';
import { verdictText } from '../terminal/terminal.ts';
import { acceptable } from './drift.ts';
import { addKnown, type Night, ranAt } from './fixtures/night.ts';
import { pastRun, withHistory } from './history.ts';
import { readHistory, remember } from './history-file.ts';

const FILES = {
  'services/search.yaml': `service: search
rules: all
contract: search
provider: { reference: search }
credentials: { scheme: bearer, key: example-search-key-not-secret }
`,
  'known/search.yaml': 'known: []\n',
  'accepted/search.yaml': 'accepted: []\n',
};

const TWICE = 'headers.single-fields';
const BROKEN = ['date-twice'];
const FLAKE = ['no-date'];
/** Its errors are of another media type. */
const PLAIN = 'plain-json-errors';

interface Told extends Omit<Night, 'day'> {
  /** What somebody does in the morning, with the results. */
  readonly morning?: (folder: string, results: Results) => void;
  /** The exit code, and the lines that say what is new. */
  readonly told: readonly (string | number)[];
}

function change(folder: string, file: string, write: (text: string) => string): void {
  const path = join(folder, file);
  writeFileSync(path, write(readFileSync(path, 'utf8')));
}

/** As `conform known add`. */
function listsIt(folder: string, results: Results): void {
  const entry = { check: TWICE, reason: 'mended in 3.2', owner: 'search-team', until: '2026-11-12' };
  addKnown(join(folder, 'known/search.yaml'), results, entry);
}

/** As `conform accept`. */
function acceptsAll(folder: string, { services }: Results): void {
  const entries = services.flatMap(({ observations }) =>
    observations.map(({ key, value, varies = 'never' }) => ({ key, value: acceptable(value, varies) })),
  );
  change(folder, 'accepted/search.yaml', (text) =>
    withEntries(text, { folder: ACCEPTED.folder, key: 'key' }, entries),
  );
}

const prunes = (folder: string) => writeInto(folder, { 'known/search.yaml': FILES['known/search.yaml'] });

const PASSED = '✓ search … passed';
const CONFORMS = '✓ search conforms to all@2026-11.';

/** What is said of a night on which it fails, and for how long it has. */
const failing = (how: string) => [
  1,
  '✕ search 1 failed, … passed',
  `✕ 1 A header comes twice: Date: … ${how}`,
  '✕ search does not conform.',
];

const NIGHTS: readonly Told[] = [
  { told: [0, PASSED, CONFORMS] },
  // It breaks, and stays so until somebody lists it.
  { defects: BROKEN, told: failing('new') },
  { defects: BROKEN, morning: listsIt, told: failing('2 runs, since 2 Nov') },
  { defects: BROKEN, told: [0, '✓ search 1 known, … passed', CONFORMS] },
  // A night without a verdict says nothing of what was known before.
  {
    isDown: true,
    told: [
      3,
      '⊘ search inconclusive: … blocked',
      '⊘ Inconclusive: search: the provider cannot be reached: connect ECONNREFUSED',
    ],
  },
  {
    defects: BROKEN,
    told: [
      0,
      '✓ search 1 known, … passed',
      'Known failure headers.single-fields (search): it ends in 6 days, on 2026-11-12: mend the failure,',
      CONFORMS,
    ],
  },
  // It is mended.
  {
    morning: prunes,
    told: [
      1,
      '✕ search known list out of date: … passed',
      'Fixed since 6 Nov: headers.single-fields (search)',
      '✕ The list of known failures is out of date: known/search.yaml:2: headers.single-fields is stale: it',
    ],
  },
  { morning: acceptsAll, told: [0, PASSED, CONFORMS] },
  // What varies lawfully is no drift.
  { variant: 'content-with-a-counter', told: [0, PASSED, CONFORMS] },
  {
    variant: PLAIN,
    morning: acceptsAll,
    told: [
      1,
      '✕ search drifted: … passed',
      '✕ Drifted from what is accepted: search: responses.media-types drifted: errors: without',
    ],
  },
  // It comes and goes, until another version is deployed.
  {
    variant: PLAIN,
    defects: FLAKE,
    told: [0, '✓ search 1 warning, … passed', '△ 1 A response has no Date header new', CONFORMS],
  },
  { variant: PLAIN, told: [0, PASSED, 'Fixed since 11 Nov: headers.date (search)', CONFORMS] },
  {
    variant: PLAIN,
    defects: FLAKE,
    told: [0, '✓ search 1 warning, … passed', '△ 1 A response has no Date header back, flaky', CONFORMS],
  },
  {
    variant: PLAIN,
    image: 'search:2',
    told: [0, PASSED, 'Fixed since 13 Nov: headers.date (search)', CONFORMS],
  },
];

/** Of what a run says at its end: what is new in it. */
const NEWS = /^(?:[✕✓⊘] | {2}[✕△⊘] |Fixed|Flaky|Known|\s*note: )/;

/** Without what differs from one run to the next. */
function plainly(line: string): string {
  const lasting = line.replace(/ · [\d.]+ m?s$| 127\.0\.0\.1:\d+[:;]?.*$/, '');
  return lasting
    .replaceAll(/\s+/g, ' ')
    .replace(/\d+(?= passed| nothing| blocked$)/, '…')
    .replace(/Date: "[^"]+" and "Thu,(?: 01 Jan 2026)?/, 'Date: …')
    .trim();
}

const TIMES = ['durationMs', 'waitedMs'];

function withoutTimes(results: Results): unknown {
  return JSON.parse(
    JSON.stringify(results, (name, value: unknown) => (TIMES.includes(name) ? undefined : value)),
  );
}

it('says each night of a fortnight what is new, and the same from its record', async () => {
  const folder = temporaryFolder(FILES);
  for (const [index, { told, morning, ...night }] of NIGHTS.entries()) {
    const day = `2026-11-${String(index + 1).padStart(2, '0')}`;
    const { runs, notes } = readHistory(folder);
    const ran = await ranAt(folder, { day, ...night });
    expect(withoutTimes(ran.judged), day).toEqual(withoutTimes(ran.results));
    const results = withHistory(ran.results, runs, notes);
    expect(remember(folder, pastRun(results))).toBeNull();
    const shown: Results = JSON.parse(JSON.stringify(results).replaceAll(`${folder}/`, ''));
    const said = verdictText(shown, { color: false, width: 400, verbosity: 'normal', reportsAt: null });
    const news = said.split('\n').filter((line) => NEWS.test(line));
    expect([results.run.exitCode, ...news.map(plainly)], day).toEqual(told);
    morning?.(folder, results);
  }
});
