import { describe, expect, it } from 'vitest';
import { sourceOf } from './source.ts';

const read = (text: string) => sourceOf(text, '/a.yaml', 'a.yaml');

describe('YAML that other parsers read', () => {
  it.each<[string, string, unknown]>([
    ['a bracket that is closed at the margin', 'x:\n  a: [1,\n2\n]\n  b: 3\n', { x: { a: [1, 2], b: 3 } }],
    ['a brace that is closed under its key', 'x:\n  a: {\n    b: 1\n  }\n', { x: { a: { b: 1 } } }],
    ['a quoted text that goes on at the margin', 'a:\n  - "x\ny"\nb: 1\n', { a: ['x y'], b: 1 }],
    [
      'next to block texts, comments and brackets that are text',
      'a: |\n  x: [\n  "\nb: see [this\nc: 1 # "\nd:\n  e: {\n  f: 1\n  }\n',
      { a: 'x: [\n"\n', b: 'see [this', c: 1, d: { e: { f: 1 } } },
    ],
  ])('is read: %s', (_, text, value) => {
    expect(read(text).root).toEqual(value);
  });

  it.each([
    ['a: [1, 2\nb: 3\n', 'a.yaml:'],
    ['a: "never closed\nb: 1\n', 'a.yaml:'],
    ['x:\n  y: 1\n z: {\n}\n', 'a.yaml:3:'],
  ])('is refused at its place if more is wrong: %s', (text, place) => {
    expect(() => read(text)).toThrow(place);
  });

  it('keeps the last value of a repeated key, with a remark', () => {
    const { root, remarks } = read('a: 1\nb:\n  c: 1\n  c: 2\na: 3\n');
    expect(root).toEqual({ a: 3, b: { c: 2 } });
    expect(remarks).toEqual([
      { place: 'a.yaml:4:3', text: 'the key "c" is repeated; its last value counts' },
      { place: 'a.yaml:5:1', text: 'the key "a" is repeated; its last value counts' },
    ]);
  });

  it.each<[string, string, unknown]>([
    ['keys as text', '1.0: a\n007: b\nnull: c\n"q": d\n', { '1.0': 'a', '007': 'b', null: 'c', q: 'd' }],
    ['values of tags that only a tool knows', 'a: !include b.yaml\nc: !x [1]\n', { a: 'b.yaml', c: [1] }],
    ['merge keys', 'x: &x { a: 1, b: 2 }\ny:\n  <<: *x\n  b: 3\n', { x: { a: 1, b: 2 }, y: { a: 1, b: 3 } }],
    ['1_000 and yes as text', 'a: 1_000\nb: yes\n', { a: '1_000', b: 'yes' }],
  ])('reads %s', (_, text, value) => {
    expect(read(text).root).toEqual(value);
  });

  it.each<[readonly string[], string]>([
    [['a', 'quoted \t', '1'], '3:7'],
    [['a', 'quoted \t', '2'], '4:7'],
    [['a', 'quoted \t', '2', 'nothing'], '4:7'],
    [['b', '1.0'], '6:8'],
    [['c'], '7:7'],
  ])('knows where %j stands', (pointer, place) => {
    const text = 'a:\n  "quoted \\t": [x,\n      y,\n      z]\nb: # &\n  1.0: [z]\nc: &c 1\n'.replace(
      '*x',
      'z',
    );
    const { line, column } = read(text).placeOf(pointer);
    expect(`${line}:${column}`).toBe(place);
  });

  it('reads more than 8 MiB', () => {
    const text = `a: |\n${`  ${'x'.repeat(1022)}\n`.repeat(9 * 1024)}b: [1]\n`;
    const { root, placeOf } = read(text);
    expect(root).toMatchObject({ b: [1] });
    expect(placeOf(['b', '0']).line).toBe(9 * 1024 + 2);
  });

  it('names the place of a fault in more than 8 MiB, and of an alias to nothing', () => {
    expect(() => read(`a: |\n${`  ${'x'.repeat(1022)}\n`.repeat(9 * 1024)}b: [1\nc: 2\n`)).toThrow(
      'a.yaml:92',
    );
    expect(() => read('a: 1\nb: *nothing\n')).toThrow(/a\.yaml:2:5.*alias/);
  });
});
