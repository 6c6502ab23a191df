import { describe, expect, it } from 'vitest';
import fc from '../../../base/fixtures/properties.ts';
import { parseChallenges } from './challenge.ts';

/** Challenges in short: scheme, then token68 or parameters. */
function brief(...lines: string[]) {
  const { challenges, faults } = parseChallenges(lines);
  const read = challenges.map(({ scheme, token68, parameters }) =>
    token68 === null ? [scheme, Object.fromEntries(parameters)] : [scheme, token68],
  );
  return { read, faults };
}

describe('parseChallenges', () => {
  it.each([
    [['Bearer'], [['Bearer', {}]]],
    [['Bearer realm="api"'], [['Bearer', { realm: 'api' }]]],
    [
      ['Basic realm="simple, with a comma", charset="UTF-8", Bearer error=invalid_token'],
      [
        ['Basic', { realm: 'simple, with a comma', charset: 'UTF-8' }],
        ['Bearer', { error: 'invalid_token' }],
      ],
    ],
    // RFC 9110 §11.6.1 gives this one as its example.
    [
      ['Basic realm="simple", Newauth realm="apps", type=1, title="Login to \\"apps\\""'],
      [
        ['Basic', { realm: 'simple' }],
        ['Newauth', { realm: 'apps', type: '1', title: 'Login to "apps"' }],
      ],
    ],
    [
      ['Negotiate', 'NTLM TlRMTVNTUAACAAAA==', 'Basic realm="x"'],
      [
        ['Negotiate', {}],
        ['NTLM', 'TlRMTVNTUAACAAAA=='],
        ['Basic', { realm: 'x' }],
      ],
    ],
    [['Digest realm = "x" ,\tnonce\t=\t"y"'], [['Digest', { realm: 'x', nonce: 'y' }]]],
    [[', ,Bearer realm="x",,'], [['Bearer', { realm: 'x' }]]],
    [['Bearer   scope="a b"'], [['Bearer', { scope: 'a b' }]]],
    [
      ['Foo bar=, Baz'],
      [
        ['Foo', 'bar='],
        ['Baz', {}],
      ],
    ],
    [['Foo ,a=b'], [['Foo', { a: 'b' }]]],
  ])('reads %j', (lines, challenges) => {
    expect(brief(...lines)).toEqual({ read: challenges, faults: [] });
  });

  it.each([
    [[''], 'an empty one'],
    [[' , '], 'an empty one'],
    [['"Bearer"'], '`"Bearer"` where an authentication scheme should be'],
    [['realm="x"'], 'a parameter without a scheme before it'],
    [['Bearer realm=api'], 'a realm of Bearer that is not a quoted-string'],
    [['Bearer realm="x" error="y"'], 'where a comma or the end should be'],
    [['Basic realm="x'], 'after realm=, where a token or a quoted-string should be'],
    [['Bearer realm="x", realm="y"'], 'the parameter realm of Bearer twice'],
    [['Bearer: realm="x"'], '`: realm="x"` where a comma or the end should be'],
    [['Please log in'], 'where a comma or the end should be'],
    [['Bearer error='], null],
  ])('says what is wrong with %j', (lines, fault) => {
    const { faults } = parseChallenges(lines);
    if (fault === null) expect(faults).toEqual([]);
    else expect(faults[0]).toContain(fault);
  });

  it('goes on behind a fault', () => {
    const { read, faults } = brief('Basic realm=, @!, Bearer realm="x"');
    expect(faults).toHaveLength(1);
    expect(read.at(-1)).toEqual(['Bearer', { realm: 'x' }]);
  });

  it('says nothing of a field that is not there', () => {
    expect(parseChallenges([])).toEqual({ challenges: [], faults: [], cautions: [] });
  });

  it('remarks what a scheme demands of its own challenges', () => {
    expect(parseChallenges(['Bearer, Basic charset="UTF-8"']).cautions).toEqual([
      'Bearer without any parameter',
      'Basic without a realm',
    ]);
    expect(parseChallenges(['bearer realm="x", basic realm="y"']).cautions).toEqual([]);
  });

  it('reads back whatever was written by the grammar', () => {
    const token = fc.stringMatching(/^[A-Za-z][A-Za-z0-9!#$&^_.-]{0,8}$/);
    const quoted = fc.string({ unit: fc.constantFrom('a', ' ', ',', '=', '"', '\\', '\u00e9') });
    const parameters = fc.uniqueArray(fc.tuple(token, quoted), {
      minLength: 1,
      maxLength: 3,
      selector: ([name]) => name.toLowerCase(),
    });
    const written = fc.array(fc.tuple(token, parameters), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(written, fc.constantFrom(', ', ',', ' ,, '), (challenges, comma) => {
        const text = challenges
          .map(
            ([scheme, list]) =>
              `${scheme} ${list.map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`).join(comma)}`,
          )
          .join(comma);
        expect(brief(text)).toEqual({
          read: challenges.map(([scheme, list]) => [
            scheme,
            Object.fromEntries(list.map(([name, value]) => [name.toLowerCase(), value])),
          ]),
          faults: [],
        });
      }),
    );
  });

  it('never throws, and says a bounded number of things', () => {
    const piece = fc.constantFrom('Bearer', ' ', ',', '=', '"', 'realm', '\\', '\u0001', 'abc==', '"x"');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(parseChallenges([pieces.join('')]).faults.length).toBeLessThanOrEqual(20);
      }),
    );
  });
});

it.each([
  ['Basic', ['Basic without a realm']],
  ['BASIC realm="a"', []],
  ['BasicX, XBasic', []],
  ['bearer', ['Bearer without any parameter']],
  ['BearerX, XBearer, Digest', []],
  ['Bearer scope="a"', []],
])('the cautions of %s are %j', (value, cautions) => {
  expect(parseChallenges([value]).cautions).toEqual(cautions);
});

it('of many faults and cautions the first twenty are told', () => {
  const many = (element: string) => parseChallenges([Array(30).fill(element).join(', ')]);
  expect(many('Basic').cautions).toHaveLength(20);
  expect(many('"').faults.length).toBeLessThanOrEqual(20);
  expect(many('a=1').faults).toHaveLength(20);
});

it.each([
  ['Digest abc==, a=1', 'a parameter without a scheme before it: `a=1'],
  ['a=1', 'a parameter without a scheme before it: `a=1'],
  ['Digest a="x" b', 'where a comma or the end should be'],
])('after a fault of %s the next challenge is read', (value, fault) => {
  const { faults, challenges } = parseChallenges([`${value}, Basic realm="r"`]);
  expect(faults).toEqual([expect.stringContaining(fault)]);
  expect(challenges.at(-1)?.scheme).toBe('Basic');
});

it('a scheme and its parameter have spaces between them, and a token68 has one scheme', () => {
  const { challenges, faults } = parseChallenges(['Digest   a=1, b=2, Negotiate abc==, New']);
  expect(faults).toEqual([]);
  expect(challenges.map(({ scheme, token68, parameters }) => [scheme, token68, parameters.size])).toEqual([
    ['Digest', null, 2],
    ['Negotiate', 'abc==', 0],
    ['New', null, 0],
  ]);
});
