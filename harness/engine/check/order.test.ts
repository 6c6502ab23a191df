import { describe, expect, it } from 'vitest';
import { practice } from '../../base/authority.ts';
import { shipped } from '../../config/fixtures/config-folder.ts';
import { isPutOff, type Probe, PutOff, type PutsOff, probe, risky } from '../session/probe.ts';
import type { Session } from '../session/session.ts';
import { type CheckDefinition, check, type Suite } from './check.ts';
import { silentSession } from './fixtures/silent-session.ts';
import { WORDS } from './fixtures/words.ts';
import { judgeInOrder } from './order.ts';

const search = await shipped('search');
const calm = probe('calm', async () => undefined);
const early = probe('early', async () => undefined);
const dangerous = risky(probe('dangerous', async () => undefined));
const limit = probe('limit', async () => undefined);

/** A session that has room for `early` alone before the limit was met. */
function sessionOf(exceedRateLimit: boolean): Session {
  let isMet = false;
  return {
    ...silentSession({ ...search, safety: { ...search.safety, exceedRateLimit } }),
    async ask<E>(asked: Probe<E>, _signal: AbortSignal, putsOff: PutsOff = 'nothing') {
      if (isPutOff(asked, putsOff)) return { evidence: [], failed: new PutOff(asked.name, 'last') };
      const waits = asked.name !== 'early' && asked.name !== 'limit' && !isMet;
      if (waits && putsOff === 'waiting') return { evidence: [], failed: new PutOff(asked.name, 'waiting') };
      isMet ||= asked.name === 'limit';
      return { evidence: [], value: undefined as E };
    },
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
