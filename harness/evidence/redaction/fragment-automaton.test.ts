import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FragmentAutomaton, type Occurrence, type Pattern } from './fragment-automaton.ts';

const octetsOf = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));

function scan(patterns: readonly Pattern[], text: string) {
  const occurrences: Occurrence[] = [];
  const steps = new FragmentAutomaton(patterns).scan(octetsOf(text), (occurrence) =>
    occurrences.push(occurrence),
  );
  return { occurrences, steps };
}

/** What ends where, found by trying everything. */
function byTrying(patterns: readonly { text: string; shortest: number }[], text: string) {
  const found: { whole: boolean; start: number; end: number }[] = [];
  const folded = text.toLowerCase();
  for (let end = 1; end <= text.length; end++) {
    const endsWith = (candidate: string) => folded.slice(0, end).endsWith(candidate);
    const wholes = patterns
      .filter((pattern) => endsWith(pattern.text.toLowerCase()))
      .map(({ text: { length } }) => length);
    const longestWhole = Math.max(0, ...wholes);
    if (longestWhole > 0) found.push({ whole: true, start: end - longestWhole, end });
    let longestPart = 0;
    for (let start = 0; start < end; start++) {
      const fragment = folded.slice(start, end);
      const counts = patterns.some(
        (pattern) => fragment.length >= pattern.shortest && pattern.text.toLowerCase().includes(fragment),
      );
      if (counts) longestPart = Math.max(longestPart, fragment.length);
    }
    if (longestPart > longestWhole) found.push({ whole: false, start: end - longestPart, end });
  }
  return found;
}

describe('FragmentAutomaton', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A'), minLength: 1, maxLength: 12 });
  const pattern = fc.record({ text, shortest: fc.integer({ min: 1, max: 12 }) });

  it('finds what trying everything finds', () => {
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 1, maxLength: 5 }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'B', 'x'), maxLength: 40 }),
        (patterns, searched) => {
          const shortened = patterns.map((each) => ({
            ...each,
            shortest: Math.min(each.shortest, each.text.length),
          }));
          const { occurrences } = scan(
            shortened.map((each) => ({ octets: octetsOf(each.text), shortest: each.shortest })),
            searched,
          );
          expect(occurrences.map(({ whole, start, end }) => ({ whole, start, end }))).toEqual(
            byTrying(shortened, searched),
          );
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('says which pattern it was', () => {
    const patterns = ['keyword', 'KEYWORD', 'sentence'].map((word) => ({
      octets: octetsOf(word),
      shortest: 5,
    }));
    expect(scan(patterns, 'keyword').occurrences.at(-1)?.patterns).toEqual([0, 1]);
    expect(scan(patterns, 'xentence').occurrences.at(-1)?.patterns).toEqual([2]);
  });

  it('takes at most two steps for each octet, whatever the text', () => {
    const hostile = [
      { pattern: 'a'.repeat(40), text: `${'a'.repeat(39)}b`.repeat(500) },
      { pattern: 'abababababababababab', text: 'ab'.repeat(10_000) },
      { pattern: 'abcdefghijklmnop', text: 'abcdefghijklmno'.repeat(1_000) },
    ];
    for (const { pattern: word, text: searched } of hostile) {
      const { steps } = scan([{ octets: octetsOf(word), shortest: word.length }], searched);
      expect(steps).toBeLessThanOrEqual(2 * searched.length);
    }
  });
});
