import type { RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { Secret } from '../../harness/base/secret.ts';
import { bearer } from '../../harness/config/credential/schemes.ts';
import { auth } from '../auth/auth.suite.ts';
import { json } from '../json/json.suite.ts';
import { configFor, judgedServed } from './fixtures/judged.ts';

/** A service that echoes nothing, but has the words `resources` and 12345678 in all that it says. */
const service: RequestListener = (request, response) => {
  const isKey = /^Bearer (?:resources|12345678)$/.test(request.headers.authorization ?? '');
  const [status, type] = isKey ? [200, 'application/json'] : [401, 'application/problem+json'];
  const problem = { status: 401, title: 'no resources without a key', instance: '/resources/12345678' };
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
