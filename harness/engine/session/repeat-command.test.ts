import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { served } from '../../base/fixtures/server.ts';
import { GOOD_SERVICE, loadOrders } from '../../config/fixtures/config-folder.ts';
import { sessionAt } from './fixtures/session.ts';

/** The command that repeats the one request of a session. */
async function repeated(provider?: 'container'): Promise<string | null> {
  const { config } = await loadOrders(GOOD_SERVICE);
  const url = await served(createServer((_, response) => response.end()));
  const its =
    provider === undefined ? config : { ...config, provider: { ...config.provider, kind: provider } };
  const { session, asked } = sessionAt(url, its as typeof config);
  onTestFinished(async () => void (await session.close()));
  await asked(({ http }) => http.send({ purpose: 'the documented sample' }));
  return session.reproduce(['status.sample'], 'e1', ['e1']);
}

it('a request is repeated by curl, except to a container that is gone after the run', async () => {
  expect(await repeated()).toMatch(/^curl -sS -i http:/);
  expect(await repeated('container')).toBe('conform run orders --check status.sample --verbose');
});
