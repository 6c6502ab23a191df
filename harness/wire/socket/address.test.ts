import { describe, expect, it } from 'vitest';
import { HarnessError } from '../../base/exit.ts';
import { Secret } from '../../base/secret.ts';
import { createRedaction } from '../redaction/redaction.ts';
import { absoluteUrl, addressOf, refusePlainHttp, socketAddressOf, targetBelow } from './address.ts';

const redaction = createRedaction([new Secret('ORDER', 'example-secret-1')]);
const NOTHING = new Uint8Array();

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

describe('a credential over plain http', () => {
  it.each([
    ['http://127.0.0.1:80', false],
    ['http://127.9.9.9', false],
    ['http://[::1]:3000', false],
    ['http://[::ffff:127.0.0.1]', false],
    ['http://localhost', false],
    ['http://api.localhost', false],
    ['ws://localhost/ws', false],
    ['https://api.example', false],
    ['wss://api.example', false],
    ['http://api.example', true],
    ['ws://api.example', true],
    ['http://10.0.0.1', true],
    ['http://0.0.0.0', true],
    ['http://notlocalhost', true],
    ['http://localhost.example', true],
  ])('to %s is refused: %s', (url, refused) => {
    const failure = refusePlainHttp(addressOf(url), 'right', { redaction }, NOTHING);
    expect(failure?.kind ?? null).toBe(refused ? 'not-sent' : null);
  });

  it('concerns every credential, since wrong ones are cut from the right one, but no request without', () => {
    const address = addressOf('http://api.example');
    expect(refusePlainHttp(address, 'wrong', { redaction }, NOTHING)?.message).toContain('safety.plainHttp');
    expect(refusePlainHttp(address, 'second', { redaction }, NOTHING)).not.toBeNull();
    expect(refusePlainHttp(address, 'none', { redaction }, NOTHING)).toBeNull();
    expect(refusePlainHttp(address, 'right', { redaction, bare: true }, NOTHING)).toBeNull();
    expect(refusePlainHttp(address, 'right', { redaction, plainHttp: true }, NOTHING)).toBeNull();
  });

  it.each([
    ['a path', 'GET /v1/orders/example-secret-1 HTTP/1.1\r\n\r\n'],
    ['a field', 'GET / HTTP/1.1\r\nX-Order: example-secret-1\r\n\r\n'],
    ['a query, encoded', 'GET /?a=example%2Dsecret%2D1 HTTP/1.1\r\n\r\n'],
    ['content', 'POST / HTTP/1.1\r\n\r\n{"a":"example-secret-1"}'],
  ])('concerns secrets that are no credential, in %s', (_, sent) => {
    const octets = Buffer.from(sent);
    const refusal = (url: string, allowed = {}) =>
      refusePlainHttp(addressOf(url), 'none', { redaction, bare: true, ...allowed }, octets)?.kind ?? null;
    expect(refusal('http://api.example')).toBe('not-sent');
    expect(refusal('http://api.example', { plainHttp: true })).toBeNull();
    expect(refusal('https://api.example')).toBeNull();
    expect(refusal('http://127.0.0.1')).toBeNull();
  });
});
