import type { IncomingMessage, RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { simulatedClock } from '../../harness/engine/simulation/clock.ts';
import { suites } from '../catalogue.ts';
import { amiss, configFor, holdsKey, judgedServed } from './fixtures/judged.ts';

/** Those that ask for the documented response, and for what is near it. */
const ASKING = suites.filter(({ name }) => ['auth', 'status', 'json', 'paths', 'operations'].includes(name));
const JSON_TYPE = { 'Content-Type': 'application/json' };

const isDocumented = ({ method, url }: IncomingMessage) => method === 'GET' && url === '/v1/resources';

/** By the requests that are served: what all others get, and the check that says so. */
const SHIELDS: readonly (readonly [string, number, string, (request: IncomingMessage) => boolean])[] = [
  ['the documented request', 204, 'status.unknown-path', isDocumented],
  ['the documented request', 205, 'status.unknown-path', isDocumented],
  ['the documented request', 304, 'status.unknown-path', isDocumented],
  ['no request', 204, 'json.body-present', () => false],
  ['no request', 304, 'status.sample', () => false],
  ['HEAD', 405, 'status.sample', ({ method }) => method === 'HEAD'],
];

it.for(SHIELDS)(
  'is not green: a service that serves %s, and answers the rest %i',
  async ([, status, id, isServed]) => {
    const serve: RequestListener = (request, response) => {
      if (!holdsKey(request.headers.authorization)) {
        response.writeHead(401, { ...JSON_TYPE, 'WWW-Authenticate': 'Bearer realm="api"' });
        return response.end('{"title":"no key"}');
      }
      if (!isServed(request)) return response.writeHead(status).end();
      return response.writeHead(200, JSON_TYPE).end('{"resources":[]}');
    };
    const clock = simulatedClock();
    const ran = await judgedServed(serve, await configFor(), ASKING, { clock });
    clock.stop();
    expect(amiss(ran)).toContain(id);
  },
);
