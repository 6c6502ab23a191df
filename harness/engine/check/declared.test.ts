import { describe, expect, it, onTestFinished } from 'vitest';
import { shipped } from '../../config/fixtures/config-folder.ts';
import { sessionAt } from '../session/fixtures/session.ts';
import { derived, type Probe } from '../session/probe.ts';
import { type CheckDefinition, check } from './check.ts';
import { WORDS } from './fixtures/words.ts';
import { judge } from './judge.ts';

const found = derived('found', [], async () => 1);
const reading = (...needs: readonly Probe<unknown>[]) => derived('read', needs, ({ ask }) => ask(found));

// Nothing is sent, so that no check can pass.
const PLAIN = { ...WORDS, grounds: [] };

async function judged(definition: CheckDefinition): Promise<readonly string[]> {
  const { session } = sessionAt('http://127.0.0.1:9', await shipped('search'));
  onTestFinished(async () => void (await session.close()));
  const { outcome, message } = await judge(definition, session, {
    strict: false,
    signal: new AbortController().signal,
  });
  return [outcome, message.split('\n')[0] ?? ''];
}

const outcome = (asked: Probe<unknown>, uses: readonly Probe<unknown>[]) =>
  judged(check('orders.asks', { ...PLAIN, uses, judge: async ({ probe }) => void (await probe(asked)) }));

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

describe('an expectation that names no evidence', () => {
  const piece = (name: string) => derived(name, [], async () => ({ to: name, evidence: name }));
  const [one, two] = [piece('one'), piece('two')];

  it('is about all that the check uses', async () => {
    const judging = check('orders.asks', {
      ...PLAIN,
      uses: [one, two],
      judge: ({ expect: hold }) => hold().toConform('none', ({ evidence }) => evidence),
    });
    expect(await judged(judging)).toEqual(['observed', 'expected none, got one for one; two for two']);
  });

  it('is refused by the compiler if some of that is no evidence', () => {
    check('orders.asks', {
      ...PLAIN,
      uses: [one, found],
      // @ts-expect-error A number is no evidence.
      judge: ({ expect: hold }) => hold().toConform('none', () => null),
    });
  });
});
