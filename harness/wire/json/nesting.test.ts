import { describe, expect, it } from 'vitest';
import { JsonNesting } from './nesting.ts';
import { DEEPEST_JSON } from './shape.ts';

describe('the place in a JSON text', () => {
  it('is that of the member at hand', () => {
    const nesting = new JsonNesting();
    expect([nesting.pointer(), nesting.depth, nesting.inObject]).toEqual(['', 0, false]);
    nesting.enter('object');
    expect(nesting.member('a/b')).toBe('first');
    expect(nesting.member('a/b')).toBe('again');
    expect([nesting.pointer(), nesting.depth, nesting.inObject]).toEqual(['/a~1b', 1, true]);
    nesting.enter('array');
    expect([nesting.pointer(), nesting.inObject]).toEqual(['/a~1b/0', false]);
    nesting.nextElement();
    nesting.nextElement();
    expect(nesting.pointer()).toBe('/a~1b/2');
    expect(nesting.member('x')).toBe('first');
    expect(nesting.member('x')).toBe('first');
    nesting.leave();
    expect([nesting.pointer(), nesting.deepest]).toEqual(['/a~1b', 2]);
    nesting.leave();
    expect([nesting.pointer(), nesting.depth, nesting.deepest]).toEqual(['', 0, 2]);
  });

  it('compares names down to some level, and again back above it', () => {
    const nesting = new JsonNesting();
    for (let depth = 1; depth < DEEPEST_JSON; depth += 1) nesting.enter('array');
    nesting.enter('object');
    expect([nesting.member('a'), nesting.member('a')]).toEqual(['first', 'again']);
    nesting.enter('object');
    nesting.member('b');
    expect(nesting.depth).toBe(DEEPEST_JSON + 1);
    nesting.leave();
    expect([nesting.member('b'), nesting.member('b')]).toEqual(['first', 'again']);
    nesting.leave();
    expect([nesting.depth, nesting.deepest]).toEqual([DEEPEST_JSON - 1, DEEPEST_JSON + 1]);
  });

  it('tells by an ellipsis that members are no longer looked at', () => {
    const nesting = new JsonNesting();
    for (let depth = 0; depth < DEEPEST_JSON; depth += 1) {
      nesting.enter('object');
      nesting.member('');
    }
    expect(nesting.pointer()).toBe('/'.repeat(DEEPEST_JSON));
    nesting.enter('object');
    expect(nesting.pointer()).toBe(`${'/'.repeat(DEEPEST_JSON)}/…`);
  });

  it('is cut after a thousand characters', () => {
    const nesting = new JsonNesting();
    nesting.enter('object');
    nesting.member('x'.repeat(999));
    expect(nesting.pointer()).toBe(`/${'x'.repeat(999)}`);
    nesting.member('x'.repeat(1_000));
    expect(nesting.pointer()).toBe(`/${'x'.repeat(999)}…`);
  });
});
