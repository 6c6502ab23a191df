import { describe, expect, it } from 'vitest';
import { findBodyLinks, isInnerHost } from './links.ts';

describe('findBodyLinks', () => {
  it('finds absolute URLs anywhere and paths in members named like links', () => {
    const body = {
      description: 'see https://not.alone.example',
      home: 'https://api.example/v1',
      _links: { self: { href: '/v1/a' }, next: '/v1/a?page=2' },
      avatar_url: '/img/1',
      links: ['/v1/b', 7, null],
      path: '/v1/not-a-link',
      url: '//other.example/x',
    };
    expect(findBodyLinks(body)).toEqual([
      'https://api.example/v1',
      '/v1/a',
      '/v1/a?page=2',
      '/img/1',
      '/v1/b',
    ]);
  });

  it('looks at all values, to any depth', () => {
    let deep: unknown = { href: '/v1/deep' };
    for (let level = 0; level < 400; level++) deep = [deep];
    expect(findBodyLinks(deep)).toEqual(['/v1/deep']);
    const many = Array.from({ length: 50_000 }, (_, at) => ({ href: `/v1/${at}` }));
    expect(findBodyLinks(many)).toHaveLength(50_000);
  });
});

describe('a host of an inner network', () => {
  it.each([
    '10.1.2.3',
    '192.168.0.9',
    '127.0.0.1',
    '[fd00::1]',
    '[::1]',
    'backend',
    'db.internal',
    'nas.local',
    'localhost',
  ])('is %s', (host) => expect(isInnerHost(host)).toBe(true));

  it.each(['api.example.com', '8.8.8.8', '[2001:db8::1]', 'internal.example', '11.0.0.1'])(
    'is not %s',
    (host) => expect(isInnerHost(host)).toBe(false),
  );
});
