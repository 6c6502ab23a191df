import { describe, expect, it } from 'vitest';
import { practice } from '../../base/authority.ts';
import { shipped } from '../../config/fixtures/config-folder.ts';
import { derived, lastOfAll, type Probe, probe, risky } from '../session/probe.ts';
import type { Session } from '../session/session.ts';
import { type CheckDefinition, check, type Suite } from './check.ts';
import { silentSession } from './fixtures/silent-session.ts';
import { WORDS } from './fixtures/words.ts';
import { judgeInOrder } from './plan.ts';

const search = await shipped('search');
const calm = probe('calm', async () => undefined);
const early = probe('early', async () => undefined);
const sent: string[] = [];
const dangerous = risky(probe('dangerous', async () => undefined));
const limit = probe('limit', async () => undefined);

/** A session that has room for `early` alone before the limit was met. */
function sessionOf(exceedRateLimit: boolean): Session {
  let isMet = false;
  return {
    ...silentSession({ ...search, safety: { ...search.safety, exceedRateLimit } }),
    async ask<E>(asked: Probe<E>) {
      isMet ||= asked.name === 'limit';
      sent.push(asked.name);
      return { evidence: [], value: undefined as E };
    },
    hasRoomFor: async (probes) => isMet || probes.every(({ name }) => name === 'early'),
  };
}

const asking = (id: string, ...probes: readonly Probe<void>[]): CheckDefinition =>
  check(id, {
    ...WORDS,
    grounds: [practice('a test')],
    uses: probes,
    judge: async (context) => {
      for (const each of probes) await context.probe(each);
    },
  });

const suite = (name: string, checks: readonly CheckDefinition[]): Suite => ({ name, title: name, checks });
const first = suite('first', [
  asking('first.early', early),
  asking('first.dangerous', dangerous),
  asking('first.calm', calm),
]);
const limits: Suite = { ...suite('limits', [asking('limits.exact', limit)]), exhausts: true };

async function order(suites: readonly Suite[], exceedRateLimit = true): Promise<readonly string[]> {
  const signal = new AbortController().signal;
  const ids: string[] = [];
  const options = () => ({ strict: false, signal });
  for await (const { check: judged } of judgeInOrder(suites, sessionOf(exceedRateLimit), { options }))
    ids.push(judged.id);
  return ids;
}

describe('what would have to wait for quota', () => {
  it('is judged behind the suite that meets the limit, and what is risky behind it', async () => {
    expect(await order([first, limits])).toEqual([
      'first.early',
      'limits.exact',
      'first.calm',
      'first.dangerous',
    ]);
  });

  it.each<[string, readonly Suite[], boolean]>([
    ['none comes', [first], true],
    ['the limit may not be exceeded', [first, limits], false],
  ])('waits in its place where %s', async (_, suites, mayExceed) => {
    const ids = await order(suites, mayExceed);
    expect(ids.slice(0, 3)).toEqual(['first.early', 'first.calm', 'first.dangerous']);
  });
});

describe('what is late', () => {
  const needing = derived('needing', [early, dangerous], async () => undefined);
  const end = lastOfAll(
    calm,
    derived('end', [calm], async () => undefined),
  );
  const some = suite('some', [
    asking('some.end', end),
    asking('some.needing', needing),
    asking('some.limit', limit),
  ]);

  it('is judged after everything else, though what it needs is sent in its turn', async () => {
    sent.splice(0);
    expect(await order([some])).toEqual(['some.limit', 'some.needing', 'some.end']);
    expect(sent).toEqual(['calm', 'early', 'limit', 'needing', 'end']);
  });
});
