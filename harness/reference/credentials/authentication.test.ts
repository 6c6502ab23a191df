import { describe, expect, it } from 'vitest';
import { Secret } from '../../base/secret.ts';
import { basic } from '../../config/credential/schemes/basic.ts';
import { query } from '../../config/credential/schemes/query.ts';
import { ask, KEY, started } from '../fixtures/http-client.ts';

// That each opens and shuts, the proof shows under its setting.
describe('schemes other than bearer', () => {
  const key = new Secret('KEY', KEY);

  it('take the key in the query, however it is encoded, once', async () => {
    const provider = await started('search', { credentials: query.of({ name: 'api_key', key }) });
    const status = async (query: string): Promise<number> =>
      (await ask(provider, { authorization: null, target: `/v1/resources?${query}` })).status;
    expect(await status(`x=1&api_key=${KEY.replace('-', '%2d')}`)).toBe(200);
    expect(await status(`api_key=${KEY}&api_key=${KEY}`)).toBe(401);
  });

  it('take a password with a colon', async () => {
    const password = new Secret('PASSWORD', 'example:password');
    const provider = await started('messaging', { credentials: basic.of({ username: 'tester', password }) });
    const token = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    const status = async (authorization: string): Promise<number> =>
      (await ask(provider, { authorization })).status;
    expect(await status(token('tester:example:password'))).toBe(200);
    expect(await status('Basic ???')).toBe(401);
  });
});
