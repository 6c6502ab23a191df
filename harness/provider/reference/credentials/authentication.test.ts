import { describe, expect, it } from 'vitest';
import { basic } from '../../../credential/schemes/basic.ts';
import { header } from '../../../credential/schemes/header.ts';
import { none } from '../../../credential/schemes/none.ts';
import { query } from '../../../credential/schemes/query.ts';
import { Secret } from '../../../credential/secret.ts';
import { ask, KEY, started } from '../fixtures/http-client.ts';

describe('schemes other than bearer', () => {
  const key = new Secret('KEY', KEY);

  it('takes the key in a field of its own', async () => {
    const provider = await started('search', { credentials: header.of({ name: 'X-API-Key', key }) });
    const right = await ask(provider, { authorization: null, fields: [['x-api-key', KEY]] });
    expect([right.status, right.field('vary')]).toEqual([200, 'X-API-Key']);
    const refused = await ask(provider);
    expect([refused.status, refused.field('www-authenticate')]).toEqual([401, 'ApiKey realm="search"']);
  });

  it('takes the key in the query, once', async () => {
    const provider = await started('search', { credentials: query.of({ name: 'api_key', key }) });
    const status = async (query: string): Promise<number> =>
      (await ask(provider, { authorization: null, target: `/v1/resources?${query}` })).status;
    expect(await status(`api_key=${KEY}`)).toBe(200);
    expect(await status(`x=1&api_key=${KEY.replace('-', '%2d')}`)).toBe(200);
    expect(await status('api_key=')).toBe(401);
    expect(await status(`api_key=${KEY}&api_key=${KEY}`)).toBe(401);
  });

  it('takes a user and a password', async () => {
    const password = new Secret('PASSWORD', 'example:password');
    const provider = await started('messaging', { credentials: basic.of({ username: 'tester', password }) });
    const token = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    const status = async (authorization: string): Promise<number> =>
      (await ask(provider, { authorization })).status;
    expect(await status(token('tester:example:password'))).toBe(200);
    expect(await status(token('tester:'))).toBe(401);
    expect(await status('Basic ???')).toBe(401);
  });

  it('asks for nothing where nothing is configured', async () => {
    const provider = await started('search', { credentials: none.of({}) });
    expect((await ask(provider, { authorization: null })).status).toBe(200);
  });
});
