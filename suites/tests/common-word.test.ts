import type { RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { Secret } from '../../harness/base/secret.ts';
import { bearer } from '../../harness/config/credential/schemes.ts';
import { auth } from '../auth/auth.suite.ts';
import { json } from '../json/json.suite.ts';
import { configFor, judgedServed } from './fixtures/judged.ts';

const LEAKED = 'sk-4f9a0c77e1b2d3';

/** A service that echoes nothing, but has the words `resources` and 12345678 in all that it says, and one key. */
const service: RequestListener = (request, response) => {
  const [, key = ''] = /^Bearer (.*)$/.exec(request.headers.authorization ?? '') ?? [];
  const isKey = ['resources', '12345678', LEAKED].includes(key);
  const [status, type] = isKey ? [200, 'application/json'] : [401, 'application/problem+json'];
  const problem = {
    status: 401,
    title: 'no resources without a key',
    instance: `/resources/12345678/${LEAKED}`,
  };
  const fields = {
    'Content-Type': type,
    ...(isKey ? {} : { 'WWW-Authenticate': 'Bearer realm="resources 12345678"' }),
  };
  response.writeHead(status, fields);
  response.end(JSON.stringify(isKey ? { resources: [{ resources: 12345678, id: 12345678 }] } : problem));
};

it.each(['resources', '12345678'])('a key that is an ordinary word accuses nobody: %s', async (word) => {
  const key = new Secret('EXAMPLE_KEY', word);
  const config = { ...(await configFor()), credentials: bearer.of({ key }) };
  const { outcomes, messages } = await judgedServed(service, config, [auth, json]);
  // What its HTTP server says by itself is plain text, whatever the key.
  const about = ['auth.key-not-echoed', ...Object.keys(outcomes).filter((id) => id.startsWith('json.'))];
  const found = about.filter(
    (id) =>
      id !== 'json.server-error-media-type' && !['pass', 'observed', 'skipped'].includes(outcomes[id] ?? ''),
  );
  expect(found.map((id) => `${id}: ${messages[id]}`)).toEqual([]);
});

it('a service that shows the key to everyone does not thereby make it an ordinary word', async () => {
  const config = {
    ...(await configFor()),
    credentials: bearer.of({ key: new Secret('EXAMPLE_KEY', LEAKED) }),
  };
  const { outcomes } = await judgedServed(service, config, [auth]);
  expect(outcomes['auth.key-not-echoed']).toBe('warning');
});
