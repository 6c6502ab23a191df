import { describe, expect, it } from 'vitest';
import { findBodyLinks } from './link.ts';

describe('findBodyLinks', () => {
  it('finds those by which a client goes on, wherever they stand', () => {
    const body = {
      _links: { self: { href: '/v1/a' }, next: '/v1/a?page=2', license: { href: '/legal' } },
      links: [
        { rel: 'collection', href: '/v1/b' },
        { rel: 'documentation', href: '/docs' },
        { rel: 'self', href: '//other.example/x' },
      ],
      items: [{ url: 'https://api.example/v1/c' }],
      next_url: '/v1/d',
      prevHref: '/v1/e',
      self: '/v1/f',
    };
    expect(findBodyLinks(body)).toEqual([
      '/v1/a',
      '/v1/a?page=2',
      '/v1/b',
      'https://api.example/v1/c',
      '/v1/d',
      '/v1/e',
      '/v1/f',
    ]);
  });

  it('leaves out what has another purpose, and what is data', () => {
    const body = {
      home: 'https://api.example/v1',
      documentation: { href: '/docs' },
      documentation_url: '/docs',
      html_url: '/page',
      avatarUrl: '/img/1',
      status: { links: { about: '/status', icon: '/icon.png' } },
      targets: [{ scrapeUrl: 'http://localhost:9090/metrics', url: '/uploads/1' }],
      parent: '/srv/music',
      path: '/v1/not-a-link',
    };
    expect(findBodyLinks(body)).toEqual([]);
  });

  it('looks at all values, to any depth', () => {
    let deep: unknown = { self: '/v1/deep' };
    for (let level = 0; level < 400; level++) deep = [deep];
    expect(findBodyLinks(deep)).toEqual(['/v1/deep']);
    const many = { items: Array.from({ length: 50_000 }, (_, at) => ({ href: `/v1/${at}` })) };
    expect(findBodyLinks(many)).toHaveLength(50_000);
  });
});
