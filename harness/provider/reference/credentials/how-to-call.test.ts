import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import type { Credentials, ReferenceName } from '../../../config/service.ts';
import { Secret } from '../../../credential/secret.ts';
import { acceptedCredentials } from '../../start.ts';
import { type ReferenceOptions, type ReferenceProvider, startReference } from '../reference.ts';
import { exampleCredentials } from './example-credentials.ts';
import { howToCall } from './how-to-call.ts';

const running: ReferenceProvider[] = [];

async function told(
  service: ReferenceName,
  credentials: Credentials,
  options: Partial<ReferenceOptions> = {},
): Promise<string> {
  const accepted = acceptedCredentials(credentials);
  const provider = await startReference({ service, credentials: accepted, plan: null, ...options });
  running.push(provider);
  return howToCall(provider, credentials);
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((provider) => provider.stop()));
});

const SERVICES: readonly ReferenceName[] = ['search', 'messaging', 'realtime'];
const KEY = new Secret('STAGING_KEY', 'key-from-the-environment');

/** Runs the lines of a text that a shell can run. */
async function shell(text: string, pattern: RegExp): Promise<string> {
  const lines = text.split('\n').filter((line) => pattern.test(line.trim()));
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', lines.join('\n').replaceAll('curl ', 'curl -sS ')],
    {
      env: { PATH: process.env.PATH, STAGING_KEY: KEY.reveal(), APP_SECRET: 'secret-from-the-environment' },
    },
  );
  return stdout;
}

describe('how to call a service', () => {
  it.each(SERVICES)('%s: the sample, with the example key as it is, runs', async (service) => {
    const text = await told(service, exampleCredentials(service));
    expect(text).toContain(`Bearer example-${service}-key`);
    expect(JSON.parse(await shell(text, /^curl -H/))).toHaveProperty('links');
  });

  it.each<[string, Credentials, string]>([
    [
      'bearer',
      { scheme: 'bearer', key: KEY, secondKey: null, app: null },
      '"Authorization: Bearer $STAGING_KEY"',
    ],
    [
      'header',
      { scheme: 'header', name: 'X-API-Key', key: KEY, secondKey: null, app: null },
      '"X-API-Key: $STAGING_KEY"',
    ],
    [
      'query',
      { scheme: 'query', name: 'api_key', key: KEY, secondKey: null, app: null },
      '?api_key=$STAGING_KEY"',
    ],
    [
      'basic',
      { scheme: 'basic', username: 'tester', password: KEY, secondKey: null, app: null },
      '-u "tester:$STAGING_KEY"',
    ],
    ['none', { scheme: 'none' }, 'curl -H "Content-Type'],
  ])('shows the variable of a %s credential, never its value', async (_, credentials, expected) => {
    const text = await told('search', credentials);
    expect(text).toContain(expected);
    expect(text).not.toContain(KEY.reveal());
    expect(JSON.parse(await shell(text, /^curl/))).toHaveProperty('links');
  });

  it('signs where requests are signed', async () => {
    const secret = new Secret('APP_SECRET', 'secret-from-the-environment');
    const text = await told('realtime', {
      scheme: 'signed',
      secondKey: null,
      app: { id: '7', key: 'app-key', secret },
    });
    expect(text).not.toContain(secret.reveal());
    const sample = text.slice(0, text.indexOf('WebSocket'));
    expect(JSON.parse(await shell(sample, /^(query|signature|curl)/))).toHaveProperty('links');
  });

  it('tells how to connect to realtime', async () => {
    const text = await told('realtime', exampleCredentials('realtime'));
    expect(text).toMatch(
      /wscat -H "Authorization: Bearer example-realtime-key-not-secret" -c "ws:\/\/127\.0\.0\.1:\d+\/ws"/,
    );
    expect(text).toMatch(/new Pusher\('example-app-key'/);
    expect(text).toMatch(/ws:\/\/127\.0\.0\.1:\d+\/app\/example-app-key\?protocol=7/);
  });

  it('tells the plan, the variant and what is wrong with the service', async () => {
    const text = await told('search', exampleCredentials('search'), {
      plan: { requests: 100, windowMs: 60_000 },
      variant: 'chunked-body',
      defects: ['no-date'],
    });
    expect(text).toContain('100 requests in 60 s for each credential');
    expect(text).toContain('chunked-body: sends content in chunks');
    expect(text).toContain('no-date: no answer has a Date field');
    expect(await told('search', exampleCredentials('search'))).toMatch(
      /no limit[\s\S]*none: this service conforms/,
    );
  });
});
