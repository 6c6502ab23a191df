import type { IncomingMessage, RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { auth } from '../auth/auth.suite.ts';
import { status } from '../status/status.suite.ts';
import { configFor, holdsKey, judgedServed } from './fixtures/judged.ts';

const TRACE = 'Error: at handle (/srv/app/index.js:10:5)';

/** In order, but for what it says of an error when this holds of the request. */
function leaking(isLeak: (request: IncomingMessage) => boolean): RequestListener {
  return (request, response) => {
    const [code, content] = holdsKey(request.headers.authorization)
      ? request.url === '/v1/resources'
        ? [200, { resources: [] }]
        : [404, { error: 'not found' }]
      : [401, { error: isLeak(request) ? TRACE : 'who are you?' }];
    const fields = { 'Content-Type': 'application/json', 'WWW-Authenticate': 'Bearer realm="orders"' };
    response.writeHead(Number(code), fields).end(JSON.stringify(content));
  };
}

const NO_INTERNALS = status.checks.filter(({ id }) => id === 'status.no-internals');
const alone = { ...status, checks: NO_INTERNALS };

describe('a rule over the record', () => {
  it('tells a fault that the stimulus of another check brought', async () => {
    const service = leaking(({ headers }) => 'x-http-method-override' in headers);
    const { messages, outcomes } = await judgedServed(service, await configFor(), [auth, alone]);
    expect(outcomes['status.no-internals']).toBe('warning');
    expect(messages['status.no-internals']).toMatch(
      /^expected no stack trace.* for GET under method override fields, without a credential/,
    );
  });

  it('judges the least where nothing else is sent', async () => {
    const config = await configFor();
    const there = await judgedServed(
      leaking(() => true),
      config,
      [alone],
    );
    expect(there.outcomes['status.no-internals']).toBe('warning');
    const missed = await judgedServed(
      leaking(({ method }) => method === 'TRACE'),
      config,
      [alone],
    );
    expect(missed.outcomes['status.no-internals']).toBe('pass');
    expect(missed.requests).toBe(3);
  });
});
