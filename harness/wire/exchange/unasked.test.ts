import { describe, expect, it } from 'vitest';
import { isUnasked } from '../http/http-connection.ts';

describe('octets that follow a response', () => {
  it.each([
    ['another response', 'HTTP/1.1 200 OK\r\n\r\n', true],
    ['another response behind an empty line', '\r\nHTTP/1.1 404 Not Found\r\n\r\n', true],
    ['a rest of content', '}', true],
    ['a status that begins like it', 'HTTP/1.1 4080 X\r\n', true],
    [
      'the news that nothing was asked for long',
      'HTTP/1.1 408 Request Time-out\r\nConnection: close\r\n\r\n',
      false,
    ],
    [
      'another response behind that news',
      'HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
      true,
    ],
    ['the same, of an older server and without a phrase', 'HTTP/1.0 408\r\n\r\n', false],
    ['empty lines', '\r\n\r\n', false],
    ['nothing', '', false],
  ])('%s', (_what, octets, unasked) => {
    expect(isUnasked(Buffer.from(octets))).toBe(unasked);
  });
});
