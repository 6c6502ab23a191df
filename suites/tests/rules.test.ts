import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ruleDates, ruleSet, rulesOf } from '../../harness/config/blocks/rules.ts';
import { notLookedAt } from '../../harness/engine/not-looked-at.ts';
import { selectChecks } from '../../harness/engine/selection/selection.ts';
import { suites } from '../catalogue.ts';
import { DECIDED } from './fixtures/decided-rules.ts';
import { FAULTLESS, MOST_WARNINGS, raisedUnderApi } from './fixtures/faultless-servers.ts';
import { configFor, judgedInTurn } from './fixtures/judged.ts';

/** A dated set never changes: users have written its name into their configs. */
const DIGESTS: Readonly<Record<string, string>> = {
  '2026-11': 'f5d003c293b53233',
};

describe('the rule sets', () => {
  it('of each date are what they were', () => {
    const digests = ruleDates().map((date) => {
      const text = JSON.stringify(rulesOf(date));
      return [date, createHash('sha256').update(text).digest('hex').slice(0, 16)];
    });
    expect(Object.fromEntries(digests)).toEqual(DIGESTS);
  });

  it('of the newest date have each check once', () => {
    const ids = suites.flatMap(({ checks }) => checks.map(({ id }) => id));
    const listed = Object.values(rulesOf(ruleDates().at(-1) ?? '')).flat();
    expect(listed.toSorted()).toEqual(ids.toSorted());
  });

  it('of the newest date have the doubtful checks where it was decided', () => {
    const newest = rulesOf(ruleDates().at(-1) ?? '');
    const lists = Object.keys(DECIDED) as (keyof typeof DECIDED)[];
    const misplaced = lists.flatMap((list) =>
      Object.keys(DECIDED[list]).filter((id) => !newest[list].includes(id)),
    );
    expect(misplaced).toEqual([]);
  });

  it('leave checks alone that no file knows: they are the own checks of a user', () => {
    expect(ruleSet('api@2026-11').has('own.check')).toBe(true);
    expect(ruleSet('api@2026-11').has('framing.two-hosts')).toBe(false);
    expect(ruleSet('all@2026-11').has('framing.two-hosts')).toBe(true);
  });
});

describe.concurrent('a faultless service', () => {
  it.each(Object.entries(FAULTLESS))('on %s conforms to the rule set api', async (_, start) => {
    const found = await raisedUnderApi(await start(), judgedInTurn);
    expect(found.filter((line) => !line.startsWith('warning'))).toEqual([]);
    expect(found.length).toBeLessThanOrEqual(MOST_WARNINGS);
  });
});

it('what a run could not tell is known beforehand, with the line that turns it on', async () => {
  const search = await configFor();
  const { safety, credentials } = search;
  const plain = {
    ...search,
    rules: 'api@2026-11',
    operations: [],
    safety: { ...safety, unsafeMethods: false, exceedRateLimit: false, findSizeLimits: false },
  };
  const selected = (config: typeof plain) =>
    selectChecks(suites, { suites: [], checks: [] }, [config]).selected(config);
  const unseen = notLookedAt(plain, selected(plain));
  expect(unseen.map(({ what, turnOn }) => [what, turnOn])).toEqual([
    ['writes', '--allow writes, against data of your own'],
    ['rate limit', '--allow limit'],
    ['second key', 'credentials.secondKey in the config of search'],
    ['operations', 'openapi: PATH'],
    ['WebSocket', 'websocket: { url: /live }'],
  ]);
  expect(unseen.every(({ checks }) => checks > 0)).toBe(true);
  const open = {
    ...plain,
    credentials: { ...credentials, second: credentials.secret },
    safety: { ...plain.safety, unsafeMethods: true, exceedRateLimit: true },
  };
  expect(notLookedAt(open, selected(open)).map(({ what }) => what)).toEqual(['operations', 'WebSocket']);
});
