import { describe, expect, it } from 'vitest';
import { clause, practice } from '../../base/authority.ts';
import { shipped } from '../../config/fixtures/config-folder.ts';
import type { ResponseView } from '../../wire/exchange/response.ts';
import { derived } from '../session/probe.ts';
import { type CheckDefinition, check, checkEach, given, suite, suitesFor } from './check.ts';
import { JudgedSubjects } from './context.ts';
import { silentSession } from './fixtures/silent-session.ts';
import { WORDS } from './fixtures/words.ts';
import {
  AS_SENT,
  ENCODED,
  FRAMED,
  IN_CONTENT,
  IN_JSON,
  type ResponseReading,
  SEARCHED,
  THROUGHOUT,
  THROUGHOUT_JSON,
} from './hold.ts';
import { judge } from './judge.ts';

const config = { ...(await shipped('search')), facts: {} };
const session = silentSession(config);
const signal = new AbortController().signal;
const judged = (judgment: CheckDefinition['judge'], at = session, grounds = [practice('habit')]) =>
  judge(check('orders.sample', { ...WORDS, grounds, judge: judgment }), at, { strict: false, signal });

describe('the faults of another tool', () => {
  const told = async (count: number, remark = '') => {
    const faults = Array.from({ length: count }, (_, at) => `fault ${at + 1}`);
    return (await judged(({ reported }) => reported(faults, remark, 'e1'))).finding;
  };

  it('are listed, five of them, and the others counted', async () => {
    expect((await told(5))?.got.map(({ text }) => text)).toEqual([
      'fault 1',
      'fault 2',
      'fault 3',
      'fault 4',
      'fault 5',
    ]);
    expect(await told(5)).not.toHaveProperty('more');
    expect(await told(6)).toMatchObject({ expected: null, more: 1, evidence: 'e1' });
    expect((await told(6))?.got).toHaveLength(5);
  });

  it('have a remark, if there is one', async () => {
    expect(await told(1, 'as a draft')).toMatchObject({ remark: 'as a draft' });
    expect(await told(1)).not.toHaveProperty('remark');
  });
});

describe('a documented status', () => {
  const codes = { missingCredential: [401, 'any'], unknownPath: 404, wrongMethod: 'any' };
  const at = silentSession({ ...config, facts: { 'errors.codes': { value: codes, origin: 'a.yaml:1' } } });

  it.each([
    ['missingCredential', [401]],
    ['unknownPath', [404]],
    ['wrongMethod', null],
    ['wrongMediaType', null],
  ])('of %s is %j', async (condition, statuses) => {
    let found: unknown;
    await judged(({ documentedStatus, note }) => {
      found = documentedStatus(condition as Parameters<typeof documentedStatus>[0]);
      note('');
    }, at);
    expect(found).toEqual(statuses);
  });
});

it('notes of a check are its message, one after the other', async () => {
  const observing = (...notes: readonly string[]) =>
    judged(
      ({ note }) => {
        for (const each of notes) note(each);
      },
      session,
      [clause('errors.shape')],
    );
  expect((await observing('a', '', 'b')).message).toBe('a b');
  expect((await observing('', '')).message).toBe('');
});

it.each<readonly [string, ResponseReading, boolean]>([
  ['content', IN_CONTENT, false],
  ['JSON', IN_JSON, false],
  ['octets as sent', AS_SENT, false],
  ['any place', THROUGHOUT, true],
  ['any place of JSON', THROUGHOUT_JSON, true],
  ['what is searched', SEARCHED, true],
  ['framing', FRAMED, true],
  ['coding', ENCODED, true],
])('of a reading of %s the part that was read is judged: %s', (_, { partly }, isIt) => {
  expect(partly).toBe(isIt);
});

it('framing and coding are unread where the body was cut, and coding where it is too much', () => {
  const response = (truncated: boolean) =>
    ({ body: { truncated }, unread: 'it was cut', codingLimit: 'it is too much' }) as ResponseView;
  expect([FRAMED.unread(response(true), null), FRAMED.unread(response(false), null)]).toEqual([
    'it was cut',
    null,
  ]);
  expect([ENCODED.unread(response(true), null), ENCODED.unread(response(false), null)]).toEqual([
    'it was cut',
    'it is too much',
  ]);
});

describe('the subjects of a check', () => {
  const subjects = () => new JudgedSubjects((id) => (id < 'e5' ? 'GET /a' : 'GET /b'));

  it('deviate, conform, or are unread', () => {
    const all = subjects();
    expect(all.isEmpty).toBe(true);
    all.add('e1', null);
    all.add('e2', 'status 500');
    all.add('e3', 'status 501');
    all.add('e6', null, true);
    expect(all.isEmpty).toBe(false);
    expect(all.outcomes('fail', 'pass')).toEqual([
      { subject: 'GET /a', outcome: 'fail', got: 'status 500', evidence: ['e1', 'e2', 'e3'] },
      { subject: 'GET /b', outcome: 'blocked', evidence: ['e6'] },
    ]);
  });

  it('conform if all of them was read', () => {
    const all = subjects();
    all.add('e1', null);
    all.add('e1', null);
    expect(all.outcomes('fail', 'pass')).toEqual([{ subject: 'GET /a', outcome: 'pass', evidence: ['e1'] }]);
  });
});

describe('a check for each case', () => {
  const probe = derived('each-case', [], async () => 1);
  const cases = (known: string | null = null) => [
    { key: 'one', title: 'One', known },
    { key: 'two', title: 'Two', known: null },
  ];
  const declared = (
    found: ReturnType<typeof cases>,
    missing: string | null = null,
    uses?: () => readonly [typeof probe],
  ) => {
    const definition = checkEach('orders.each', {
      ...WORDS,
      grounds: [],
      needs: [() => null, () => missing],
      cases: () => found,
      ...(uses && { uses }),
      judge: () => undefined,
    });
    const [only] = suitesFor([suite('orders', 'Orders', [definition])], config);
    return only?.checks ?? [];
  };
  const ids = (checks: readonly CheckDefinition[]) => checks.map(({ id }) => id);

  it('stands for itself as well, if none is known or some may be missing', () => {
    expect(ids(declared(cases()))).toEqual(['orders.each.one', 'orders.each.two']);
    expect(ids(declared([]))).toEqual(['orders.each']);
    expect(ids(declared(cases(), 'no file'))).toEqual(['orders.each.one', 'orders.each.two', 'orders.each']);
  });

  it('is part of the whole, with what it uses and why it is known to fail', () => {
    const [one, two] = declared(cases('#7'), null, () => [probe]);
    expect(one).toMatchObject({ partOf: 'orders.each', known: '#7', title: 'One', uses: [probe], needs: [] });
    expect(two).not.toHaveProperty('known');
    expect(declared(cases())[0]?.uses).toEqual([]);
  });

  it('has no verdict where there is none', async () => {
    const [whole] = declared([]);
    expect(whole && (await judge(whole, session, { strict: false, signal }))).toMatchObject({
      outcome: 'blocked',
      message: 'there is nothing of its kind to judge',
    });
  });
});

it('checks with further conditions have their own as well, after those', () => {
  const [first, second] = [() => 'a', () => 'b'];
  const own = check('orders.own', { ...WORDS, grounds: [], applies: [second], judge: () => undefined });
  expect(given([first], [own])[0]?.applies).toEqual([first, second]);
});

it('a violation names its last evidence, unless another decided', async () => {
  const probe = derived('two', [], async () => 1);
  const at = { ...session, ask: async () => ({ evidence: ['e1', 'e2'], value: 1 }) } as typeof session;
  const decisive = async (id?: string) => {
    const definition = check('orders.two', {
      ...WORDS,
      grounds: [practice('habit')],
      uses: [probe],
      judge: async ({ probe: ask, violated }) => {
        await ask(probe);
        violated('this', 'that', id);
      },
    });
    const { decisive: named, evidence, finding } = await judge(definition, at, { strict: false, signal });
    return [named, finding?.evidence, evidence];
  };
  expect(await decisive()).toEqual(['e2', 'e2', ['e1', 'e2']]);
  expect(await decisive('e1')).toEqual(['e1', 'e1', ['e1', 'e2']]);
});
