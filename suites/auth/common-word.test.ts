import type { RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { Secret } from '../../harness/base/secret.ts';
import { bearer } from '../../harness/config/credential/schemes.ts';
import { json } from '../json/json.suite.ts';
import { configFor, judgedServed } from '../tests/fixtures/judged.ts';
import { auth } from './auth.suite.ts';

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

it('a service that serves the resource without a key at every other path is not taken for one with a page there', async () => {
  const content = JSON.stringify({ resources: [{ id: 1, name: 'only for those with a key' }] });
  const open: RequestListener = ({ url, headers }, response) => {
    const isRefused = url?.startsWith('/v1/resources?') || url === '/v1/resources';
    response.writeHead(isRefused && headers.authorization !== `Bearer ${LEAKED}` ? 401 : 200, {
      'Content-Type': 'application/json',
    });
    response.end(response.statusCode === 401 ? '{"title":"no key"}' : content);
  };
  const config = {
    ...(await configFor()),
    credentials: bearer.of({ key: new Secret('EXAMPLE_KEY', LEAKED) }),
  };
  const { outcomes, messages } = await judgedServed(open, config, [auth]);
  expect(messages['auth.content-withheld']).toContain('all of it at a path that does not exist');
  expect(outcomes['auth.content-withheld']).toBe('fail');
});
