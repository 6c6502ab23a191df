import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { parseLinks } from './link.ts';

describe('parseLinks', () => {
  it('reads targets, relations and parameters from every line', () => {
    const { links, faults } = parseLinks([
      '<https://api.example/v1/resources?page=2>; rel="next"; title="a, b;c", </v1/a,b>;rel=Prev ;rel=ignored',
      '<>;rel="self  up" ; crossorigin',
    ]);
    expect(faults).toEqual([]);
    expect(links.map(({ target, relations }) => [target, relations])).toEqual([
      ['https://api.example/v1/resources?page=2', ['next']],
      ['/v1/a,b', ['prev']],
      ['', ['self', 'up']],
    ]);
    expect(links[0]?.parameters.get('title')).toBe('a, b;c');
    expect(links[2]?.parameters.get('crossorigin')).toBe('');
  });

  it.each([
    ['https://api.example; rel=next', 'where <target> should be'],
    ['<a', 'where <target> should be'],
    ['<a> rel=next', 'where ; or a comma should be'],
    ['<a>; =x', 'where a parameter name should be'],
    ['<a>; rel="x', 'where a token or a quoted-string should be'],
  ])('says what is wrong with %j, and goes on', (value, fault) => {
    const { links, faults } = parseLinks([value, '<b>; rel=last']);
    expect(faults[0]).toContain(fault);
    if (!value.includes('"')) expect(links.at(-1)?.target).toBe('b');
  });

  it('never throws', () => {
    const piece = fc.constantFrom('<', '>', 'a', ';', ',', '=', '"', 'rel', ' ', '\\');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(parseLinks([pieces.join('')]).faults.length).toBeLessThanOrEqual(20);
      }),
    );
  });
});
