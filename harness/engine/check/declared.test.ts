import { expect, it, onTestFinished } from 'vitest';
import { shipped } from '../../config/fixtures/config-folder.ts';
import { sessionAt } from '../session/fixtures/session.ts';
import { derived, type Probe } from '../session/probe.ts';
import { check } from './check.ts';
import { WORDS } from './fixtures/words.ts';
import { judge } from './judge.ts';

const found = derived('found', [], async () => 1);
const reading = (...needs: readonly Probe<unknown>[]) => derived('read', needs, ({ ask }) => ask(found));

async function outcome(asked: Probe<unknown>, uses: readonly Probe<unknown>[]): Promise<readonly string[]> {
  const { session } = sessionAt('http://127.0.0.1:9', await shipped('search'));
  onTestFinished(async () => void (await session.close()));
  const asking = check('orders.asks', {
    ...WORDS,
    // Nothing is sent, so that it cannot pass.
    grounds: [],
    uses,
    judge: async ({ probe }) => void (await probe(asked)),
  });
  const judgment = await judge(asking, session, { strict: false, signal: new AbortController().signal });
  return [judgment.outcome, judgment.message.split('\n')[0] ?? ''];
}

it('a check that asks for what it has not declared is a fault of the harness', async () => {
  const message = 'HarnessError: orders.asks asks for found, which it does not declare';
  expect(await outcome(found, [])).toEqual(['error', message]);
  expect(await outcome(found, [found])).toEqual(['observed', '']);
});

it('so is a probe that does', async () => {
  const undeclared = reading();
  const message = 'HarnessError: read asks for found, which it does not declare';
  expect(await outcome(undeclared, [undeclared])).toEqual(['error', message]);
  const declared = reading(found);
  expect(await outcome(declared, [declared])).toEqual(['observed', '']);
});
