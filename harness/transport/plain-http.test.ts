import { describe, expect, it } from 'vitest';
import { addressOf } from './address.ts';
import { refusePlainHttp } from './plain-http.ts';

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
    const failure = refusePlainHttp(addressOf(url), 'right', { plainHttp: false });
    expect(failure?.kind ?? null).toBe(refused ? 'not-sent' : null);
  });

  it('concerns every credential, since wrong ones are cut from the right one, but no request without', () => {
    const address = addressOf('http://api.example');
    expect(refusePlainHttp(address, 'wrong', { plainHttp: false })?.message).toContain('safety.plainHttp');
    expect(refusePlainHttp(address, 'second', { plainHttp: false })).not.toBeNull();
    expect(refusePlainHttp(address, 'none', { plainHttp: false })).toBeNull();
    expect(refusePlainHttp(address, 'right', { plainHttp: true })).toBeNull();
  });
});
