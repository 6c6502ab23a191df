import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { served } from '../../base/fixtures/server.ts';
import { conformOver } from '../fixtures/conform-process.ts';
import { NO_REDIS, startRedis } from '../fixtures/redis-server.ts';

const KEY = 'example-key-for-tests';

/** A gateway before two services that count by one key, and which of them was asked, without repeats. */
async function gateway() {
  const asked: string[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    const service = url.split('/')[1] ?? '';
    if (asked.at(-1) !== service) asked.push(service);
    const isKnown = headers.authorization === `Bearer ${KEY}`;
    const fields = isKnown ? {} : { 'WWW-Authenticate': 'Bearer' };
    response.writeHead(isKnown ? 200 : 401, { 'Content-Type': 'application/json', ...fields });
    // So slow that two that are judged at the same time meet here.
    setTimeout(() => response.end('{}'), 20);
  });
  return { asked, url: await served(server) };
}

const service = (name: string, url: string) => `service: ${name}
contract: search
provider: { url: "${url}/${name}" }
credentials: { scheme: bearer, key: "\${env:SHARED_KEY}" }
plan: { requests: 5000, window: 1s }
`;

/** `conform run NAMES --check 'auth.s*'`, in a process of its own. */
function runOf(names: readonly string[], url: string, env: Readonly<Record<string, string>> = {}) {
  const files = names.map((name) => [`services/${name}.yaml`, service(name, url)] as const);
  return conformOver(Object.fromEntries(files), ['--check', 'auth.s*'], { SHARED_KEY: KEY, ...env });
}

describe('services that share a quota', () => {
  it('are judged one after the other', async () => {
    const { asked, url } = await gateway();
    await runOf(['one', 'other'], url);
    expect(asked.toSorted()).toEqual(['one', 'other']);
  });

  it.skipIf(NO_REDIS)('are judged one after the other on two machines that share a store', async () => {
    const redis = await startRedis('an-example-and-not-secret');
    onTestFinished(() => redis.stop());
    const { asked, url } = await gateway();
    const env = { CONFORM_SHARE_QUOTA: redis.url };
    const endings = await Promise.all([runOf(['one'], url, env), runOf(['other'], url, env)]);
    expect(endings.map(({ code }) => code)).not.toContain(2);
    expect(asked.toSorted()).toEqual(['one', 'other']);
  });

  it('are not asked anything where the store is away', async () => {
    const { asked, url } = await gateway();
    const { code, stderr } = await runOf(['one'], url, { CONFORM_SHARE_QUOTA: 'redis://127.0.0.1:1' });
    expect({ code, asked }).toEqual({ code: 2, asked: [] });
    expect(stderr).toMatch(/the store of shared quotas at 127\.0\.0\.1:1 cannot be used/);
  });
});
