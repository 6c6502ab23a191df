import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { auth } from '../auth/auth.suite.ts';
import { functional } from '../catalogue.ts';
import { configFor, holdsKey, type Judged, judgedInTurn, judgedServed } from './fixtures/judged.ts';

/** Services that refuse for another reason than the one asked about: such a refusal is no proof of anything. */
type Rule = (request: IncomingMessage) => number;

const PATH = '/v1/resources';

const hasKey = ({ headers }: IncomingMessage): boolean => holdsKey(headers.authorization);

const ordinary: Rule = (request) => {
  if (!hasKey(request)) return 401;
  return request.url?.split('?', 1)[0] === PATH ? 200 : 404;
};

async function found(rule: Rule): Promise<Judged> {
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const status = rule(request);
    response.writeHead(status, {
      'Content-Type': 'application/json',
      ...(status === 401 && { 'WWW-Authenticate': 'Bearer realm="pairing"' }),
    });
    response.end('{}');
  };
  const config = { ...(await configFor()), plan: { name: 'wide', requests: 1_000, windowMs: 1_000 } };
  return judgedServed(serve, config, functional);
}

const REFUSALS = [
  'auth.missing-credential',
  'auth.wrong-credential',
  'auth.empty-credential',
  'auth.truncated-credential',
  'auth.extended-credential',
  'auth.case-flipped-credential',
  'auth.non-ascii-credential',
  'auth.quoted-credential',
  'auth.oversized-credential',
];

describe.concurrent('a refusal counts', () => {
  it('not where the right credential is not served at all', async () => {
    const { outcomes, messages } = await found(() => 401);
    for (const id of REFUSALS) expect([id, outcomes[id]]).toEqual([id, 'blocked']);
    expect(messages['auth.wrong-credential']).toContain('is refused (401)');
  });

  it('not where the client has been shut out after some wrong ones', async () => {
    let wrong = 0;
    const { outcomes, messages } = await found((request) => {
      if (!hasKey(request)) wrong += 1;
      return wrong > 3 ? 403 : ordinary(request);
    });
    // It wants 401 for no credential, whoever else is shut out.
    for (const id of REFUSALS.slice(1)) expect([id, outcomes[id]]).toEqual([id, 'blocked']);
    expect(messages['auth.truncated-credential']).toContain('the client may be locked out');
  });

  it('not where what is odd about the request is refused with the credential too', async () => {
    const { outcomes, messages } = await found((request) =>
      request.headers.accept === 'text/html' || request.headers['x-forwarded-for'] ? 403 : ordinary(request),
    );
    expect(outcomes['auth.other-representation']).toBe('skipped');
    expect(outcomes['auth.local-client']).toBe('skipped');
    expect(messages['auth.local-client']).toBe('such a request is not served with the credential either');
    // Served by itself, if not together with the others.
    expect(outcomes['auth.method-override']).toBe('pass');
  });

  it('not for a spelling of the path under which nothing is served', async () => {
    const none = await found(ordinary);
    expect(none.outcomes['auth.path-spelling']).toBe('skipped');
    const lenient = await found((request) =>
      hasKey(request) && request.url === `${PATH}/` ? 200 : ordinary(request),
    );
    expect(lenient.outcomes['auth.path-spelling']).toBe('pass');
    const open = await found((request) => (request.url === `${PATH}/` ? 200 : ordinary(request)));
    expect(open.outcomes['auth.path-spelling']).toBe('fail');
  });

  it('as one of the message only where it is not that of the credential', async () => {
    // Whatever has no credential is a bad request to it, and with one it takes any Host.
    const { outcomes } = await found((request) => (hasKey(request) ? ordinary(request) : 400));
    expect(outcomes['framing.two-hosts']).toBe('fail');
    expect(outcomes['auth.missing-credential']).toBe('fail');
  });
});

describe('a key in places that nobody configured', () => {
  it('is not sent over plain http to another machine, whatever the config allows', async () => {
    const config = await configFor('http://203.0.113.7:9');
    const sent = await judgedInTurn({ ...config, safety: { ...config.safety, plainHttp: true } }, [
      { ...auth, checks: auth.checks.filter(({ id }) => /location|in-query/.test(id)) },
    ]);
    expect(sent.requests).toBe(0);
    expect(sent.outcomes).toEqual({ 'auth.location': 'skipped', 'auth.key-in-query': 'skipped' });
  });
});
