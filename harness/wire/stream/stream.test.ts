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
