import { describe, expect, it } from 'vitest';
import { HarnessError } from '../exit.ts';
import { absoluteUrl, addressOf, socketAddressOf, targetBelow } from './address.ts';

describe('an address', () => {
  it.each([
    [
      'https://h.example/api/',
      { secure: true, host: 'h.example', port: 443, authority: 'h.example', prefix: '/api' },
    ],
    [
      'http://h.example:8080',
      { secure: false, host: 'h.example', port: 8080, authority: 'h.example:8080', prefix: '' },
    ],
    ['http://[::1]:80/', { secure: false, host: '::1', port: 80, authority: '[::1]', prefix: '' }],
  ])('of %s', (url, expected) => {
    expect(addressOf(url)).toEqual(expected);
  });

  it('of anything else is a mistake of the harness', () => {
    expect(() => addressOf('ftp://h.example')).toThrow(HarnessError);
    expect(() => addressOf('nonsense')).toThrow(HarnessError);
  });

  it('puts targets below its path, and names what they stand for', () => {
    const address = addressOf('https://h.example/api');
    expect(targetBelow(address, '/v1/x?y')).toBe('/api/v1/x?y');
    expect(targetBelow(address, '*')).toBe('*');
    expect(absoluteUrl(address, '/api/v1/x?y')).toBe('https://h.example/api/v1/x?y');
    expect(absoluteUrl(address, '*')).toBe('https://h.example');
    expect(absoluteUrl(address, 'http://other.example/')).toBe('http://other.example/');
    expect(absoluteUrl(address, '/ws', 'ws')).toBe('wss://h.example/ws');
  });

  it.each([
    ['/ws', 'h.example:8080', '/api/ws'],
    ['ws', 'h.example:8080', '/api/ws'],
    ['wss://other.example/app/KEY?protocol=7', 'other.example', '/app/KEY?protocol=7'],
    ['ws://other.example:81', 'other.example:81', '/'],
    ['ws://other.example?x=1', 'other.example', '/?x=1'],
  ])('of a WebSocket endpoint %s', (url, authority, target) => {
    const found = socketAddressOf('http://h.example:8080/api', url);
    expect([found.address.authority, found.target]).toEqual([authority, target]);
  });
});
