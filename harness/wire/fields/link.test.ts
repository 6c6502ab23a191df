import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { findBodyLinks, navigates, parseLinks } from './link.ts';

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

it.each([
  ['<a>', []],
  ['<a>; rel=""', []],
  ['<a>; rel=" next  last "', ['next', 'last']],
  ['<a>;;rel=next', ['next']],
  ['<a>; rel=next;', ['next']],
  ['<a>; ; rel=next ;', ['next']],
])('%s has the relations %j', (value, relations) => {
  expect(parseLinks([`${value}, <b>`])).toMatchObject({
    links: [{ relations }, { target: 'b' }],
    faults: [],
  });
});

it('of many faults the first twenty are told', () => {
  expect(parseLinks([Array(30).fill('a').join()]).faults).toHaveLength(20);
  expect(parseLinks(['<a>, b']).faults).toHaveLength(1);
});

it('a client goes on by a link of one such relation, in any case', () => {
  expect(navigates(['help', 'NEXT'])).toBe(true);
  expect(navigates(['help', 'license'])).toBe(false);
  expect(navigates([])).toBe(false);
});

it.each<readonly [string, unknown, readonly string[]]>([
  ['in the order of the body', { next: '/2', items: [{ self: '/a' }, { self: '/b' }] }, ['/2', '/a', '/b']],
  [
    'an address with its relation',
    [
      { rel: 'next', href: '/2' },
      { rel: 'help', href: '/3' },
    ],
    ['/2'],
  ],
  [
    'a member that is a link, by its relation',
    { links: { next: '/2', parent: '/up', help: '/3' } },
    ['/2', '/up'],
  ],
  ['a member that may be a path on a disk', { parent: '/up', files: { current: '/etc' } }, []],
  ['members whose names have more', { hrefs: '/1', links2: { parent: '/2' }, next_url_old: '/3' }, []],
  ['members that name their relation', { next_url: '/2', prevHref: '/1', nextUrl: '/3' }, ['/2', '/1', '/3']],
  ['an absolute address, in any case', { next: 'HTTPS://a.example/2' }, ['HTTPS://a.example/2']],
  ['no address', { next: 'see https://a.example', prev: '//a.example', self: '/a b', items: [] }, []],
  ['an address that is none', { next: 'http://[', prev: 'https://' }, []],
  ['the body itself', '/1', ['/1']],
])('links in a body: %s', (_, body, links) => {
  expect(findBodyLinks(body)).toEqual(links);
});
