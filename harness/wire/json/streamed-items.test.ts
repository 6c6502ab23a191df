import { describe, expect, it } from 'vitest';
import { itemReader } from './streamed-items.ts';

const read = (type: string, text: string) => itemReader(type)?.(text);

describe('the items of a stream', () => {
  it('are the lines of NDJSON, however it ends', () => {
    expect(read('application/x-ndjson', '{"a":1}\r\n\n[2]\nnull')).toEqual([
      { value: { a: 1 } },
      { value: [2] },
      { value: null },
    ]);
    expect(read('application/jsonl', '{"a":1}\n{"a"')).toEqual([
      { value: { a: 1 } },
      { fault: 'it is no JSON' },
    ]);
  });

  it('are the texts after the separators of a JSON sequence', () => {
    expect(read('application/json-seq', '\u{1e}{"a":1}\n\u{1e}\n\u{1e}[1,\n2]\n')).toEqual([
      { value: { a: 1 } },
      { value: [1, 2] },
    ]);
    expect(read('application/json-seq', '{"a":1}\n')).toEqual([{ fault: 'no record separator before it' }]);
  });

  it('are the events that have data, as a browser reads them', () => {
    const stream =
      ': hello\n\nevent: tick\nid: 7\nretry: 10\ndata: a\ndata:b\n\nretry: 5\n\ndata\r\n\r\ndata: unfinished';
    expect(read('text/event-stream', stream)).toEqual([
      { value: { event: 'tick', data: 'a\nb', id: '7', retry: 10 } },
      { value: { data: '' } },
    ]);
  });

  it('are those of no other media type', () => {
    expect(['application/json', 'text/plain', 'constructor'].map(itemReader)).toEqual([null, null, null]);
  });
});
