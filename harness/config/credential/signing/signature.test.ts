import Pusher from 'pusher';
import { describe, expect, it } from 'vitest';
import fc from '../../../base/fixtures/properties.ts';
import { pathOf, queryOf } from '../../../wire/request.ts';
import { signChannel, signRequest } from './signature.ts';

const signing = { key: 'app-key-for-tests', secret: 'app-secret-for-tests' };
const library = new Pusher({ appId: '7', ...signing, cluster: 'mt1' });

/** What the library makes of the same request, and when. */
function byLibrary(method: string, path: string, params: Record<string, string>, body?: string) {
  const query = library.createSignedQueryString({
    method,
    path,
    params,
    ...(body === undefined ? {} : { body }),
  });
  const parameters = Object.fromEntries(query.split('&').map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
  return { parameters, at: new Date(Number(parameters.auth_timestamp) * 1000) };
}

describe('a signed request', () => {
  it('carries what the Pusher library would sign and send', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('GET', 'POST', 'get'),
        fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), fc.string({ unit: 'grapheme', maxLength: 8 }), {
          maxKeys: 4,
        }),
        fc.option(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), { nil: undefined }),
        (method, params, body) => {
          const expected = byLibrary(method, '/apps/7/events', params, body);
          const query = new URLSearchParams(params).toString();
          const { target } = signRequest(
            signing,
            {
              method,
              target: query === '' ? '/apps/7/events' : `/apps/7/events?${query}`,
              fields: [],
              body: body === undefined ? null : Buffer.from(body),
            },
            { at: expected.at },
          );
          const own = Object.fromEntries(queryOf(target));
          for (const name of ['auth_key', 'auth_timestamp', 'auth_version', 'body_md5', 'auth_signature']) {
            expect(own[name]).toBe(expected.parameters[name]);
          }
        },
      ),
    );
  });

  it('signs the path that the server sees, prefix included', () => {
    const expected = byLibrary('GET', '/api/apps/7/channels', {});
    const { target } = signRequest(
      signing,
      { method: 'GET', target: '/apps/7/channels', fields: [] },
      { at: expected.at, pathPrefix: '/api' },
    );
    expect(pathOf(target)).toBe('/apps/7/channels');
    expect(new Map(queryOf(target)).get('auth_signature')).toBe(expected.parameters.auth_signature);
  });

  it('replaces an earlier signature, and keeps the rest of the query as it was written', () => {
    const once = signRequest(
      signing,
      { method: 'GET', target: '/a?x=%7e&y', fields: [] },
      { at: new Date(1000) },
    );
    const again = signRequest(signing, once, { at: new Date(2000) });
    expect(again.target).toMatch(
      /^\/a\?x=%7e&y&auth_key=app-key-for-tests&auth_timestamp=2&auth_version=1\.0&auth_signature=[0-9a-f]{64}$/,
    );
  });
});

describe('a channel signature', () => {
  it('is the one of the Pusher library, for private and presence channels', () => {
    expect(signChannel(signing, '123.456', 'private-news')).toBe(
      library.authorizeChannel('123.456', 'private-news').auth,
    );
    const presence = library.authorizeChannel('123.456', 'presence-room', {
      user_id: 'ü',
      user_info: { name: 'a:b' },
    });
    expect(signChannel(signing, '123.456', 'presence-room', presence.channel_data)).toBe(presence.auth);
  });
});
