import { describe, expect, it } from 'vitest';
import { UsageError } from '../../base/exit.ts';
import { proxiesOf, proxyFor, proxyPasswords } from '../../wire/socket/proxies.ts';

const PROXY = 'http://proxy.example:3128';

function way(url: string, env: NodeJS.ProcessEnv): string | null {
  const { protocol, hostname, port } = new URL(url);
  const secure = /^(?:https|wss):$/.test(protocol);
  const target = {
    secure,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (secure ? 443 : 80)),
  };
  return proxyFor(target, proxiesOf(env))?.shown ?? null;
}

describe('the proxies of the environment', () => {
  it.each<[string, string, NodeJS.ProcessEnv, string | null]>([
    ['none', 'https://api.example', {}, null],
    ['https', 'https://api.example', { HTTPS_PROXY: PROXY }, PROXY],
    ['wss', 'wss://api.example', { HTTPS_PROXY: PROXY }, PROXY],
    ['http', 'http://api.example', { HTTP_PROXY: PROXY }, PROXY],
    ['ws', 'ws://api.example', { HTTP_PROXY: PROXY }, PROXY],
    ['the other kind', 'http://api.example', { HTTPS_PROXY: PROXY }, null],
    ['small letters', 'https://api.example', { https_proxy: PROXY }, PROXY],
    [
      'small letters first',
      'https://api.example',
      { https_proxy: PROXY, HTTPS_PROXY: 'http://other' },
      PROXY,
    ],
    ['an empty variable', 'https://api.example', { https_proxy: '', HTTPS_PROXY: PROXY }, PROXY],
    ['a host and a port', 'https://api.example', { HTTPS_PROXY: 'proxy.example:3128' }, PROXY],
    ['over TLS', 'https://api.example', { HTTPS_PROXY: 'https://proxy.example' }, 'https://proxy.example'],
    ['this machine', 'http://127.0.0.1:8080', { HTTP_PROXY: PROXY }, null],
    ['this machine by name', 'https://localhost', { HTTPS_PROXY: PROXY }, null],
    ['this machine by IPv6', 'http://[::1]:8080', { HTTP_PROXY: PROXY }, null],
  ])('%s', (_case, url, env, expected) => {
    expect(way(url, env)).toBe(expected);
  });

  it.each<[string, string, 'direct' | 'proxy']>([
    ['api.example', 'https://api.example', 'direct'],
    ['API.Example', 'https://api.example', 'direct'],
    ['example', 'https://api.example', 'direct'],
    ['.example', 'https://api.example', 'direct'],
    ['.api.example', 'https://api.example', 'direct'],
    ['*.example', 'https://api.example', 'direct'],
    ['pi.example', 'https://api.example', 'proxy'],
    ['api', 'https://api.example', 'proxy'],
    ['other.example', 'https://api.example', 'proxy'],
    ['other.example, api.example', 'https://api.example', 'direct'],
    ['other.example api.example', 'https://api.example', 'direct'],
    ['api.example:443', 'https://api.example', 'direct'],
    ['api.example:443', 'https://api.example:8443', 'proxy'],
    ['api.example.', 'https://api.example', 'direct'],
    ['*', 'https://api.example', 'direct'],
    ['other.example,*', 'https://api.example', 'direct'],
    ['10.1.2.3', 'https://10.1.2.3', 'direct'],
    ['10.1.2.3:8443', 'https://10.1.2.3:8443', 'direct'],
    ['10.1.2.3:8443', 'https://10.1.2.3', 'proxy'],
    ['2.3', 'https://10.1.2.3', 'proxy'],
    ['10.0.0.0/8', 'https://10.1.2.3', 'direct'],
    ['10.0.0.0/8', 'https://11.1.2.3', 'proxy'],
    ['10.0.0.0/8', 'https://api.example', 'proxy'],
    ['10.0.0.0/99', 'https://10.1.2.3', 'proxy'],
    ['fd00::/8', 'https://[fd12::1]', 'direct'],
    ['FD12:0::1', 'https://[fd12::1]', 'direct'],
    ['[fd12::1]:8443', 'https://[fd12::1]:8443', 'direct'],
    ['[fd12::1]:8443', 'https://[fd12::1]', 'proxy'],
    ['', 'https://api.example', 'proxy'],
    ['.', 'https://api.example', 'proxy'],
  ])('NO_PROXY=%s for %s: %s', (NO_PROXY, url, expected) => {
    expect(way(url, { HTTPS_PROXY: PROXY, NO_PROXY })).toBe(expected === 'proxy' ? PROXY : null);
    expect(way(url, { HTTPS_PROXY: PROXY, no_proxy: NO_PROXY })).toBe(expected === 'proxy' ? PROXY : null);
  });

  it('log in with what the URL has, percent-encoding undone, and never show it', () => {
    const proxies = proxiesOf({ HTTPS_PROXY: 'http://jo:p%40ss:word@proxy.example:3128' });
    expect(proxies.secure).toMatchObject({ shown: PROXY, variable: 'HTTPS_PROXY' });
    expect(proxies.secure?.login?.reveal()).toBe('jo:p@ss:word');
    expect(proxyPasswords(proxies).map((secret) => secret.reveal())).toEqual(['p@ss:word']);
    expect(JSON.stringify(proxies)).not.toContain('word');
    const token = proxiesOf({ HTTPS_PROXY: 'http://token-of-a-test@proxy.example' });
    expect(proxyPasswords(token).map((secret) => secret.reveal())).toContain('token-of-a-test');
  });

  it.each([
    ['socks5://user:secret-of-a-test@proxy.example', /names a proxy of the kind socks5/],
    ['http://', /is not the URL of a proxy/],
    ['http://user:secret-of-a-test@:99999', /is not the URL of a proxy/],
  ])('of %s cannot be used, which is told without the value', (HTTPS_PROXY, message) => {
    const read = () => proxiesOf({ HTTPS_PROXY });
    expect(read).toThrow(UsageError);
    expect(read).toThrow(message);
    expect(read).not.toThrow(/secret-of-a-test/);
    expect(proxiesOf({ HTTPS_PROXY, NO_PROXY: '*' }).secure).toBeNull();
  });
});
