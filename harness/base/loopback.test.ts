import { describe, expect, it } from 'vitest';
import { isLoopback } from './loopback.ts';

describe('loopback', () => {
  it.each([
    'localhost',
    'LOCALHOST.',
    'app.localhost',
    '127.0.0.1',
    '127.255.0.9',
    '::1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    // As a URL spells it.
    new URL('http://[::ffff:127.0.0.1]/').hostname,
    new URL('http://0x7f.1/').hostname,
  ])('is %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each([
    'notlocalhost',
    'localhost.example',
    '127.0.0.1.example',
    '128.0.0.1',
    '0.0.0.0',
    '::',
    '[::ffff:10.0.0.1]',
    '',
  ])('is not %j', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});
