import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { parseJson } from '../../base/json-text.ts';
import { DEEPEST_JSON } from './shape.ts';
import { readJsonText } from './text.ts';

const octetsOf = (text: string) => new Uint8Array(Buffer.from(text));
const read = (text: string) => readJsonText(octetsOf(text));
const kinds = (remarks: readonly { kind: string }[]) => remarks.map(({ kind }) => kind);

describe('readJsonText', () => {
  it('reads every JSON value as JSON.parse does, with nothing to remark', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(0, 2, '\t'), (json, indent) => {
        const text = JSON.stringify(JSON.parse(json), null, indent);
        const { value, faults } = read(` ${text}\r\n`);
        expect(faults).toEqual([]);
        expect(value).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('finds a syntax fault exactly where JSON.parse refuses', () => {
    const piece = fc.constantFrom(...'{}[],:"1-0.e+\\ é\n', '"a"', 'true', 'null', 'nul');
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join('')),
        (text) => {
          const { faults } = read(text);
          expect(faults.length === 0).toBe(parseJson(text) !== undefined);
        },
      ),
      { numRuns: 5000 },
    );
  });

  it.each([
    ['', 'empty', 0, 'no content'],
    ['  \n', 'empty', 0, 'nothing but white space'],
    ['{"a":1,}', 'syntax', 7, 'a comma before }'],
    ['[1,]', 'syntax', 3, 'a comma before ]'],
    ["{'a':1}", 'syntax', 1, 'a name in double quotes'],
    ['{"a" 1}', 'syntax', 5, '"1" after the name "a", where : should be'],
    ['[1 2]', 'syntax', 3, '"2" where , or ] should be'],
    ['{"a":01}', 'syntax', 5, '"01" where a value should be in /a'],
    ['{"a":+1}', 'syntax', 5, '"+1" where'],
    ['[1, // two\n2]', 'syntax', 4, 'a comment'],
    ['"a\tb"', 'syntax', 2, '"\\t" unescaped in a string'],
    ['"\\x41"', 'syntax', 1, 'an escape that JSON does not have'],
    ['{"a":"b', 'syntax', 5, 'never ends'],
    ['[', 'syntax', 1, 'the end where a value should be'],
    ['<!doctype html>', 'syntax', 0, '"<" where a value should be'],
    ['undefined', 'syntax', 0, '"undefined" where'],
    ['True', 'syntax', 0, '"True" where'],
    ['{}{}', 'trailing-content', 2, '"{" after the JSON text'],
    ['{"ok":true}\n<br>', 'trailing-content', 12, '"<" after'],
    ['{"a":[NaN]}', 'number', 6, 'NaN, which is no JSON number, in /a/0'],
    ['-Infinity', 'number', 0, '-Infinity, which is no JSON number'],
    ['\ufeff{}', 'byte-order-mark', 0, 'byte order mark'],
  ])('says what is wrong with %j', (text, kind, offset, message) => {
    const { faults } = read(text);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatchObject({ kind, offset });
    expect(faults[0]?.message).toContain(message);
    expect(faults[0]?.message.includes(`at octet ${offset}`)).toBe(kind !== 'empty');
  });

  it('still gives the value of a text with a byte order mark or with something after it', () => {
    expect(read('\ufeff{"a":1}').value).toEqual({ a: 1 });
    expect(read('{"a":1} x').value).toEqual({ a: 1 });
    expect(read('[NaN]').value).toBeUndefined();
    expect(read('[1').value).toBeUndefined();
    expect(read('null')).toEqual({ value: null, faults: [], cautions: [], limit: null });
  });

  it('refuses what is not UTF-8, and names the likely encoding', () => {
    expect(kinds(readJsonText(Uint8Array.of(0x22, 0xe9, 0x22)).faults)).toEqual(['invalid-utf8']);
    expect(readJsonText(Buffer.from('\ufeff{}', 'utf16le')).faults[0]?.message).toContain('UTF-16');
    expect(readJsonText(Buffer.from('{}', 'utf16le')).faults[0]?.message).toContain('UTF-16');
  });

  it.each([
    ['a mark of the lower octet first', [0xff, 0xfe, 0x22, 0x00], true],
    ['a mark of the higher octet first', [0xfe, 0xff, 0x00, 0x22], true],
    ['text with the lower octet first', [0x22, 0x00, 0xe9, 0x00, 0x22, 0x00], true],
    ['text with the higher octet first', [0x00, 0x22, 0x00, 0xe9, 0x00, 0x22], true],
    ['an octet of the mark alone', [0xff, 0x22], false],
    ['the other octet of the mark alone', [0xfe, 0x22], false],
    ['the octets of the mark twice', [0xff, 0xff], false],
    ['the other octets of the mark twice', [0xfe, 0xfe], false],
    ['a text in Latin-1', [0x22, 0xe9, 0x22], false],
    ['two octets that are zero', [0x00, 0x00, 0xe9], false],
  ])('takes %s for UTF-16, or not', (_, octets, isTaken) => {
    const [fault] = readJsonText(Uint8Array.from(octets)).faults.filter(
      ({ kind }) => kind === 'invalid-utf8',
    );
    expect(fault?.message.endsWith('(it looks like UTF-16)')).toBe(isTaken);
  });

  it.each([
    ['"\\q\\n"', 'an escape that JSON does not have: "\\q"'],
    ['/* two */ 2', 'a comment where a value should be'],
    ['// two', 'a comment where a value should be'],
    ['/ two', '"/" where a value should be'],
    ['*/', '"*" where a value should be'],
    ['é', '"é" where a value should be'],
    ['\0', 'NUL (is it UTF-16?) where a value should be'],
  ])('says of %j: %s', (text, message) => {
    expect(read(text).faults[0]?.message.startsWith(`${message}, at octet `)).toBe(true);
  });

  it.each([
    [[0xef, 0xbb, 0x30], false],
    [[0xef, 0x00, 0xbf], false],
    [[0x00, 0xbb, 0xbf], false],
    [[0xef, 0xbb, 0xbf], true],
  ])('takes the octets %j for a byte order mark: %s', (octets, isMark) => {
    expect(kinds(readJsonText(Uint8Array.from([...octets, 0x30])).faults).includes('byte-order-mark')).toBe(
      isMark,
    );
  });

  it('tells of its faults in the order in which they stand', () => {
    const octets = Buffer.concat([Buffer.from('{"a" 1}'), Buffer.of(0xe9)]);
    expect(readJsonText(octets).faults.map(({ kind }) => kind)).toEqual(['syntax', 'invalid-utf8']);
  });

  it.each([
    [60, (text: string) => `{"${text}" 1}`, (text: string) => `after the name "${text}", where`],
    [59, (text: string) => `{"${text}":NaN}`, (text: string) => `in /${text}, at`],
    [
      58,
      (text: string) => `1e${text.replaceAll('x', '9')}`,
      (text: string) => `1e${text.replaceAll('x', '9')}, which`,
    ],
    [
      60,
      (text: string) => text.replaceAll('x', '9'),
      (text: string) => `${text.replaceAll('x', '9')}, which`,
    ],
    [60, (text: string) => text, (text: string) => `"${text}" where`],
  ])('shows 60 characters of what it tells of: %d and more', (length, textOf, shown) => {
    const told = (count: number) => {
      const { faults, cautions } = read(textOf('x'.repeat(count)));
      return [...faults, ...cautions][0]?.message ?? '';
    };
    expect(told(length)).toContain(shown('x'.repeat(length)));
    expect(told(length + 1)).not.toContain(shown('x'.repeat(length + 1)));
  });

  it('goes on after what is not UTF-8, and finds what else is wrong', () => {
    const octets = Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xe9), Buffer.from('","b":[1,],"a":1}')]);
    const { faults, value } = readJsonText(octets);
    expect(faults.map(({ kind, offset }) => [kind, offset])).toEqual([
      ['invalid-utf8', 6],
      ['syntax', 16],
    ]);
    expect(value).toBeUndefined();
    expect(kinds(readJsonText(Buffer.of(0x22, 0xff, 0x22, 0x22)).faults)).toEqual([
      'invalid-utf8',
      'trailing-content',
    ]);
  });

  it('counts offsets in octets', () => {
    expect(read('{"é":€}').faults).toMatchObject([{ offset: 6 }]);
  });

  it('remarks names that occur twice, with their path', () => {
    const { value, faults, cautions } = read('{"a":{"b/c":1,"b\\u002fc":2},"d":[{"x":1},{"x":1,"x":2}]}');
    expect(faults).toEqual([]);
    expect(cautions).toMatchObject([
      { kind: 'duplicate-name', path: '/a/b~1c', offset: 14 },
      { kind: 'duplicate-name', path: '/d/1/x' },
    ]);
    expect(value).toEqual({ a: { 'b/c': 2 }, d: [{ x: 1 }, { x: 2 }] });
  });

  it('remarks numbers and strings that readers disagree on', () => {
    const { cautions } = read(
      '[9007199254740991,9007199254740992,-9007199254740993,1e999,9007199254740993.0,9007199254740993e0,"\\ud800","\\ud83d\\ude00"]',
    );
    expect(cautions.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'big-integer /1',
      'big-integer /2',
      'number-range /3',
      'lone-surrogate /6',
    ]);
  });

  it('reads a member called __proto__ as a member', () => {
    expect(Object.keys(Object(read('{"__proto__":{"x":1}}').value))).toEqual(['__proto__']);
  });

  it('holds a text of any depth to the grammar, and says where it no longer looks into it', () => {
    const nested = (depth: number, inner = '') => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;
    const members = (depth: number, inner: string) => `${'{"a":'.repeat(depth)}${inner}${'}'.repeat(depth)}`;
    const plain = read(nested(DEEPEST_JSON, '1'));
    expect([plain.faults, plain.limit, plain.value]).toEqual([
      [],
      null,
      JSON.parse(nested(DEEPEST_JSON, '1')),
    ]);
    for (const text of [nested(DEEPEST_JSON + 1), nested(2 ** 19, '1, {"b":[]}'), members(2 ** 17, '[{}]')]) {
      const { value, faults, limit } = read(text);
      expect([value, faults]).toEqual([undefined, []]);
      expect(limit).toMatch(/^it is nested \d+ levels deep, of which 512 are looked into$/);
    }
    for (const [text, kind, offset] of [
      ['['.repeat(2 ** 20), 'syntax', 2 ** 20],
      ['{"a":'.repeat(2 ** 17), 'syntax', 5 * 2 ** 17],
      [nested(600, '1,'), 'syntax', 602],
      [`${'['.repeat(600)}}`, 'syntax', 600],
      [members(600, '{"b":}'), 'syntax', 5 * 600 + 5],
      [`${'['.repeat(600)}${']'.repeat(599)}}`, 'syntax', 1199],
      [`${nested(600)}x`, 'trailing-content', 1200],
      [nested(600, 'NaN'), 'number', 600],
    ] as const) {
      const { faults, limit } = read(text);
      expect(faults[0]).toMatchObject({ kind, offset });
      expect(limit).not.toBeNull();
    }
    // Back above, names are compared again.
    expect(kinds(read(`{"a":${nested(600)},"a":1}`).cautions)).toEqual(['duplicate-name']);
  });

  it('remarks a bounded number of things in bounded words', () => {
    const name = 'n'.repeat(5000);
    const { cautions, faults } = read(`{"${name}":{${'"a":1,'.repeat(5000)}"b":[${'NaN,'.repeat(5000)}1]}}`);
    expect(cautions).toHaveLength(100);
    expect(faults).toHaveLength(100);
    expect(JSON.stringify([cautions, faults]).length).toBeLessThan(400_000);
  });

  it('hides no kind of remark behind many of another', () => {
    const { cautions } = read(`{${'"a":1,'.repeat(200)}"b":1e999}`);
    expect(new Set(kinds(cautions))).toEqual(new Set(['duplicate-name', 'number-range']));
    const broken = Buffer.concat([
      Buffer.from(`[${'NaN,'.repeat(200)}"`),
      Buffer.of(0xff),
      Buffer.from('"]'),
    ]);
    expect(kinds(readJsonText(broken).faults)).toContain('invalid-utf8');
  });

  it('says it in one line without control characters', () => {
    for (const text of ['{"a\\u001b\\n":1,"a\\u001b\\n":2}', '[\u0085]', '\u0000']) {
      const { faults, cautions } = read(text);
      for (const { message } of [...faults, ...cautions]) expect(message).not.toMatch(/[\p{Cc}\p{Zl}]/u);
    }
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (octets) => {
        expect(readJsonText(octets).faults.length).toBeLessThanOrEqual(300);
      }),
      { numRuns: 2000 },
    );
  });
});
