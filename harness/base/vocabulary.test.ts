import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { documentedSample } from './clause.ts';
import { CLAUSE_KEYS, isClauseKey, VOCABULARY } from './vocabulary.ts';

describe('the vocabulary', () => {
  it('has dotted keys, each with a meaning on one line', () => {
    for (const [key, { meaning }] of Object.entries(VOCABULARY)) {
      expect(key).toMatch(/^[a-z]+\.[a-z-]+$/);
      expect(meaning).toMatch(/^[^\n]{10,100}$/);
    }
  });

  it('has examples that its own schemas take', () => {
    const ajv = new Ajv2020({ allowUnionTypes: true });
    const unfit = Object.entries(VOCABULARY).filter(
      ([, { value, example }]) => !ajv.validate(value, example),
    );
    expect(unfit).toEqual([]);
  });

  it('knows its own keys and no inherited ones', () => {
    expect(CLAUSE_KEYS.every(isClauseKey)).toBe(true);
    expect(isClauseKey('toString')).toBe(false);
  });

  it('is pinned: a key is part of every contract file', () => {
    expect(CLAUSE_KEYS).toMatchSnapshot();
  });
});

describe('the documented sample', () => {
  const place = { section: 'Endpoints', row: 1 };
  const contract = { name: 'a', title: 'A', source: { document: 'a.md' } };

  it('is read from its clause, without what only describes it', () => {
    const value = { method: 'GET', path: '/a', fields: { Accept: 'text/plain' }, response: 'JSON body' };
    const clauses = [{ key: 'endpoint.sample', standing: 'stated', value, place } as const];
    expect(documentedSample({ ...contract, clauses })).toEqual({
      method: 'GET',
      path: '/a',
      fields: { Accept: 'text/plain' },
      body: null,
    });
  });

  it.each([
    [{ body: { text: 'a' } }, { 'Content-Type': 'application/json' }, '{"text":"a"}'],
    [{ body: 'a=1' }, {}, 'a=1'],
    [{ body: [1], fields: { 'Content-Type': 'text/json' } }, { 'Content-Type': 'text/json' }, '[1]'],
  ])('has the body %j, written as it is sent', (given, fields, body) => {
    const value = { method: 'POST', path: '/a', fields: {}, response: 'JSON body', ...given };
    const clauses = [{ key: 'endpoint.sample', standing: 'stated', value, place } as const];
    expect(documentedSample({ ...contract, clauses })).toMatchObject({ fields, body });
  });

  it('is null where the contract shows none', () => {
    const clauses = [{ key: 'endpoint.sample', standing: 'not-shown', value: null, place } as const];
    expect(documentedSample({ ...contract, clauses })).toBeNull();
    expect(documentedSample({ ...contract, clauses: [] })).toBeNull();
  });
});
