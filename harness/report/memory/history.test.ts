import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../base/verdict.ts';
import { conformingService, resultsOf, sampleCheck } from '../fixtures/sample-results.ts';
import { renderPage } from '../html/page.ts';
import type { Change, Results } from '../results/results.ts';
import { newsInWords } from '../results/words/news.ts';
import { differences, type PastRun, type PastService, pastRun, withHistory } from './history.ts';

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  p: 'pass',
  o: 'observed',
  f: 'fail',
  w: 'warning',
  k: 'known',
  b: 'blocked',
  s: 'skipped',
};

const dayOf = (night: number) => new Date(Date.UTC(2026, 10, 1 + night, 3)).toISOString();

interface Night {
  readonly letter: string;
  readonly image?: string;
  /** What its headers say of its version. */
  readonly told?: string;
  /** What it says of its version where the config looks for it. */
  readonly deployed?: string;
  readonly environment?: string;
}

const DEPLOYED = { key: 'versioning.deployed', check: 'versioning.deployed', accepted: null };

/** The results of a night, in which one check has this outcome; none has it for a dot. */
function nightOf(night: number, { letter, image, told: version, deployed, environment }: Night): Results {
  const sample = conformingService('search');
  const outcome = OUTCOMES[letter];
  const other = sampleCheck('pass', { id: 'status.sample' });
  const checks =
    outcome === undefined ? [other] : [other, sampleCheck('pass', { id: 'headers.date', outcome })];
  const provider = { ...sample.provider, ...(image === undefined ? {} : { image }) };
  const key = 'versioning.version-field';
  const value = version === undefined ? {} : { 'x-version': version };
  const observations = [
    { key, value, check: key, accepted: null },
    ...(deployed === undefined ? [] : [{ ...DEPLOYED, value: deployed }]),
  ];
  const service = { ...sample, checks, provider, environment: environment ?? null, observations };
  return resultsOf([service], { id: `night-${night}`, startedAt: dayOf(night) });
}

function told(nights: readonly Night[]): NonNullable<Results['history']> {
  const all = nights.map((night, index) => nightOf(index, night));
  const [tonight] = all.slice(-1);
  if (!tonight) throw new Error('there is no night');
  const past: PastRun[] = all.slice(0, -1).map(pastRun);
  const { history } = withHistory(tonight, past, []);
  if (!history) throw new Error('nothing is told');
  return history;
}

const letters = (text: string): readonly Night[] => [...text].map((letter) => ({ letter }));

const CHANGES: Readonly<
  Record<string, readonly [state: Change['state'], runs: number, sinceNight: number] | null>
> = {
  f: null,
  p: null,
  pp: null,
  pf: ['new', 1, 1],
  of: ['new', 1, 1],
  '.f': ['new', 1, 1],
  sf: ['new', 1, 1],
  ff: ['still failing', 2, 0],
  pfff: ['still failing', 3, 1],
  // A night without a verdict says nothing.
  pfbbf: ['still failing', 2, 1],
  'pf.f': ['still failing', 2, 1],
  pfp: ['fixed', 1, 1],
  pffbp: ['fixed', 2, 1],
  pfpp: null,
  pfpf: ['back', 1, 3],
  pfppbf: ['back', 1, 5],
  kf: ['still failing', 2, 0],
  kp: ['fixed', 1, 0],
  pk: null,
  pw: ['new', 1, 1],
  ww: ['still failing', 2, 0],
  // What only warned fails now.
  wwf: ['new', 1, 2],
  fw: ['still failing', 2, 0],
  pfb: null,
  pfs: null,
};

describe('what the nights before say', () => {
  it.for(Object.entries(CHANGES))('of %s', ([nights, expected]) => {
    const [change] = told(letters(nights)).changes;
    expect(change ? [change.state, change.runs, change.since] : null).toEqual(
      expected && [expected[0], expected[1], dayOf(expected[2])],
    );
  });

  it.for([
    ['pf', false],
    ['pfffff', false],
    ['pfp', true],
    ['fpf', true],
    ['pbfbp', true],
    ['pfbbb', false],
    ['pfpppppppp', true],
    // The first of the two changes is more than ten judged nights ago.
    ['pfppppppppp', false],
    ['pbbbbbbbbbbbfp', true],
    ['kpk', true],
  ] as const)('%s of one version is flaky: %s', ([nights, flaky]) => {
    const same = letters(nights).map((night) => ({ ...night, image: '1' }));
    expect(told(same).flaky).toEqual(flaky ? [{ service: 'search', check: 'headers.date' }] : []);
  });

  // A fault that was mended in a version that is not known is none.
  it.for([
    ['pfp', false],
    ['fpf', false],
    ['pfpf', true],
    ['fpfp', true],
  ] as const)('%s of no known version is flaky: %s', ([nights, flaky]) => {
    expect(told(letters(nights)).flaky).toHaveLength(flaky ? 1 : 0);
  });

  it.for(['image', 'told', 'deployed'] as const)(
    'is not that a check is flaky where the %s of the provider changed',
    (by) => {
      const nights = (['1', '2', '2'] as const).map((version, index) => ({
        letter: 'pfp'[index] ?? '',
        [by]: version,
      }));
      expect(told(nights).flaky).toEqual([]);
      expect(told(nights.map((night) => ({ ...night, [by]: '2' }))).flaky).toHaveLength(1);
    },
  );

  it('holds what is told where the config says so for the version, whatever the image is', () => {
    const rebuilt = [...'pfp'].map((letter, night) => ({ letter, image: String(night), deployed: '1.4' }));
    expect(told(rebuilt).flaky).toHaveLength(1);
    const upgraded = rebuilt.map((night, index) => ({ ...night, image: 'same', deployed: String(index) }));
    expect(told(upgraded).flaky).toEqual([]);
  });

  it('calls nothing flaky of a version that is not known, where those of others are', () => {
    const nights = letters('pfpf');
    expect(told([{ letter: 'p', deployed: '1.4' }, ...nights]).flaky).toEqual([]);
    expect(told([{ letter: 'p' }, ...nights]).flaky).toHaveLength(1);
  });

  it('is about the same environment', () => {
    const nights = [{ letter: 'f', environment: 'staging' }, { letter: 'f' }, { letter: 'f' }];
    expect(told(nights).changes).toMatchObject([{ state: 'still failing', runs: 2, since: dayOf(1) }]);
  });

  it.for([
    ['o', 'd', 1],
    ['odd', 'd', 1],
    ['dod', 'd', 2],
    // A night without a verdict says nothing.
    ['odb.s', 'd', 1],
  ] as const)('of %s and a drift: since night %3$s', ([before, , since]) => {
    const night = (index: number, letter: string) => {
      const results = nightOf(index, { letter: letter === 'd' ? 'o' : letter });
      const services = results.services.map((service) => ({
        ...service,
        observations: [
          {
            key: 'a.key',
            value: 2,
            check: 'headers.date',
            accepted: 1,
            ...(letter === 'd' ? { drift: 'was 1, is 2' } : {}),
          },
        ],
      }));
      return { ...results, services };
    };
    const past = [...before].flatMap((letter, index) =>
      letter === '.' ? [] : [pastRun(night(index, letter))],
    );
    const now = withHistory(night(before.length, 'd'), past, []);
    expect(now.services[0]?.observations[0]?.driftSince).toBe(dayOf(since));
    expect(now.history?.changes).toEqual([]);
  });

  it('names the runs before, the oldest first, with their failures, and nothing that came later', () => {
    const past = [2, 0, 9].map((night) => pastRun(nightOf(night, { letter: 'f' })));
    const { history } = withHistory(nightOf(5, { letter: 'p' }), past, ['a line is lost']);
    expect(history).toMatchObject({
      runs: [
        { id: 'night-0', startedAt: dayOf(0), failed: 1 },
        { id: 'night-2', startedAt: dayOf(2), failed: 1 },
      ],
      changes: [{ state: 'fixed', runs: 2 }],
      notes: ['a line is lost'],
    });
  });
});

describe('what the nights before say of an operation', () => {
  const night = (at: number, ...failing: readonly string[]) => {
    const subjects = ['GET /a', 'GET /b', 'GET /c'].map((subject) => ({
      subject,
      outcome: failing.includes(subject) ? ('fail' as const) : ('pass' as const),
      evidence: [],
    }));
    const check = sampleCheck('fail', { id: 'operations.schema', subjects });
    const service = { ...conformingService('search'), environment: null, checks: [check] };
    return resultsOf([service], { id: `night-${at}`, startedAt: dayOf(at) });
  };
  const last = (...nights: readonly (readonly string[])[]) => {
    const all = nights.map((failing, at) => night(at, ...failing));
    const tonight = all.at(-1);
    if (tonight === undefined) throw new Error('there is no night');
    return withHistory(tonight, all.slice(0, -1).map(pastRun), []);
  };

  it('calls one new of a check that failed for others before', () => {
    expect(last(['GET /a'], ['GET /a', 'GET /b']).history?.changes).toMatchObject([
      { state: 'new', runs: 1, since: dayOf(1), operations: ['GET /b'] },
    ]);
    expect(last(['GET /a', 'GET /b'], ['GET /a'], ['GET /a', 'GET /b']).history?.changes).toMatchObject([
      { state: 'still failing', runs: 3 },
    ]);
  });

  it('tells nothing of it where an earlier run names no operations', () => {
    const { operations: _, ...older } = pastRun(night(0, 'GET /a')).services[0] as PastService;
    const past = { ...pastRun(night(0, 'GET /a')), services: [older] };
    const { history } = withHistory(night(1, 'GET /b'), [past], []);
    expect(history?.changes).toMatchObject([{ state: 'still failing' }]);
  });

  it('is named in the news, on the page and in the difference of two runs', () => {
    const results = last(['GET /a', 'GET /c'], ['GET /a', 'GET /b']);
    expect(newsInWords(results)).toContain('New: operations.schema for GET /b (search)');
    expect(renderPage(results)).toContain('new for GET /b');
    const [before, after] = [pastRun(night(0, 'GET /a', 'GET /c')), pastRun(night(1, 'GET /a', 'GET /b'))];
    expect(differences(before, after)).toMatchObject([
      { check: 'operations.schema', operation: 'GET /b', before: 'pass', after: 'fail' },
      { check: 'operations.schema', operation: 'GET /c', before: 'fail', after: 'pass' },
    ]);
  });
});
