import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../base/secret.ts';
import type { Credentials } from '../config/credential/scheme.ts';
import { login } from '../config/credential/schemes/login.ts';
import { oauth2 } from '../config/credential/schemes/oauth2.ts';
import { basic, bearer, header, none, query, signed } from '../config/credential/schemes.ts';
import type { ReferenceName } from '../config/service.ts';
import { mayUse } from '../engine/fixtures/system-tools.ts';
import { exampleCredentials, howToCall } from './how-to-call.ts';
import { type ReferenceOptions, startReference } from './reference.ts';

async function told(
  service: ReferenceName,
  credentials: Credentials,
  options: Partial<ReferenceOptions> = {},
): Promise<string> {
  const provider = await startReference({ service, credentials, plan: null, ...options });
  onTestFinished(() => provider.stop());
  return howToCall(provider, credentials);
}

/** Whether what is told can be run here. */
const runs = mayUse('curl') && mayUse('openssl');
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
  it.skipIf(!runs).each(SERVICES)('%s: the sample, with the example key as it is, runs', async (service) => {
    const text = await told(service, exampleCredentials(service));
    expect(text).toContain(`Bearer example-${service}-key`);
    expect(JSON.parse(await shell(text, /^curl -H/))).toHaveProperty('links');
  });

  it.skipIf(!runs).each<[string, Credentials, string]>([
    ['bearer', bearer.of({ key: KEY }), '"Authorization: Bearer $STAGING_KEY"'],
    ['header', header.of({ name: 'X-API-Key', key: KEY }), '"X-API-Key: $STAGING_KEY"'],
    ['query', query.of({ name: 'api_key', key: KEY }), '?api_key=$STAGING_KEY"'],
    ['basic', basic.of({ username: 'tester', password: KEY }), '-u "tester:$STAGING_KEY"'],
    ['none', none.of({}), 'curl -H "Content-Type'],
  ])('shows the variable of a %s credential, never its value', async (_, credentials, expected) => {
    const text = await told('search', credentials);
    expect(text).toContain(expected);
    expect(text).not.toContain(KEY.reveal());
    expect(JSON.parse(await shell(text, /^curl/))).toHaveProperty('links');
  });

  it.skipIf(!runs)('obtains a key first where that is how clients are let in', async () => {
    const client = { tokenUrl: '/oauth/token', clientId: 'tester', clientSecret: KEY };
    const text = await told('search', oauth2.of(client));
    expect(text).toContain('-u "tester:$STAGING_KEY"');
    expect(JSON.parse(await shell(text, /^(export|curl)/))).toHaveProperty('links');
  });

  it.skipIf(!runs).each(['json:/data/token', 'cookie:sid', 'header:X-Auth-Token'])(
    'logs in first, and takes the key by %s',
    async (take) => {
      const user = { loginUrl: '/login', username: 'tester', password: KEY, take, send: 'bearer' };
      const text = await told('search', login.of(user));
      expect(text).not.toContain(KEY.reveal());
      expect(JSON.parse(await shell(text, /^(export|curl|KEY)/))).toHaveProperty('links');
    },
  );

  it.skipIf(!runs)('signs where requests are signed', async () => {
    const secret = new Secret('APP_SECRET', 'secret-from-the-environment');
    const text = await told('realtime', signed.of({ app: { id: '7', key: 'app-key', secret } }));
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
    expect(text).toContain('no-date: Responses have no Date header');
    expect(await told('search', exampleCredentials('search'))).toMatch(
      /no limit[\s\S]*none: this service conforms/,
    );
  });
});
