import { describe, expect, it } from 'vitest';
import { MOST_OCTETS } from './part.ts';
import { isStreamType, streamParts, streamReader } from './stream.ts';

const octets = (text: string) => Buffer.from(text, 'latin1');

/** The items of a whole stream, and its faults, whatever the pieces. */
function read(type: string, text: string) {
  const parts = streamParts(type, octets(text), true);
  for (const size of [1, 2, 3]) {
    const reader = streamReader(type);
    const inPieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      reader?.push(octets(text.slice(at * size, (at + 1) * size))),
    );
    expect([...inPieces.flat(), ...(reader?.end() ?? [])]).toEqual(parts);
  }
  return parts.filter(({ kind, faults }) => kind === 'item' || faults.length > 0);
}

const values = (type: string, text: string) => read(type, text).map(({ value }) => value);
const faults = (type: string, text: string) =>
  read(type, text).flatMap((part) => part.faults.map(({ message }) => message));

describe('the items of a stream', () => {
  it('are the lines of NDJSON, however it ends', () => {
    const type = 'application/x-ndjson';
    expect(values(type, '{"a":1}\r\n\n[2]\nnull')).toEqual([{ a: 1 }, [2], null]);
    expect(faults(type, '{"a":1}\n{"a"')).toEqual(['no JSON']);
    expect(faults(type, '{\n"a":1}\n')).toEqual(['no JSON', 'no JSON']);
    expect(faults(type, '"\xff"\n')).toEqual(['octets that are no UTF-8']);
  });

  it('are the texts after the separators of a JSON sequence', () => {
    const type = 'application/json-seq';
    expect(values(type, '\x1e{"a":1}\n\x1e\n\x1e[1,\n2]\n')).toEqual([{ a: 1 }, [1, 2]]);
    expect(faults(type, '\x1e{"a":1}\n\x1e\n\x1e[1,\n2]\n')).toEqual([]);
    expect(faults(type, '{"a":1}\n')).toEqual(['no record separator before a value']);
    expect(faults(type, '\x1e{"a":1}\n{"a":2}\n')).toEqual(['no record separator before a value']);
    expect(faults(type, '\x1e1\x1e2\n')).toEqual(['no line feed after a value']);
    expect(faults(type, '\x1e{"a"\n\x1e2\n')).toEqual(['no JSON']);
  });

  it('are the values of a JSON sequence as soon as they are ended', () => {
    expect(streamReader('application/json-seq')?.push(octets('\x1e{"a":\n1}\n'))).toMatchObject([
      { value: { a: 1 } },
    ]);
  });

  it('are the events that have data', () => {
    const stream =
      ': hello\n\nevent: tick\nid: 7\nretry: 10\ndata: a\ndata:b\n\nretry: 5\n\ndata\r\n\r\ndata: unfinished';
    expect(read('text/event-stream', stream)).toMatchObject([
      {
        value: { event: 'tick', data: 'a\nb', id: '7', retry: 10 },
        event: { type: 'tick', data: 'a\nb', lastEventId: '7' },
      },
      { value: { data: '' }, event: { type: 'message', data: '', lastEventId: '7' } },
    ]);
  });

  it('have the faults of their octets and fields', () => {
    const type = 'text/event-stream';
    expect(faults(type, 'data: \xff\n\n')).toEqual(['octets that are no UTF-8']);
    expect(faults(type, ': \xe2\x82\n')).toEqual(['octets that are no UTF-8']);
    expect(faults(type, 'id: a\0b\nid: c\0d\ndata: x\n\n')).toEqual(['an id with the character U+0000']);
    expect(faults(type, 'retry: 3s\n\n')).toEqual(['a retry that is no whole number of milliseconds']);
    expect(faults(type, 'retry: 3000\nother: x\nretry\ndata: x\n\n')).toEqual([]);
  });

  it('are those of no other media type', () => {
    expect(['application/json', 'text/plain', 'constructor'].map(isStreamType)).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('a comment', () => {
  it('is a sign of life as soon as its line is ended', () => {
    const reader = streamReader('text/event-stream');
    expect(reader?.push(octets(': ping\r'))).toMatchObject([{ kind: 'filler', faults: [] }]);
    expect(reader?.push(octets('\n\r\n'))).toEqual([]);
  });
});

describe('a stream without an end', () => {
  it.each([
    ['text/event-stream', 'data: xxxxxxxxxxxxxxxxxxxxxxxxxxx'],
    ['text/event-stream', 'data: xxxxxxxxxxxxxxxxxxxxxxxxxxx\n'],
    ['application/x-ndjson', 'xxxxxxxxxxxxxxxxxxxxxxxxxxx'],
    ['application/json-seq', '\x1exxxxxxxxxxxxxxxxxxxxxxxxxxx'.replace('\x1e', '')],
  ])('of %s is read no further than %j may go', (type, text) => {
    const reader = streamReader(type);
    const piece = octets(text.repeat(Math.ceil(MOST_OCTETS / 10 / text.length)));
    const parts = Array.from({ length: 20 }, () => reader?.push(piece) ?? []).flat();
    expect(parts).toMatchObject([{ faults: [{ matter: 'length' }] }]);
    expect(reader?.push(octets('\n\n'))).toEqual([]);
  });
});

describe('the events of a stream (WHATWG HTML §9.2.6)', () => {
  const type = 'text/event-stream';
  const events = (text: string) =>
    read(type, text).map(({ value, event }) => [value, event?.type, event?.lastEventId] as const);

  it.each<readonly [string, string, readonly unknown[]]>([
    ['a byte order mark at the beginning', '\xef\xbb\xbfdata: a\n\n', [[{ data: 'a' }, 'message', '']]],
    [
      'another one further on',
      'id: 1\n\xef\xbb\xbfdata: a\ndata: b\n\n',
      [[{ data: 'b', id: '1' }, 'message', '1']],
    ],
    ['something like a mark', '\xef\xbb\xbedata: a\ndata: b\n\n', [[{ data: 'b' }, 'message', '']]],
    ['data alone', 'data: a\n\n', [[{ data: 'a' }, 'message', '']]],
    ['an empty type', 'event:\ndata: a\n\n', [[{ event: '', data: 'a' }, 'message', '']]],
    ['spaces, of which the first goes', 'data:  a: b\n\n', [[{ data: ' a: b' }, 'message', '']]],
    ['a colon at its beginning', ':data: a\ndata: b\n\n', [[{ data: 'b' }, 'message', '']]],
    ['three kinds of line ends', 'data: a\rdata: b\r\ndata: c\n\r\n', [[{ data: 'a\nb\nc' }, 'message', '']]],
    [
      'an end of CR and LF, and then another',
      'data: a\r\n\r\ndata: b\r\n\r\n',
      [
        [{ data: 'a' }, 'message', ''],
        [{ data: 'b' }, 'message', ''],
      ],
    ],
    [
      'an end of two CRs',
      'data: a\r\rdata: b\r\r',
      [
        [{ data: 'a' }, 'message', ''],
        [{ data: 'b' }, 'message', ''],
      ],
    ],
    [
      'an id that stays',
      'id: 1\ndata: a\n\ndata: b\n\n',
      [
        [{ data: 'a', id: '1' }, 'message', '1'],
        [{ data: 'b' }, 'message', '1'],
      ],
    ],
    ['a retry', 'retry: 15\ndata: a\n\n', [[{ data: 'a', retry: 15 }, 'message', '']]],
    ['a retry that is too long', `retry: ${'9'.repeat(16)}\ndata: a\n\n`, [[{ data: 'a' }, 'message', '']]],
  ])('have %s', (_, text, expected) => {
    expect(events(text)).toEqual(expected);
  });

  it('have only members that they tell', () => {
    expect(Object.keys(streamParts(type, octets('data: a\n\n'), true)[0]?.value as object)).toEqual(['data']);
  });

  it('have each fault once, and faults of several kinds', () => {
    expect(faults(type, 'retry: x\nretry: y\nid: \0\ndata: \xff\n\n')).toEqual([
      'a retry that is no whole number of milliseconds',
      'an id with the character U+0000',
      'octets that are no UTF-8',
    ]);
    expect(faults(type, 'retry: 1x\n\nretry: x1\n\n')).toHaveLength(2);
  });

  it('are signs of life if they have no data, and nothing if they have no lines', () => {
    const kinds = (text: string) => streamParts(type, octets(text), true).map(({ kind }) => kind);
    expect([kinds('\n\n'), kinds('id: 1\n\n'), kinds('id: 1\n\n\n'), kinds(': a\n')]).toEqual([
      [],
      ['filler'],
      ['filler'],
      ['filler'],
    ]);
  });
});

describe('the bounds of a record', () => {
  const lines = (text: string, isWhole = true) =>
    streamParts('application/jsonl', octets(text), isWhole).map(({ kind, value }) =>
      kind === 'item' ? value : kind,
    );

  it('are its line, and the end of the stream', () => {
    expect(lines('1\n \n2')).toEqual([1, 'filler', 2]);
    expect(lines('1\n2', false)).toEqual([1]);
    expect(lines('1\n')).toEqual([1]);
    expect(lines('1\n ')).toEqual([1]);
    expect(streamParts('text/plain', octets('1\n'), true)).toEqual([]);
    expect(streamReader('text/plain')).toBeNull();
    expect(streamReader('constructor')).toBeNull();
  });

  it('are a mebibyte', () => {
    const messages = (length: number) =>
      streamParts('application/jsonl', octets(`"${'x'.repeat(length - 2)}"\n2\n`), true).map(
        ({ faults: all }) => all.map(({ message }) => message),
      );
    expect(messages(1_048_576)).toEqual([[], []]);
    expect(messages(1_048_577)).toEqual([['more than 1048576 octets']]);
    const event = (length: number) =>
      streamParts('text/event-stream', octets(`data:${'x'.repeat(length - 5)}\n\n`), true);
    expect(event(1_048_576)[0]?.kind).toBe('item');
    expect(event(1_048_577)).toMatchObject([{ faults: [{ matter: 'length' }] }]);
    const two = (length: number) =>
      streamParts('text/event-stream', octets(`data:a\ndata:${'x'.repeat(length - 7)}\n\n`), true);
    expect(two(1_048_576)[0]?.kind).toBe('item');
    expect(two(1_048_577)).toMatchObject([{ faults: [{ matter: 'length' }] }]);
  });

  it('are for a sequence its separators, and its line feed as far as 64 lines', () => {
    const type = 'application/json-seq';
    const long = (count: number) =>
      streamReader(type)?.push(octets(`\x1e[${'\n'.repeat(count - 1)}1]\n`)) ?? [];
    expect(long(64)).toMatchObject([{ value: [1] }]);
    expect(long(65)).toEqual([]);
    expect(values(type, `\x1e[${'\n'.repeat(70)}1]\n\x1e2\n`)).toEqual([[1], 2]);
    expect(faults(type, '\x1e"\xff"\n\x1e2\n')).toEqual(['octets that are no UTF-8']);
    expect(faults(type, '\x1e1\n \n\x1e2\n')).toEqual([]);
  });
});
