import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { served } from '../../base/fixtures/server.ts';
import { Blocked } from '../../base/verdict.ts';
import { shipped } from '../../config/fixtures/config-folder.ts';
import type { ExpectedInteraction } from '../../config/pact/interaction.ts';
import type { PactsConfig } from '../../config/pact/pacts.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { interaction, message } from '../../pact/fixtures/interactions.ts';
import { openVerifier, type PactVerifier } from '../../pact/verifier.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import { systemClock } from '../../transport/pace/clock.ts';
import { openLiveSession } from '../live.ts';
import { PutOff, probe } from '../probe.ts';

const KEY = 'example-search-key-not-secret';

let verifier: PactVerifier;
let search: ServiceConfig;

beforeAll(async () => {
  verifier = openVerifier();
  search = await shipped('search');
});
afterAll(() => verifier.close());

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A provider that answers as a test says, and remembers what it was asked. */
async function provider(answer: Answer): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    asked.push(`${request.method} ${request.url}`);
    answer(request, response, body);
  });
  return { url: await served(server), asked };
}

const resource: Answer = (_request, response) =>
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"id":1}');

function withPacts(config: ServiceConfig, change: Partial<PactsConfig> = {}): ServiceConfig {
  const { pacts } = config;
  if (!pacts) throw new Error('no pact is configured');
  return { ...config, pacts: { ...pacts, ...change } };
}

function sessionFor(config: ServiceConfig, providerUrl: string, record: (event: JournalEvent) => void) {
  return openLiveSession({
    config,
    providerUrl,
    runId: 'run-for-tests',
    userAgent: 'conform/0.0.0',
    clock: systemClock,
    record,
    verifier,
  });
}

/** Verifies one interaction in a session of its own; `sent` is what the ledger and the budget say. */
async function verified(config: ServiceConfig, url: string, expected: ExpectedInteraction) {
  const events: JournalEvent[] = [];
  const session = sessionFor(config, url, (event) => events.push(event));
  const answer = await session.ask(
    probe('verification', ({ pact }) => pact.verify(expected)),
    new AbortController().signal,
  );
  const { requestsSent } = await session.close();
  const evidence = events.filter((event) => event.type === 'evidence');
  return {
    outcome: 'failed' in answer ? answer.failed : answer.value,
    trail: answer.evidence,
    requestsSent,
    evidence,
    journal: JSON.stringify(events),
  };
}

const CONFORMS = { mismatches: [], evidence: 'e1', remark: '' };

function sampleOf(config: ServiceConfig): ExpectedInteraction {
  const [first] = config.pacts?.interactions ?? [];
  if (first === undefined) throw new Error('the shipped pact is empty');
  return first;
}

// That the shipped pacts are fulfilled, however the service is called, the proof shows.
describe('a verified interaction', () => {
  it('is a request like any other: in the budget, in the ledger, and with the credential taken out', async () => {
    const { url, asked } = await provider(resource);
    const { outcome, requestsSent, evidence, journal, trail } = await verified(search, url, interaction());
    expect(outcome).toEqual(CONFORMS);
    expect(asked).toEqual(['GET /v1/resources']);
    expect(requestsSent).toBe(1);
    expect(trail).toEqual(['e1']);
    expect(evidence).toEqual([
      expect.objectContaining({ purpose: 'as expected by web-shop: a resource', requests: 1 }),
    ]);
    expect(journal).toContain('Bearer [redacted:SEARCH_API_KEY]');
    expect(journal).not.toContain(KEY);
  });

  it('is put off before Pact is asked where its request would have to wait for what may have cost nothing', async () => {
    const { url, asked } = await provider(resource);
    const plan = { name: 'small', requests: 2, windowMs: 60_000 };
    const session = sessionFor({ ...search, plan }, url, () => undefined);
    const { signal } = new AbortController();
    const twice = Array.from({ length: plan.requests }, (_, at) =>
      probe(`sample ${at}`, ({ http }) => http.send({ purpose: 'as documented' })),
    );
    const verification = probe('verification', ({ pact }) => pact.verify(interaction()));
    for (const each of twice) await session.ask(each, signal, 'waiting');
    const answer = await session.ask(verification, signal, 'waiting');
    await session.close();
    expect(answer).toEqual({ evidence: [], failed: expect.any(PutOff) });
    expect(asked.length).toBeLessThanOrEqual(plan.requests);
  });

  it('carries the right credential in place of the example, and the other fields of the pact', async () => {
    let fields: IncomingMessage['headers'] = {};
    const { url } = await provider((request, response, body) => {
      fields = request.headers;
      resource(request, response, body);
    });
    const recorded = { headers: { Authorization: ['Bearer EXAMPLE'], 'X-Shop': ['1'] } };
    await verified(search, url, interaction({ request: recorded }));
    expect(fields).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'x-shop': '1',
      'x-conform-run': 'run-for-tests',
    });
    expect(fields['user-agent']).toBe('conform/0.0.0 (run run-for-tests)');
  });

  it.each([
    ['none', {}, undefined],
    ['wrong', { headers: { Authorization: ['Bearer EXAMPLE'] } }, 'Bearer EXAMPLE'],
  ])('that expects 401 is sent as it was recorded: %s', async (use, request, authorization) => {
    let seen: string | undefined;
    const { url } = await provider((received, response) => {
      seen = received.headers.authorization;
      response.writeHead(401).end();
    });
    const expected = interaction({ request, response: { status: 401, headers: {}, body: undefined } });
    const { outcome, evidence } = await verified(search, url, expected);
    expect(outcome).toEqual(CONFORMS);
    expect(seen).toBe(authorization);
    expect(evidence[0]).toMatchObject({ value: { credential: use } });
  });

  it('that does not fit says so in words of Pact, without what the provider gives away', async () => {
    const { url } = await provider((request, response) =>
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ id: `you sent ${request.headers.authorization}` })),
    );
    const { outcome, journal } = await verified(search, url, interaction());
    expect(outcome).toMatchObject({
      mismatches: [expect.stringMatching(/^\$\.id: .*you sent Bearer \[redacted:SEARCH_API_KEY\]/)],
      evidence: 'e1',
    });
    expect(JSON.stringify(outcome)).not.toContain(KEY);
    expect(journal).not.toContain(KEY);
  });

  it('with content is sent octet by octet, whatever its size', async () => {
    let received = '';
    const { url } = await provider((request, response, body) => {
      received = body;
      resource(request, response, body);
    });
    const text = `{"rate": 1.0, "pad": "${'x'.repeat(300_000)}"}`;
    const body = {
      contentType: 'application/octet-stream',
      encoded: 'base64',
      content: Buffer.from(text).toString('base64'),
    };
    const expected = interaction({ request: { method: 'PUT', body } });
    const { outcome } = await verified(
      { ...search, safety: { ...search.safety, unsafeMethods: true } },
      url,
      expected,
    );
    expect(outcome).toEqual(CONFORMS);
    expect(received === text).toBe(true);
  });
});

describe('nothing is decided, and nothing green, when', () => {
  const blockedBy = async (...parameters: Parameters<typeof verified>) => {
    const { outcome, requestsSent } = await verified(...parameters);
    expect(outcome).toBeInstanceOf(Blocked);
    return { reason: String(outcome), requestsSent };
  };

  it('the method may not be sent', async () => {
    const { url, asked } = await provider(resource);
    const config = { ...search, safety: { ...search.safety, unsafeMethods: false } };
    const { reason } = await blockedBy(config, url, interaction({ request: { method: 'DELETE' } }));
    expect(reason).toContain('unsafeMethods: true');
    expect(asked).toEqual([]);
  });

  it('the provider is not there', async () => {
    const { reason } = await blockedBy(search, 'http://127.0.0.1:9', interaction());
    expect(reason).toContain('cannot be reached');
  });

  it('the provider hangs', async () => {
    const { url } = await provider(() => undefined);
    const config = { ...search, timeouts: { connectMs: 200, responseMs: 200 } };
    const { reason } = await blockedBy(config, url, interaction());
    expect(reason).toContain('does not answer');
  });

  it('the provider is rate-limited by others', async () => {
    const { url } = await provider((_request, response) => response.writeHead(429).end());
    const { reason } = await blockedBy(search, url, interaction());
    expect(reason).toContain('answered 429');
  });

  it('the answer is larger than what is read of one', async () => {
    const { url } = await provider((_request, response) =>
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(`{"resources":["${'a'.repeat(1024 * 1024)}"]}`),
    );
    const { outcome } = await verified(search, url, sampleOf(search));
    expect(outcome).toEqual(
      new Blocked('the body goes on after 1048576 octets, so Pact has not seen the response'),
    );
  });

  it('the budget is spent', async () => {
    const { url, asked } = await provider(resource);
    const config = { ...search, safety: { ...search.safety, maxRequests: 0 } };
    const { reason } = await blockedBy(config, url, interaction());
    expect(reason).toContain('the budget of 0 requests is spent');
    expect(asked).toEqual([]);
  });

  it('the interaction needs what is not there', async () => {
    const { url } = await provider(resource);
    const plugin = interaction({ pluginConfiguration: { protobuf: {} } });
    expect((await blockedBy(search, url, plugin)).reason).toContain('Pact plugin protobuf');
    expect((await blockedBy(search, url, message())).reason).toContain('pacts.messages');
  });
});

describe('an answer that breaks off', () => {
  it('does not fit, and says why', async () => {
    const { url } = await provider((_request, response) => {
      response
        .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' })
        .write('{"id":');
      setImmediate(() => response.destroy());
    });
    const { outcome } = await verified(search, url, interaction());
    expect(outcome).toMatchObject({ mismatches: [expect.stringMatching(/^no whole response: .*closed/)] });
  });
});

describe('provider states', () => {
  const stateful = interaction({ providerStates: [{ name: 'one exists', params: { n: 1 } }] });
  const setUp = { action: 'setup', state: 'one exists', params: { n: 1 } };

  it('are asked of the provider itself, with its credential and within its budget', async () => {
    const changes: unknown[] = [];
    let authorization: string | undefined;
    const { url, asked } = await provider((request, response, body) => {
      if (request.url === '/_states') {
        authorization = request.headers.authorization;
        changes.push(JSON.parse(body));
      }
      resource(request, response, body);
    });
    const config = withPacts(search, { states: { kind: 'url', url: '/_states' } });
    const { outcome, requestsSent, evidence } = await verified(config, url, stateful);
    expect(outcome).toMatchObject({ mismatches: [] });
    expect(asked).toEqual(['POST /_states', 'GET /v1/resources', 'POST /_states']);
    expect(changes).toEqual([setUp, { ...setUp, action: 'teardown' }]);
    expect(authorization).toBe(`Bearer ${KEY}`);
    expect(requestsSent).toBe(3);
    expect(evidence.map(({ purpose }) => purpose)).toEqual([
      'to set up the provider state "one exists"',
      'as expected by web-shop: a resource',
      'to take down the provider state "one exists"',
    ]);
  });

  it('are asked of another address without the credential, and without counting as a request', async () => {
    const service = await provider(resource);
    let authorization: string | undefined = 'none yet';
    const elsewhere = await provider((request, response) => {
      authorization = request.headers.authorization;
      response.end();
    });
    const config = withPacts(search, { states: { kind: 'url', url: `${elsewhere.url}/set?x=1` } });
    const { outcome, requestsSent } = await verified(config, service.url, stateful);
    expect(outcome).toMatchObject({ mismatches: [] });
    expect(elsewhere.asked).toEqual(['POST /set?x=1', 'POST /set?x=1']);
    expect(authorization).toBeUndefined();
    expect(requestsSent).toBe(1);
  });

  it('are set up by a command, which gets them on its standard input and may give values', async () => {
    const { url, asked } = await provider(resource);
    const generated = interaction({
      providerStates: [{ name: 'one exists', params: { n: 1 } }],
      request: {
        path: '/v1/resources/0',
        generators: {
          path: { type: 'ProviderState', expression: '/v1/resources/$' + '{id}', dataType: 'STRING' },
        },
      },
    });
    const command = `node -e "let s='';process.stdin.on('data',(c)=>s+=c).on('end',()=>console.log(JSON.stringify({id:JSON.parse(s).params.n+6})))"`;
    const config = withPacts(search, { states: { kind: 'command', command, folder: tmpdir() } });
    const { outcome } = await verified(config, url, generated);
    expect(outcome).toMatchObject({ mismatches: [] });
    expect(asked).toEqual(['GET /v1/resources/7']);
  });

  it.each([
    ['refuses', { kind: 'url', url: '/_states' }, 'status 500'],
    ['is not there', { kind: 'url', url: 'http://127.0.0.1:9/set' }, 'ECONNREFUSED'],
    ['fails', { kind: 'command', command: 'exit 3', folder: tmpdir() }, 'the command exited with 3'],
  ] as const)(
    'that cannot be set up block the interaction: whoever does it %s',
    async (_how, states, why) => {
      const { url, asked } = await provider((request, response, body) => {
        if (request.url === '/_states') response.writeHead(500).end();
        else resource(request, response, body);
      });
      const { outcome } = await verified(withPacts(search, { states }), url, stateful);
      expect(outcome).toBeInstanceOf(Blocked);
      expect(String(outcome)).toContain(`the provider state "one exists" could not be set up: `);
      expect(String(outcome)).toContain(why);
      expect(asked).not.toContain('GET /v1/resources');
    },
  );

  it('that nobody sets up are told with the outcome', async () => {
    const { url } = await provider(resource);
    const { outcome } = await verified(search, url, stateful);
    expect(outcome).toMatchObject({
      mismatches: [],
      remark: 'nobody set up the provider state "one exists" (pacts.states)',
    });
  });
});

describe('a message', () => {
  it('is asked for at the configured address', async () => {
    const questions: unknown[] = [];
    const { url } = await provider((_request, response, body) => {
      questions.push(JSON.parse(body));
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"id":7}');
    });
    const { outcome, requestsSent } = await verified(
      withPacts(search, { messages: '/_messages' }),
      url,
      message(),
    );
    expect(outcome).toEqual(CONFORMS);
    expect(questions).toEqual([expect.objectContaining({ description: 'an event' })]);
    expect(requestsSent).toBe(1);
  });
});
