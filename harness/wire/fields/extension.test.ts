import { describe, expect, it } from 'vitest';
import { deflateAnswerFault, readExtensions } from './extension.ts';

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

describe('permessage-deflate as answered', () => {
  const faultOf = (value: string, offer = 'permessage-deflate') =>
    deflateAnswerFault(readExtensions(value), [offer]);

  it.each([
    'permessage-deflate',
    'permessage-deflate; server_no_context_takeover; client_no_context_takeover',
    'permessage-deflate; server_max_window_bits=12',
  ])('to a plain offer may be %s', (value) => {
    expect(faultOf(value)).toBeNull();
  });

  it.each([
    ['permessage-deflate; client_max_window_bits=15', /client_max_window_bits which was not offered/],
    ['permessage-deflate; server_max_window_bits', /server_max_window_bits/],
    ['permessage-deflate; server_max_window_bits=7', /"7"/],
    ['permessage-deflate; server_max_window_bits=08', /"08"/],
    ['permessage-deflate; server_no_context_takeover=1', /server_no_context_takeover/],
    ['permessage-deflate; toString', /toString/],
  ])('to a plain offer may not be %s', (value, fault) => {
    expect(faultOf(value)).toMatch(fault);
  });

  it.each([
    ['server_no_context_takeover', 'server_no_context_takeover', null],
    ['server_no_context_takeover', null, 'no server_no_context_takeover, which was offered'],
    ['server_max_window_bits=10', 'server_max_window_bits=9', null],
    ['server_max_window_bits=10', null, 'no server_max_window_bits, which was offered'],
    [
      'server_max_window_bits=10',
      'server_max_window_bits=11',
      'server_max_window_bits=11, more than the 10 that were offered',
    ],
    ['client_max_window_bits', 'client_max_window_bits=15', null],
    ['client_max_window_bits', 'client_max_window_bits', 'client_max_window_bits with the value ""'],
    ['client_max_window_bits=10', null, null],
    [
      'client_max_window_bits=10',
      'client_max_window_bits=15',
      'client_max_window_bits=15, more than the 10 that were offered',
    ],
    ['client_no_context_takeover', null, null],
  ])('to an offer of %s with %s: %s', (offer, answer, fault) => {
    const name = 'permessage-deflate';
    expect(faultOf(answer === null ? name : `${name}; ${answer}`, `${name}; ${offer}`)).toBe(fault);
  });
});

describe('permessage-deflate among others', () => {
  const faultOf = (value: string, offer = 'permessage-deflate') =>
    deflateAnswerFault(readExtensions(value), [offer]);

  it.each([
    ['foo, permessage-deflate', null],
    ['permessage-deflate, foo', null],
    ['foo, foo', null],
    ['permessage-deflate, permessage-deflate', 'permessage-deflate twice'],
    ['permessage-deflate; server_max_window_bits=100', 'server_max_window_bits with the value "100"'],
    ['permessage-deflate; server_max_window_bits=16', 'server_max_window_bits with the value "16"'],
    ['permessage-deflate; constructor', 'the parameter constructor, which permessage-deflate does not have'],
  ])('%s: %j', (value, fault) => {
    expect(faultOf(value)).toBe(fault);
  });

  it('is bound by the number of bits that was offered, and as faulty as the field', () => {
    const offer = 'permessage-deflate; server_max_window_bits=10';
    expect(faultOf('permessage-deflate; server_max_window_bits=10', offer)).toBeNull();
    expect(faultOf('permessage-deflate; a=', offer)).toBe(readExtensions('permessage-deflate; a=').fault);
    expect(deflateAnswerFault(readExtensions('permessage-deflate'), [])).toBe(
      'permessage-deflate, which was not offered',
    );
  });
});
