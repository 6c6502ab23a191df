import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Ground } from '../../base/authority.ts';
import { clause, practice, rfc9110 } from '../../base/authority.ts';
import { Blocked, NotApplicable } from '../../base/verdict.ts';
import { shipped } from '../../config/fixtures/config-folder.ts';
import { Reply } from '../../wire/exchange/reply.ts';
import { exampleExchange, exampleId, exampleResponse } from '../../wire/fixtures/example-evidence.ts';
import { derived } from '../session/probe.ts';
import { type CheckDefinition, check, observation } from './check.ts';
import type { CheckContext } from './context.ts';
import { silentSession } from './fixtures/silent-session.ts';
import { WORDS } from './fixtures/words.ts';
import { type JudgeOptions, judge } from './judge.ts';

const contract = {
  name: 'orders',
  title: 'Orders',
  source: { document: 'orders.md' },
  clauses: [
    {
      key: 'auth.scheme',
      standing: 'stated',
      value: 'API key',
      place: { section: 'Authentication', row: 1 },
    },
    { key: 'errors.request-id', standing: 'advised', value: 'ids', place: { section: 'Errors', row: 2 } },
    { key: 'errors.shape', standing: 'not-shown', value: null, place: { section: 'Errors', row: 3 } },
  ],
} as const;

const session = silentSession({ ...(await shipped('search')), contract, facts: {} });

const violating: CheckDefinition['judge'] = ({ violated }) => violated('this', 'that');
const GROUNDS = [clause('auth.scheme')];
const COMMON = { ...WORDS, grounds: GROUNDS, judge: violating };

const judging = (definition: CheckDefinition, at = session, options: Partial<JudgeOptions> = {}) =>
  judge(definition, at, { strict: false, signal: new AbortController().signal, ...options });

function judged(judgment: CheckDefinition['judge'], grounds: readonly Ground[] = GROUNDS, strict = false) {
  return judging(check('orders.sample', { ...WORDS, grounds, judge: judgment }), session, { strict });
}

describe('a violation', () => {
  it.each([
    ['fails', [clause('auth.scheme')], 'fail', ' [auth.scheme: orders.md, Authentication, row 1]'],
    ['fails', [rfc9110('15.5.2', 'MUST')], 'fail', ' [RFC 9110 §15.5.2]'],
    ['warns', [clause('errors.request-id')], 'warning', ' [errors.request-id: orders.md, Errors, row 2]'],
    ['warns', [practice('OWASP API8:2023')], 'warning', ' [OWASP API8:2023]'],
    ['is told of', [clause('errors.shape')], 'observed', ''],
    [
      'is held against the strongest',
      [practice('habit'), rfc9110('9.1', 'MUST')],
      'fail',
      ' [RFC 9110 §9.1]',
    ],
  ] as const)('%s, and says against what: %j', async (_, grounds, outcome, bracket) => {
    const { outcome: seen, message } = await judged(violating, grounds);
    expect([seen, message]).toEqual([outcome, `expected this, got that${bracket}`]);
  });

  it.each([
    ['a failure', [clause('auth.scheme')], 'that'],
    ['what is only observed', [clause('errors.shape')], 'that'],
    ['nothing that it must not', [clause('auth.scheme')], `a secret and ${'more '.repeat(40)}of it`],
  ] as const)('says in its headline what came: %s', async (_, grounds, got) => {
    const { headline = '' } = await judged(({ violated }) => violated('this', got), grounds);
    expect(headline).toMatch(/^It gives (that|a \[redacted\] and more [more ]*of it)$/);
  });

  it('of a SHOULD fails where that is asked for', async () => {
    expect((await judged(violating, [practice('habit')], true)).outcome).toBe('fail');
  });
});

describe('a violation that is the fault of the document alone', () => {
  const judgment: CheckDefinition['judge'] = ({ expect: hold }) =>
    hold([{ to: 'GET', evidence: 'e1' }])
      .faultOf(() => 'document')
      .toConform('this', () => 'that');

  it('warns, and fails in a strict run', async () => {
    expect((await judged(judgment)).outcome).toBe('warning');
    expect((await judged(judgment, GROUNDS, true)).outcome).toBe('fail');
  });

  it('explains no failure of the service', async () => {
    const root = check('orders.root', { ...COMMON, judge: judgment });
    const resting = check('orders.resting', { ...COMMON, restsOn: [root] });
    expect((await judging(resting)).outcome).toBe('fail');
    expect((await judging(resting, session, { strict: true })).outcome).toBe('blocked');
  });
});

describe('an expectation', () => {
  const reply = new Reply(exampleExchange({ response: exampleResponse({ status: 500 }) }));

  it('counts though the check has not waited for it', async () => {
    const seen = await judged(({ expect }) => {
      void expect(reply).toHaveStatus(401);
      void expect(reply).toBeJson();
    });
    expect(seen.message).toMatch(/^expected status 401, got status 500/);
    expect(seen.headline).toBe('It gives status 500');
  });

  it('tells which of the evidence does not meet it', async () => {
    const answered = (status: number, id: string) =>
      new Reply(exampleExchange({ id: exampleId(id), response: exampleResponse({ status }) }));
    const replies = [answered(401, 'e6'), answered(500, 'e7'), answered(401, 'e8')];
    const held = (...accepted: readonly number[]) =>
      judged(({ expect }) => expect(replies).toHaveStatus(...accepted));
    expect((await held(401)).decisive).toBe('e7');
    expect((await held(401, 500)).decisive).toBeNull();
  });

  it('of evidence that is not all there is judged first, and then told what is missing', async () => {
    const held = (end: 'note' | 'blocked', status: number) =>
      judged(({ expect }) =>
        expect({ all: [reply], shortfall: { end, reason: 'half of it' } }).toHaveStatus(status),
      );
    expect((await held('blocked', 200)).outcome).toBe('fail');
    expect(await held('blocked', 500)).toMatchObject({ outcome: 'blocked', message: 'half of it' });
    expect(await held('note', 500)).toMatchObject({ outcome: 'pass', message: 'half of it' });
  });
});

const piece = derived('piece', [], async () => ({ to: 'GET', evidence: 'e1' }));

describe('the subjects of a check', () => {
  const seen = {
    ...session,
    ask: (async () => ({ value: null, evidence: ['e1', 'e2', 'e3'] })) as never,
    subjectOf: (id: string) => (id === 'e3' ? 'GET /v1/b' : 'GET /v1/a'),
  };
  const all = ['e1', 'e2', 'e3'].map((evidence) => ({ to: `GET ${evidence}`, evidence }));
  const about = (judge: CheckDefinition['judge']) =>
    judging(check('orders.all', { ...COMMON, uses: [piece], judge }), seen);

  it('have an outcome each, the worst of which is that of the check', async () => {
    const judgment = await about(({ expect }) =>
      expect
        .each(all, (each) => each)
        .toConform('this', ({ evidence }) => (evidence === 'e2' ? 'that' : null)),
    );
    expect(judgment).toMatchObject({
      outcome: 'fail',
      finding: {
        subject: 'GET /v1/a',
        expected: 'this',
        got: [{ text: 'that', stimuli: [{ to: 'GET e2' }] }],
      },
      subjects: [
        { subject: 'GET /v1/a', outcome: 'fail', got: 'that', evidence: ['e1', 'e2'] },
        { subject: 'GET /v1/b', outcome: 'pass', evidence: ['e3'] },
      ],
    });
  });

  it('are those of the evidence asked for, if nothing else is expected of it', async () => {
    const judgment = await about(async ({ probe, violated }) => {
      await probe(piece);
      violated('this', 'that', 'e3');
    });
    expect(judgment.subjects).toEqual([
      { subject: 'GET /v1/a', outcome: 'pass', evidence: ['e1', 'e2'] },
      { subject: 'GET /v1/b', outcome: 'fail', got: 'that', evidence: ['e3'] },
    ]);
  });

  it('are never none in a check that passes', async () => {
    expect(await judged(() => {})).toMatchObject({
      outcome: 'error',
      message: expect.stringContaining('orders.sample passes, but has judged nothing'),
    });
  });
});

describe('a check that takes long', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Judged with nothing but waiting for ten minutes, at a service of which `progress` is seen at each moment. */
  async function waiting(progress: (nowMs: number) => number): Promise<string> {
    const startMs = Date.now();
    const clock = { ...session.clock, now: () => Date.now() - startMs };
    const ask = async () => ({ value: piece, evidence: ['e1'] }) as never;
    const seen = Object.defineProperty({ ...session, clock, ask }, 'progress', {
      get: () => progress(clock.now()),
    });
    const slow = async ({ probe }: CheckContext) => {
      await probe(piece);
      await new Promise<void>((resolve) => setTimeout(resolve, 600_000));
    };
    const judgment = judging(check('orders.slow', { ...COMMON, uses: [piece], judge: slow }), seen);
    await vi.runAllTimersAsync();
    return (await judgment).outcome;
  }

  it('is not to blame for a slow service, nor for a probe that others have asked for', async () => {
    expect(await waiting((nowMs) => Math.floor(nowMs / 9_000))).toBe('pass');
  });

  it('is a fault of ours where nothing happens any more', async () => {
    expect(await waiting((nowMs) => Math.floor(Math.min(nowMs, 60_000) / 9_000))).toBe('error');
  });
});

it('tells waits on purpose apart from the time at work', async () => {
  const waiting = { ...session, waitedMs: 40 };
  const patient = async () => {
    waiting.waitedMs += 900;
  };
  const judgment = await judging(check('orders.patient', { ...COMMON, judge: patient }), waiting);
  expect(judgment.waitedMs).toBe(900);
});

describe('what is recorded', () => {
  it('goes by the key that is declared, or by the id', async () => {
    const keys: string[] = [];
    const recording = { ...session, observe: ({ key }: { readonly key: string }) => void keys.push(key) };
    const common = { ...WORDS, grounds: GROUNDS, observe: async () => ({ seen: 1, note: 'one' }) };
    for (const each of [
      observation('orders.seen', common),
      observation('orders.told', { ...common, records: 'orders.kept' }),
    ]) {
      expect((await judging(each, recording)).message).toBe('one');
    }
    expect(keys).toEqual(['orders.seen', 'orders.kept']);
    const undeclared = await judged(({ observe: record }) => record(1));
    expect(undeclared.outcome).toBe('error');
  });
});

describe('what is no verdict', () => {
  it.each([
    ['blocked', new Blocked('it is gone'), 'it is gone'],
    ['skipped', new NotApplicable('there is none'), 'there is none'],
  ] as const)('is %s', async (outcome, thrown, message) => {
    const seen = await judged(() => {
      throw thrown;
    });
    expect([seen.outcome, seen.message]).toEqual([outcome, message]);
  });

  it('is an error, redacted, where the harness is at fault', async () => {
    const { outcome, message } = await judged(() => {
      throw new TypeError('no secret here');
    }, []);
    expect(outcome).toBe('error');
    expect(message).toMatch(/^TypeError: no \[redacted\] here/);
  });

  it('observes whatever an observation says', async () => {
    const definition = observation('orders.seen', {
      ...WORDS,
      grounds: GROUNDS,
      observe: async ({ violated }) => violated('this', 'that'),
    });
    expect((await judging(definition, session, { strict: true })).outcome).toBe('observed');
  });
});

describe('a violation of what rests on another check', () => {
  const root = (judgment: CheckDefinition['judge'], grounds: readonly Ground[] = GROUNDS) =>
    check('orders.root', { ...WORDS, grounds, judge: judgment });
  const restingOn = (on: CheckDefinition) => check('orders.resting', { ...COMMON, restsOn: [on] });
  const resting = (on: CheckDefinition) => judging(restingOn(on));

  it('stands in a run of which that is no part', async () => {
    const selected = new Set(['orders.resting']);
    expect((await judging(restingOn(root(violating)), session, { selected })).outcome).toBe('fail');
  });

  it('is blocked where that is violated as well, and names it', async () => {
    const { outcome, message } = await resting(root(violating));
    expect(outcome).toBe('blocked');
    expect(message).toContain('orders.root');
  });

  it('is told by that one, though the service has fallen silent meanwhile', async () => {
    const on = root(violating);
    const silent = { ...session, outage: null as string | null };
    expect((await judging(restingOn(on), silent)).outcome).toBe('blocked');
    silent.outage = 'the provider does not answer';
    expect((await judging(on, silent)).outcome).toBe('fail');
    expect((await judging(check('orders.other', COMMON), silent)).outcome).toBe('blocked');
  });

  it.each<[string, CheckDefinition]>([
    ['conforms', root(() => undefined)],
    ['cannot be judged', root(({ blocked }) => blocked('nobody is there'))],
    ['does not apply', { ...root(violating), applies: [() => 'it does not apply'] }],
    ['weighs less', root(violating, [practice('OWASP API8:2023')])],
  ])('stands where that %s', async (_, on) => {
    expect((await resting(on)).outcome).toBe('fail');
  });
});

describe('a violation that repeats another', () => {
  const seeing =
    (...got: readonly string[]): CheckDefinition['judge'] =>
    ({ expect: hold }) =>
      hold(got.map((text, index) => ({ to: `request ${index}`, evidence: `e${index}`, text }))).toConform(
        'nothing',
        (piece) => String(Reflect.get(piece, 'text')),
      );
  const first = check('orders.first', { ...COMMON, judge: seeing('1011', '1008') });
  const repeating = (...got: readonly string[]) =>
    judging(check('orders.again', { ...COMMON, repeats: [first], judge: seeing(...got) }));

  it('is blocked where the same came there, and names it', async () => {
    expect(await repeating('1011')).toMatchObject({
      outcome: 'blocked',
      message: expect.stringContaining('orders.first'),
    });
  });

  it('stands where something else came as well', async () => {
    expect(await repeating('1011', '1002')).toMatchObject({ outcome: 'fail' });
  });
});

it('what is evidence of a service from before it fell silent is judged; the last request it was sent is named', async () => {
  const silent = { ...session, outage: 'the provider does not answer', silentSince: 'e7' };
  const upon: (id: string) => CheckDefinition['judge'] =
    (id) =>
    ({ violated }) =>
      violated('this', 'that', id);
  const told = async (id: string) =>
    (await judging(check('orders.upon', { ...COMMON, judge: upon(id) }), silent)).message;
  const since = 'got that, and nothing has been served since';
  expect(await told('e7')).toContain(since);
  expect(await told('e6')).not.toContain(since);
});
