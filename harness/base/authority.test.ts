import { describe, expect, it } from 'vitest';
import {
  clause,
  clients,
  practice,
  resolveAuthority,
  rfc3629,
  rfc6455,
  rfc6585,
  rfc7692,
  rfc8259,
  rfc9110,
  rfc9111,
  rfc9112,
  rfc9457,
} from './authority.ts';
import type { Clause, Contract } from './clause.ts';
import { HarnessError } from './exit.ts';

const place = { section: 'Limits', row: 2 };
const stated = (key: string, value: Clause['value'] = 'so it is'): Clause => ({
  key,
  standing: 'stated',
  value,
  place,
});

const contract: Contract = {
  name: 'orders',
  title: 'Orders',
  source: { document: 'orders.md' },
  clauses: [
    stated('limits.rate', { requests: 5, window: '1s' }),
    { ...stated('limits.client-backoff'), standing: 'advised' },
    { ...stated('limits.other', null), standing: 'not-shown' },
    { ...stated('auth.placement', ['header', 'query']), question: 'Which of the two?' },
    { ...stated('auth.scheme'), contradicts: ['auth.sample'] },
    stated('auth.sample'),
  ],
};

/** The config fills in a clause. */
const fact = (key: string) => ({ [key]: { value: 'so it is', origin: 'orders.yaml:3:7' } });

describe('the level of a check', () => {
  it.each([
    ['a stated clause', [clause('limits.rate')], 'MUST'],
    ['an advised clause', [clause('limits.client-backoff')], 'SHOULD'],
    ['a clause that is not shown', [clause('limits.other')], 'NONE'],
    ['a clause that the contract does not have', [clause('errors.shape')], 'NONE'],
    ['a MUST of a standard', [rfc9110('15.5.2', 'MUST')], 'MUST'],
    ['a SHOULD of a standard', [rfc9110('15.5.2', 'SHOULD')], 'SHOULD'],
    ['a MAY of a standard', [rfc9110('15.5.2', 'MAY')], 'NONE'],
    ['a practice', [practice('OWASP API2:2023')], 'SHOULD'],
    ['what breaks clients', [clients('curl reads it')], 'MUST'],
    ['nothing', [], 'NONE'],
    ['the stronger of two', [clause('limits.other'), practice('OWASP API4:2023')], 'SHOULD'],
    ['the stronger, wherever it stands', [rfc6455('4.2.2', 'MUST'), clause('limits.other')], 'MUST'],
    ['a standard where the contract is silent', [clause('errors.shape'), rfc9110('11.6.1', 'MUST')], 'MUST'],
    ['a clause that leaves a question open', [clause('auth.placement')], 'NONE'],
    ['a clause that contradicts another', [clause('auth.scheme')], 'NONE'],
    ['a clause that another contradicts', [clause('auth.sample')], 'NONE'],
  ] as const)('comes from %s', (_what, grounds, level) => {
    expect(resolveAuthority(grounds, contract, {}).level).toBe(level);
  });

  it.each([
    ['a clause that is not shown', 'limits.other', 'limits.other', 'MUST'],
    ['a clause that the contract does not have', 'errors.shape', 'errors.shape', 'MUST'],
    ['a clause that leaves a question open', 'auth.placement', 'auth.placement', 'MUST'],
    ['one of two that contradict each other', 'auth.scheme', 'auth.scheme', 'MUST'],
    ['the other one', 'auth.scheme', 'auth.sample', 'NONE'],
  ] as const)('comes from the config where that speaks: %s', (_what, filled, key, level) => {
    expect(resolveAuthority([clause(key)], contract, fact(filled)).level).toBe(level);
  });
});

it.each([
  [clause('limits.rate'), 'limits.rate', 'orders.md, Limits, row 2'],
  [clause('auth.placement'), 'auth.placement', 'orders.md, Limits, row 2 (leaves a question open)'],
  [clause('auth.sample'), 'auth.sample', expect.stringContaining('contradicted by auth.scheme')],
  [clause('errors.shape'), 'errors.shape', 'orders.yaml:3:7'],
  [rfc9110('15.5.2', 'MUST'), 'RFC 9110 §15.5.2', 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2'],
  [rfc9110('A.1', 'MAY'), 'RFC 9110 §A.1', 'https://www.rfc-editor.org/rfc/rfc9110#appendix-A.1'],
])('the place of a ground is where it can be read: %o', (ground, ref, where) => {
  const { grounds } = resolveAuthority([ground], contract, fact('errors.shape'));
  expect(grounds).toEqual([expect.objectContaining({ ref, place: where })]);
});

it.each(['limits.rates', 'toString'])(
  'a ground outside the vocabulary is a fault of the harness: %s',
  (key) => {
    expect(() => resolveAuthority([{ kind: 'clause', key }], contract, {})).toThrow(HarnessError);
  },
);

it.each([
  [
    practice('OWASP API2:2023'),
    { kind: 'practice', ref: 'OWASP API2:2023', standing: 'practice', place: 'OWASP API2:2023' },
  ],
  [
    clients('curl reads it'),
    { kind: 'clients', ref: 'curl reads it', standing: 'relied-on', place: 'curl reads it' },
  ],
  [
    { kind: 'own', ref: 'rules.md', word: 'SHOULD' },
    { kind: 'own', ref: 'rules.md', standing: 'SHOULD', place: 'rules.md' },
  ],
  [
    { kind: 'standard', ref: 'see RFC 9110 §1', word: 'MUST' },
    { kind: 'standard', ref: 'see RFC 9110 §1', standing: 'MUST', place: 'see RFC 9110 §1' },
  ],
  [
    { kind: 'standard', ref: 'RFC 9110 §1 note', word: 'MAY' },
    { kind: 'standard', ref: 'RFC 9110 §1 note', standing: 'MAY', place: 'RFC 9110 §1 note' },
  ],
  [
    clause('limits.other'),
    { kind: 'clause', ref: 'limits.other', standing: 'not-shown', place: 'orders.md, Limits, row 2' },
  ],
] as const)('a ground stands as it binds: %o', (ground, resolved) => {
  expect(resolveAuthority([ground], contract, {}).grounds).toEqual([resolved]);
});

it('a rule of the user is as strong as its word', () => {
  const level = (word: 'MUST' | 'SHOULD') =>
    resolveAuthority([{ kind: 'own', ref: 'a', word }], contract, {}).level;
  expect([level('MUST'), level('SHOULD')]).toEqual(['MUST', 'SHOULD']);
});

it('the strongest ground decides, wherever it stands', () => {
  const level = (...words: readonly ('MUST' | 'SHOULD' | 'MAY')[]) =>
    resolveAuthority(
      words.map((word) => rfc9110('1', word)),
      contract,
      {},
    ).level;
  expect([level('MAY', 'MUST', 'SHOULD'), level('SHOULD', 'MAY'), level('MAY', 'SHOULD')]).toEqual([
    'MUST',
    'SHOULD',
    'SHOULD',
  ]);
});

it('each side of a contradiction names the others in order', () => {
  const both: Contract = {
    ...contract,
    clauses: [
      { ...stated('auth.scheme'), contradicts: ['limits.rate', 'auth.sample'] },
      { ...stated('auth.sample'), contradicts: ['auth.scheme'] },
      { ...stated('limits.rate'), contradicts: ['limits.rate'] },
    ],
  };
  const placeOf = (key: 'auth.scheme' | 'auth.sample' | 'limits.rate') =>
    resolveAuthority([clause(key)], both, {}).grounds[0]?.place;
  expect(placeOf('auth.scheme')).toMatch(/\(contradicted by auth\.sample, limits\.rate\)$/);
  expect(placeOf('auth.sample')).toMatch(/\(contradicted by auth\.scheme\)$/);
});

it.each([
  ['UTF-8', rfc3629, 3629],
  ['the WebSocket protocol', rfc6455, 6455],
  ['additional status codes', rfc6585, 6585],
  ['compression of WebSocket messages', rfc7692, 7692],
  ['JSON', rfc8259, 8259],
  ['HTTP semantics', rfc9110, 9110],
  ['HTTP caching', rfc9111, 9111],
  ['HTTP/1.1', rfc9112, 9112],
  ['problem details', rfc9457, 9457],
] as const)('the standard of %s is its RFC', (_, ground, number) => {
  expect(ground('3', 'MUST')).toEqual({ kind: 'standard', ref: `RFC ${number} §3`, word: 'MUST' });
});
