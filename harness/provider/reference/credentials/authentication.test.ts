import { describe, expect, it } from 'vitest';
import { ask, KEY } from '../fixtures/http-client.ts';
import { started } from '../fixtures/started.ts';

describe('schemes other than bearer', () => {
  const keys = [KEY];

  it('takes the key in a field of its own', async () => {
    const provider = await started('search', { credentials: { scheme: 'header', name: 'X-API-Key', keys } });
    const right = await ask(provider, { authorization: null, fields: [['x-api-key', KEY]] });
    expect([right.status, right.field('vary')]).toEqual([200, 'X-API-Key']);
    const refused = await ask(provider);
    expect([refused.status, refused.field('www-authenticate')]).toEqual([401, 'ApiKey realm="search"']);
  });

  it('takes the key in the query, once', async () => {
    const provider = await started('search', { credentials: { scheme: 'query', name: 'api_key', keys } });
    const status = async (query: string): Promise<number> =>
      (await ask(provider, { authorization: null, target: `/v1/resources?${query}` })).status;
    expect(await status(`api_key=${KEY}`)).toBe(200);
    expect(await status(`x=1&api_key=${KEY.replace('-', '%2d')}`)).toBe(200);
    expect(await status('api_key=')).toBe(401);
    expect(await status(`api_key=${KEY}&api_key=${KEY}`)).toBe(401);
  });

  it('takes a user and a password', async () => {
    const users = [{ username: 'tester', password: 'example:password' }];
    const provider = await started('messaging', { credentials: { scheme: 'basic', users } });
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    const status = async (authorization: string): Promise<number> =>
      (await ask(provider, { authorization })).status;
    expect(await status(basic('tester:example:password'))).toBe(200);
    expect(await status(basic('tester:'))).toBe(401);
    expect(await status('Basic ???')).toBe(401);
  });

  it('asks for nothing where nothing is configured', async () => {
    const provider = await started('search', { credentials: { scheme: 'none' } });
    expect((await ask(provider, { authorization: null })).status).toBe(200);
  });
});
