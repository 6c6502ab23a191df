import { describe, expect, it } from 'vitest';
import { UsageError } from '../../base/exit.ts';
import { shipped } from '../../config/fixtures/config-folder.ts';
import { check, checkEach, type Suite, suite } from '../check/check.ts';
import { WORDS } from '../check/fixtures/words.ts';
import { selectById, selectChecks } from './selection.ts';

const common = { ...WORDS, grounds: [], judge: () => {} };
const ALL: readonly Suite[] = [
  suite('one', 'One', [check('one.a', common), check('one.b', common)]),
  suite('two', 'Two', [
    checkEach('two.each', {
      ...common,
      needs: [({ pacts }) => pacts?.unread[0] ?? null],
      cases: ({ service }) =>
        service === 'messaging' ? [] : ['x', 'y'].map((key) => ({ key, title: `does ${key}`, known: null })),
    }),
  ]),
];

const [search, messaging] = [await shipped('search'), await shipped('messaging')];

function selected(options: { suites?: string[]; checks?: string[] }, config = search): readonly string[] {
  const selection = selectChecks(ALL, { suites: [], checks: [], ...options }, [search, messaging]);
  return selection.selected(config).flatMap(({ checks }) => checks.map(({ id }) => id));
}

describe('a selection', () => {
  it('is everything when nothing is asked for', () => {
    expect(selected({})).toEqual(['one.a', 'one.b', 'two.each.x', 'two.each.y']);
  });

  it('names suites, and checks by pattern', () => {
    expect(selected({ suites: ['one'] })).toEqual(['one.a', 'one.b']);
    expect(selected({ checks: ['*.a', 'two.each.y'] })).toEqual(['one.a', 'two.each.y']);
  });

  it('takes the id of a check that is made several times for all of them', () => {
    expect(selected({ checks: ['two.each'] })).toEqual(['two.each.x', 'two.each.y']);
    expect(selected({ checks: ['two.each'] }, messaging)).toEqual(['two.each']);
  });

  it('may hold for one of the services alone', () => {
    expect(selected({ checks: ['two.each.x'] }, messaging)).toEqual([]);
  });

  it.each([{ suites: ['three'] }, { checks: ['one.c'] }, { checks: ['two.each.z'] }])(
    'that matches nothing is refused: %o',
    (options) => {
      expect(() => selected(options)).toThrow(UsageError);
    },
  );

  it('may name what is fetched later', () => {
    const { pacts } = search;
    if (!pacts) throw new Error('search has no pact');
    const open = { ...search, pacts: { ...pacts, unread: ['fetched when a run starts'] } };
    const selection = selectChecks(ALL, { suites: [], checks: ['two.each.z'] }, [open]);
    expect(selection.selected(open)).toEqual([]);
    expect(() => selectChecks(ALL, { suites: [], checks: ['one.z'] }, [open])).toThrow(UsageError);
  });
});

describe('a selection by id', () => {
  it('leaves out suites that hold none of them', () => {
    expect(selectById(ALL, ['one.b']).map(({ name, checks }) => [name, checks.map(({ id }) => id)])).toEqual([
      ['one', ['one.b']],
    ]);
  });
});
