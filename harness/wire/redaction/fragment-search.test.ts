import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { FragmentSearch, type Pattern, preparePattern } from './fragment-search.ts';

const octetsOf = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));

interface Word extends Pattern {
  readonly text: string;
}

function word(text: string, shortest: number): Word {
  return { text, octets: octetsOf(text), shortest: Math.min(shortest, text.length) };
}

function scan(words: readonly Word[], text: string) {
  const search = new FragmentSearch<Word>();
  for (const each of words) search.add(preparePattern(each));
  const found: {
    readonly word: string;
    readonly whole: boolean;
    readonly start: number;
    readonly end: number;
  }[] = [];
  search.scan(octetsOf(text), ({ pattern, whole, start, end }) =>
    found.push({ word: pattern.text, whole, start, end }),
  );
  return found;
}

/** The longest that a word and the text share from each pair of places on, by trying everything. */
function byTrying(words: readonly Word[], text: string) {
  const folded = text.toLowerCase();
  return words.flatMap(({ text: word, shortest }) => {
    const pattern = word.toLowerCase();
    const found = [];
    for (let begin = -pattern.length; begin < text.length; begin++) {
      for (let start = Math.max(0, begin); start < Math.min(text.length, begin + pattern.length); start++) {
        let end = start;
        while (end < text.length && folded[end] === pattern[end - begin]) end++;
        if (end - start >= shortest) {
          found.push({ word, whole: end - start === pattern.length, start, end });
        }
        start = end;
      }
    }
    return found;
  });
}

const distinct = (found: readonly object[]) => [...new Set(found.map((each) => JSON.stringify(each)))].sort();

describe('FragmentSearch', () => {
  const letters = fc.constantFrom('a', 'b', 'c', 'A');
  const words = fc.array(
    fc
      .tuple(fc.string({ unit: letters, minLength: 6, maxLength: 20 }), fc.integer({ min: 6, max: 14 }))
      .map(([text, shortest]) => word(text, shortest)),
    { minLength: 1, maxLength: 5 },
  );

  it('finds what trying everything finds', () => {
    const piece = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', 'B', 'x'), maxLength: 9 }));
    fc.assert(
      fc.property(words, fc.array(fc.oneof(piece, fc.nat(4)), { maxLength: 8 }), (known, pieces) => {
        const text = pieces
          .map((each) => (typeof each === 'string' ? each : (known[each % known.length]?.text ?? '')))
          .join('');
        expect(distinct(scan(known, text))).toEqual(distinct(byTrying(known, text)));
      }),
      { numRuns: 1000 },
    );
  });

  it('says which pattern it was, in either letter case', () => {
    const known = [word('keyword', 6), word('KEYWORD!', 6), word('sentence', 6)];
    expect(scan(known, 'a keyword').map(({ word, whole }) => [word, whole])).toEqual([
      ['keyword', true],
      ['KEYWORD!', false],
    ]);
    expect(scan(known, 'SENTENCX')).toEqual([{ word: 'sentence', whole: false, start: 0, end: 7 }]);
  });

  it('takes linear time where text and pattern repeat themselves, and lets nothing through for that', () => {
    const long = word('a'.repeat(16_384), 9_831);
    const text = `${'a'.repeat(2 ** 20)}bbb${'a'.repeat(16_384)}`;
    const covered = new Uint8Array(text.length);
    for (const { start, end } of scan([long], text)) covered.fill(1, start, end);
    expect(text.replaceAll(/a/g, (_, at) => (covered[at] ? '' : 'a'))).toBe('bbb');
  });
});
