import { describe, expect, it } from 'vitest';
import { HarnessError } from '../base/exit.ts';
import { resolveAuthority } from './authority.ts';
import type { Clause, Contract } from './clause.ts';
import { clause, practice, rfc6455, rfc9110 } from './ground.ts';

const place = { section: 'Limits', row: 2 };

function contractOf(...clauses: readonly Clause[]): Contract {
  return { name: 'orders', title: 'Orders', source: { document: 'orders.md' }, clauses };
}

const stated: Clause = {
  key: 'limits.rate',
  standing: 'stated',
  value: { requests: 5, window: '1s' },
  place,
};

describe('the level of a check', () => {
  it.each([
    ['a stated clause', [clause('limits.rate')], 'MUST'],
    ['an advised clause', [clause('limits.client-backoff')], 'SHOULD'],
    ['a clause that is not shown', [clause('limits.other')], 'NONE'],
    ['a clause that the contract does not have', [clause('auth.scheme')], 'NONE'],
    ['a MUST of a standard', [rfc9110('15.5.2', 'MUST')], 'MUST'],
    ['a SHOULD of a standard', [rfc9110('15.5.2', 'SHOULD')], 'SHOULD'],
    ['a MAY of a standard', [rfc9110('15.5.2', 'MAY')], 'NONE'],
    ['a practice', [practice('OWASP API2:2023')], 'SHOULD'],
    ['nothing', [], 'NONE'],
    ['the stronger of two', [clause('limits.other'), practice('OWASP API4:2023')], 'SHOULD'],
    ['the stronger, wherever it stands', [rfc6455('4.2.2', 'MUST'), clause('limits.other')], 'MUST'],
  ] as const)('comes from %s', (_what, grounds, level) => {
    const contract = contractOf(
      stated,
      { key: 'limits.client-backoff', standing: 'advised', value: { respectLimits: true }, place },
      { key: 'limits.other', standing: 'not-shown', value: null, place },
    );
    expect(resolveAuthority(grounds, contract, {}).level).toBe(level);
  });

  it('is MUST for a fact that the config fills in, whatever the contract shows', () => {
    const facts = { 'limits.rate': { value: { requests: 7, window: '1s' }, origin: 'orders.yaml:3:7' } };
    for (const contract of [contractOf(), contractOf({ ...stated, standing: 'not-shown', value: null })]) {
      expect(resolveAuthority([clause('limits.rate')], contract, facts)).toEqual({
        level: 'MUST',
        grounds: [{ kind: 'clause', ref: 'limits.rate', standing: 'config', place: 'orders.yaml:3:7' }],
      });
    }
  });

  it('is not weakened where a standard speaks for a contract that is silent', () => {
    const grounds = [clause('auth.scheme'), rfc9110('11.6.1', 'MUST')];
    expect(resolveAuthority(grounds, contractOf(), {}).level).toBe('MUST');
  });
});

describe('a clause that leaves a question open', () => {
  const placement: Clause = {
    key: 'auth.placement',
    standing: 'stated',
    value: ['header', 'query'],
    question: 'Which of the two?',
    place,
  };

  it('is not held against the provider', () => {
    const { level, grounds } = resolveAuthority([clause('auth.placement')], contractOf(placement), {});
    expect(level).toBe('NONE');
    expect(grounds[0]?.place).toBe('orders.md, Limits, row 2 (leaves a question open)');
  });

  it('is, once the config answers it', () => {
    const facts = { 'auth.placement': { value: ['header'], origin: 'orders.yaml:3:7' } };
    expect(resolveAuthority([clause('auth.placement')], contractOf(placement), facts).level).toBe('MUST');
  });
});

describe('clauses that contradict each other', () => {
  const scheme: Clause = {
    key: 'auth.scheme',
    standing: 'stated',
    value: 'three credentials',
    contradicts: ['auth.sample'],
    place,
  };
  const sample: Clause = { key: 'auth.sample', standing: 'stated', value: { field: 'a', value: 'b' }, place };
  const contract = contractOf(scheme, sample, stated);

  it('weigh nothing, on either side', () => {
    expect(resolveAuthority([clause('auth.scheme')], contract, {}).level).toBe('NONE');
    const other = resolveAuthority([clause('auth.sample')], contract, {});
    expect(other.level).toBe('NONE');
    expect(other.grounds[0]?.place).toContain('contradicted by auth.scheme');
  });

  it('leave the other clauses as firm as they are', () => {
    expect(resolveAuthority([clause('limits.rate')], contract, {}).level).toBe('MUST');
  });

  it('are settled by the config only where it speaks', () => {
    const facts = { 'auth.scheme': { value: 'signed', origin: 'orders.yaml:3:7' } };
    expect(resolveAuthority([clause('auth.scheme')], contract, facts).level).toBe('MUST');
    expect(resolveAuthority([clause('auth.sample')], contract, facts).level).toBe('NONE');
  });
});

describe('the place of a ground', () => {
  it('is the row of the document', () => {
    const { grounds } = resolveAuthority([clause('limits.rate')], contractOf(stated), {});
    expect(grounds).toEqual([
      { kind: 'clause', ref: 'limits.rate', standing: 'stated', place: 'orders.md, Limits, row 2' },
    ]);
  });

  it('is the address of the section for a standard', () => {
    const { grounds } = resolveAuthority(
      [rfc9110('15.5.2', 'MUST'), rfc9110('A.1', 'MAY')],
      contractOf(),
      {},
    );
    expect(grounds.map(({ ref, place }) => [ref, place])).toEqual([
      ['RFC 9110 §15.5.2', 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2'],
      ['RFC 9110 §A.1', 'https://www.rfc-editor.org/rfc/rfc9110#appendix-A.1'],
    ]);
  });
});

it('a ground outside the vocabulary is a fault of the harness', () => {
  const wrong = { kind: 'clause', key: 'limits.rates' } as const;
  expect(() => resolveAuthority([wrong], contractOf(), {})).toThrow(HarnessError);
  expect(() => resolveAuthority([{ kind: 'clause', key: 'toString' }], contractOf(), {})).toThrow(
    HarnessError,
  );
});
