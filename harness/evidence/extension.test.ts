import { describe, expect, it } from 'vitest';
import { plainDeflateFault, readExtensions } from './extension.ts';

describe('Sec-WebSocket-Extensions', () => {
  it('is a list of names with parameters', () => {
    const { extensions, fault } = readExtensions('foo; a; b = 10 ; c="x, y", bar');
    expect(fault).toBeNull();
    expect(extensions.map(({ name, parameters }) => [name, [...parameters]])).toEqual([
      [
        'foo',
        [
          ['a', null],
          ['b', '10'],
          ['c', 'x, y'],
        ],
      ],
      ['bar', []],
    ]);
    expect(readExtensions('')).toEqual({ extensions: [], fault: null });
  });

  it.each(['foo bar', 'foo; =1', 'foo; a=', 'foo; a; a', '"foo"', 'foo;'])('may not be %j', (value) => {
    expect(readExtensions(value).fault).not.toBeNull();
  });
});

describe('permessage-deflate as answered to a plain offer', () => {
  const faultOf = (value: string) => {
    const [selected] = readExtensions(value).extensions;
    return selected ? plainDeflateFault(selected) : 'unread';
  };

  it.each([
    'permessage-deflate',
    'permessage-deflate; server_no_context_takeover; client_no_context_takeover',
    'permessage-deflate; server_max_window_bits=12',
  ])('may be %s', (value) => {
    expect(faultOf(value)).toBeNull();
  });

  it.each([
    ['permessage-deflate; client_max_window_bits=15', /client_max_window_bits which was not offered/],
    ['permessage-deflate; server_max_window_bits', /server_max_window_bits/],
    ['permessage-deflate; server_max_window_bits=7', /"7"/],
    ['permessage-deflate; server_max_window_bits=08', /"08"/],
    ['permessage-deflate; server_no_context_takeover=1', /server_no_context_takeover/],
    ['permessage-deflate; toString', /toString/],
  ])('may not be %s', (value, fault) => {
    expect(faultOf(value)).toMatch(fault);
  });
});
