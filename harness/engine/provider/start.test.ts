import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../base/exit.ts';
import { listening } from '../../base/loopback.ts';
import { Secret } from '../../base/secret.ts';
import { bearer, none } from '../../config/credential/schemes.ts';
import { shipped } from '../../config/fixtures/config-folder.ts';
import type { ProviderConfig, ServiceConfig } from '../../config/service.ts';
import { ask, KEY, start } from '../../reference/fixtures/http-client.ts';
import { startReference } from '../../reference/reference.ts';
import { startProvider } from './start.ts';

const search = await shipped('search');
const config = (provider: ProviderConfig): ServiceConfig => ({
  ...search,
  provider,
  credentials: bearer.of({ key: new Secret('SEARCH_API_KEY', KEY) }),
  plan: { name: null, requests: 2, windowMs: 60_000 },
});

const reference = (defects: readonly string[], variant: string | null = null): ProviderConfig => ({
  kind: 'reference',
  name: 'search',
  defects,
  variant,
});

describe('starting a provider', () => {
  it('starts the reference service with the credentials and the plan of the config', async () => {
    const provider = await startProvider(config(reference([])));
    const statuses: number[] = [];
    for (const key of [KEY, KEY, KEY, 'wrong']) {
      const response = await fetch(`${provider.url}/v1/resources`, {
        headers: { Authorization: `Bearer ${key}` },
      });
      statuses.push(response.status);
    }
    await provider.stop();
    expect(provider.kind).toBe('reference');
    expect(statuses).toEqual([200, 200, 429, 401]);
  });

  it('switches on defects and a variant', async () => {
    const provider = await startProvider(config(reference(['no-date'], 'no-quota-fields')));
    const { headers } = await fetch(`${provider.url}/v1/resources`, {
      headers: { Authorization: `Bearer ${KEY}` },
    });
    await provider.stop();
    expect([headers.get('date'), headers.get('ratelimit')]).toEqual([null, null]);
  });

  it('starts nothing for a URL', async () => {
    const provider = await startProvider(config({ kind: 'url', url: 'https://api.example/base/' }));
    expect([provider.kind, provider.url]).toEqual(['url', 'https://api.example/base']);
    await provider.stop();
  });

  it('refuses unknown defects and variants before anything is started', async () => {
    await expect(startProvider(config(reference(['no-dates'])))).rejects.toThrow(/did you mean no-date/);
    await expect(startProvider(config(reference([], 'chunked')))).rejects.toThrow(UsageError);
  });

  it('says so when a port is taken', async () => {
    const taken = createServer();
    const port = await listening(taken);
    const starting = startReference({ service: 'search', credentials: none.of({}), plan: null, port });
    await expect(starting).rejects.toThrow(/cannot listen on 127\.0\.0\.1:\d+: EADDRINUSE/);
    taken.close();
  });

  it('runs hundreds of services in one process', async () => {
    const providers = await Promise.all(
      Array.from({ length: 300 }, (_, index) => start(index % 2 === 0 ? 'realtime' : 'messaging')),
    );
    const statuses = await Promise.all(providers.map(async (provider) => (await ask(provider)).status));
    await Promise.all(providers.map((provider) => provider.stop()));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
