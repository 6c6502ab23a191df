import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serving } from '../../harness/base/fixtures/server.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import type { Judgment } from '../../harness/engine/check/judge.ts';
import { judgeInSessions } from '../../harness/engine/check/plan.ts';
import { openLiveSession } from '../../harness/engine/session/session.ts';
import type { JournalEvent } from '../../harness/report/results/fold/events.ts';
import { auth } from '../auth/auth.suite.ts';
import { status } from '../status/status.suite.ts';
import { configFor, holdsKey, inTurn, judgedServed } from './fixtures/judged.ts';

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

/** Of a command that is started again for each suite; which command is of no matter here. */
async function freshConfig(): Promise<ServiceConfig> {
  const config = await configFor();
  const provider: ServiceConfig['provider'] = {
    kind: 'command',
    run: ['true'],
    cwd: '.',
    env: {},
    url: 'http://127.0.0.1:1',
    ready: null,
    timeoutMs: 1_000,
    freshForEachSuite: true,
  };
  return { ...config, provider };
}

describe('a rule over the record', () => {
  it('tells a fault that the stimulus of another check brought', async () => {
    const service = leaking(({ headers }) => 'x-http-method-override' in headers);
    const { messages, outcomes } = await judgedServed(service, await configFor(), [auth, alone]);
    expect(outcomes['status.no-internals']).toBe('warning');
    expect(messages['status.no-internals']).toMatch(
      /^expected no stack trace.* for GET under method override fields, without a credential/,
    );
  });

  it('tells it too if the other check met a provider that was started for its suite alone', async () => {
    const service = leaking(({ headers }) => 'x-http-method-override' in headers);
    const { url, stop } = await serving(createServer(service));
    const told = await inTurn(async (clock): Promise<Judgment | null> => {
      const events: JournalEvent[] = [];
      const shared = {
        config: await freshConfig(),
        providerUrl: url,
        runId: 'test',
        userAgent: 'conform/test',
      };
      const judged = judgeInSessions([auth, alone], shared.config, {
        open: (recorded) =>
          openLiveSession({
            ...shared,
            clock,
            recorded,
            evidenceBefore: events.length,
            record: (event) => event.type === 'evidence' && events.push(event),
          }),
        asked: () => events.length,
        strict: false,
        signal: AbortSignal.timeout(170_000),
      });
      let found: Judgment | null = null;
      for await (const { check, judgment } of judged) {
        if (check.id === 'status.no-internals') found = judgment;
      }
      return found;
    }).finally(stop);
    expect(told?.outcome).toBe('warning');
    expect(told?.finding?.subject).toBe('GET /v1/resources');

    // Repeated with what brought it: alone the rule would see nothing of it.
    const [, ids = ''] = /^conform run search --check (.*) --verbose$/.exec(told?.reproduce ?? '') ?? [];
    const named = [auth, alone].map((suite) => ({
      ...suite,
      checks: suite.checks.filter(({ id }) => ids.split(' ').includes(id)),
    }));
    expect(named.map(({ checks }) => checks.length)).toEqual([1, 1]);
    const repeated = await judgedServed(service, await configFor(), named);
    expect(repeated.outcomes['status.no-internals']).toBe('warning');
    expect(repeated.requests).toBeLessThan(8);
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
