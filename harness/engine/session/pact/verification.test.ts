import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { served } from '../../../base/fixtures/server.ts';
import { Blocked } from '../../../base/verdict.ts';
import { shipped } from '../../../config/fixtures/config-folder.ts';
import type { ExpectedInteraction, PactsConfig } from '../../../config/pact/pacts.ts';
import type { ServiceConfig } from '../../../config/service.ts';
import { interaction, message } from '../../../providers/pact/fixtures/interactions.ts';
import { openVerifier, type PactVerifier } from '../../../providers/pact/verifier.ts';
import { sessionAt } from '../fixtures/session.ts';

const KEY = 'example-search-key-not-secret';

let verifier: PactVerifier;
let search: ServiceConfig;

beforeAll(async () => {
  verifier = openVerifier();
  search = await shipped('search');
});
afterAll(() => verifier.close());

/** A provider that answers as a test says, and remembers what it was asked. */
async function provider(answer: RequestListener = answering('{"id":1}')) {
  const asked: string[] = [];
  const heads: IncomingHttpHeaders[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    asked.push(`${request.method} ${request.url}`);
    heads.push(request.headers);
    answer(request, response);
  });
  return { url: await served(server), asked, heads, bodies };
}

function answering(content: string): RequestListener {
  return (_request, response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(content);
}

function withPacts(config: ServiceConfig, change: Partial<PactsConfig> = {}): ServiceConfig {
  const { pacts } = config;
  if (!pacts) throw new Error('no pact is configured');
  return { ...config, pacts: { ...pacts, ...change } };
}

/** Verifies one interaction in a session of its own; `sent` is what the ledger and the budget say. */
async function verified(config: ServiceConfig, url: string, expected: ExpectedInteraction) {
  const { session, asked, evidence, journal } = sessionAt(url, config, { verifier });
  const answer = await asked(({ pact }) => pact.verify(expected));
  const { requestsSent } = await session.close();
  return {
    outcome: 'failed' in answer ? answer.failed : answer.value,
    trail: answer.evidence,
    requestsSent,
    evidence: evidence(),
    journal: journal(),
  };
}

const CONFORMS = { mismatches: [], evidence: 'e1', remark: '' };

// That the shipped pacts are fulfilled, however the service is called, the proof shows.
describe('a verified interaction', () => {
  it('is a request like any other: in the budget, in the ledger, and with the credential taken out', async () => {
    const { url, asked } = await provider();
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

  it('carries the right credential in place of the example, and the other fields of the pact', async () => {
    const { url, heads } = await provider();
    const recorded = { headers: { Authorization: ['Bearer EXAMPLE'], 'X-Shop': ['1'] } };
    await verified(search, url, interaction({ request: recorded }));
    expect(heads).toMatchObject([
      {
        authorization: `Bearer ${KEY}`,
        'x-shop': '1',
        'x-conform-run': 'run-for-tests',
        'user-agent': 'conform/1.2.3 (run run-for-tests)',
      },
    ]);
  });

  it.each([
    ['none', {}, undefined],
    ['wrong', { headers: { Authorization: ['Bearer EXAMPLE'] } }, 'Bearer EXAMPLE'],
  ])('that expects 401 is sent as it was recorded: %s', async (use, request, authorization) => {
    const { url, heads } = await provider((_received, response) => response.writeHead(401).end());
    const expected = interaction({ request, response: { status: 401, headers: {}, body: undefined } });
    const { outcome, evidence } = await verified(search, url, expected);
    expect(outcome).toEqual(CONFORMS);
    expect(heads.map((head) => head.authorization)).toEqual([authorization]);
    expect(evidence[0]).toMatchObject({ value: { credential: use } });
  });

  it('that does not fit says so in words of Pact, without what the provider gives away', async () => {
    const { url } = await provider((request, response) =>
      answering(JSON.stringify({ id: `you sent ${request.headers.authorization}` }))(request, response),
    );
    const { outcome, journal } = await verified(search, url, interaction());
    expect(outcome).toMatchObject({
      mismatches: [expect.stringMatching(/^\$\.id: .*you sent Bearer \[redacted:SEARCH_API_KEY\]/)],
      evidence: 'e1',
    });
    expect(JSON.stringify(outcome)).not.toContain(KEY);
    expect(journal).not.toContain(KEY);
  });

  it('fits, although the provider has the key in the name of a header', async () => {
    const { url } = await provider((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json', [KEY]: 'x' }).end('{"id":1}'),
    );
    const { outcome, journal } = await verified(search, url, interaction());
    expect(outcome).toMatchObject({ mismatches: [] });
    expect(journal).not.toContain(KEY);
  });

  it('with content is sent octet by octet, whatever its size', async () => {
    const { url, bodies } = await provider();
    const sent = `{"rate": 1.0, "pad": "${'x'.repeat(300_000)}"}`;
    const body = {
      contentType: 'application/octet-stream',
      encoded: 'base64',
      content: Buffer.from(sent).toString('base64'),
    };
    const expected = interaction({ request: { method: 'POST', body } });
    const config = { ...search, safety: { ...search.safety, unsafeMethods: true } };
    const { outcome } = await verified(config, url, expected);
    expect(outcome).toEqual(CONFORMS);
    expect(bodies[0] === sent).toBe(true);
  });
});

describe('nothing is decided, and nothing green, when', () => {
  it.each<[string, Partial<ServiceConfig['safety']>, ExpectedInteraction, string]>([
    [
      'its method',
      { unsafeMethods: false },
      interaction({ request: { method: 'DELETE' } }),
      'unsafeMethods: true',
    ],
    [
      'a state that is set up',
      { unsafeMethods: true },
      interaction({ request: { method: 'DELETE' }, providerStates: [{ name: 'an order' }] }),
      'may change data that this run has not created',
    ],
    ['the budget', { maxRequests: 0 }, interaction(), 'the budget of 0 requests is spent'],
    ['a plugin', {}, interaction({ pluginConfiguration: { protobuf: {} } }), 'Pact plugin protobuf'],
    ['who gives messages', {}, message(), 'pacts.messages'],
  ])('nothing may be sent for want of %s', async (_, safety, expected, reason) => {
    const { url, asked } = await provider();
    const config = { ...search, safety: { ...search.safety, ...safety } };
    const { outcome } = await verified(config, url, expected);
    expect(outcome).toBeInstanceOf(Blocked);
    expect(String(outcome)).toContain(reason);
    expect(asked).toEqual([]);
  });

  it('the provider hangs', async () => {
    const { url } = await provider(() => undefined);
    // Time for the response alone: the connection may take longer on a busy machine.
    const config = { ...search, timeouts: { ...search.timeouts, responseMs: 200 } };
    const { outcome } = await verified(config, url, interaction());
    expect(outcome).toBeInstanceOf(Blocked);
    expect(String(outcome)).toContain('does not answer');
  });

  it.each<[string, RequestListener | null, string]>([
    ['is not there', null, 'cannot be reached'],
    ['is rate-limited by others', (_request, response) => response.writeHead(429).end(), 'answered 429'],
    [
      'answers more than is read of it',
      answering(`{"resources":["${'a'.repeat(1024 * 1024)}"]}`),
      'Blocked: the body goes on after 1048576 octets, so Pact has not seen the response',
    ],
  ])('the provider %s', async (_, answer, reason) => {
    const url = answer ? (await provider(answer)).url : 'http://127.0.0.1:9';
    const { outcome } = await verified(search, url, interaction());
    expect(outcome).toBeInstanceOf(Blocked);
    expect(String(outcome)).toContain(reason);
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
  const STATES = [{ name: 'one exists', params: { n: 1 } }];
  const stateful = interaction({ providerStates: STATES });
  const setUp = { action: 'setup', state: 'one exists', params: { n: 1 } };

  it('are asked of the provider itself, with its credential and within its budget', async () => {
    const { url, asked, heads, bodies } = await provider();
    const config = withPacts(search, { states: { kind: 'url', url: '/_states' } });
    const { outcome, requestsSent, evidence } = await verified(config, url, stateful);
    expect(outcome).toMatchObject({ mismatches: [] });
    expect(asked).toEqual(['POST /_states', 'GET /v1/resources', 'POST /_states']);
    const [first = '', , last = ''] = bodies;
    expect([first, last].map((body) => JSON.parse(body))).toEqual([setUp, { ...setUp, action: 'teardown' }]);
    expect(heads[0]?.authorization).toBe(`Bearer ${KEY}`);
    expect(requestsSent).toBe(3);
    expect(evidence.map(({ purpose }) => purpose)).toEqual([
      'to set up the provider state "one exists"',
      'as expected by web-shop: a resource',
      'to take down the provider state "one exists"',
    ]);
  });

  it('are asked of another address without the credential, and without counting as a request', async () => {
    const service = await provider();
    const elsewhere = await provider((_request, response) => response.end());
    const config = withPacts(search, { states: { kind: 'url', url: `${elsewhere.url}/set?x=1` } });
    const { outcome, requestsSent } = await verified(config, service.url, stateful);
    expect(outcome).toMatchObject({ mismatches: [] });
    expect(elsewhere.asked).toEqual(['POST /set?x=1', 'POST /set?x=1']);
    expect(elsewhere.heads.filter((head) => 'authorization' in head)).toEqual([]);
    expect(requestsSent).toBe(1);
  });

  it('are set up by a command, which gets them on its standard input and may give values', async () => {
    const { url, asked } = await provider();
    const generated = interaction({
      providerStates: STATES,
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
      const { url, asked } = await provider((_request, response) => response.writeHead(500).end());
      const { outcome } = await verified(withPacts(search, { states }), url, stateful);
      expect(outcome).toBeInstanceOf(Blocked);
      expect(String(outcome)).toContain(`the provider state "one exists" could not be set up: `);
      expect(String(outcome)).toContain(why);
      expect(asked).not.toContain('GET /v1/resources');
    },
  );

  it('that nobody sets up are told with the outcome', async () => {
    const { url } = await provider();
    const { outcome } = await verified(search, url, stateful);
    expect(outcome).toMatchObject({
      mismatches: [],
      remark: 'nobody set up the provider state "one exists" (pacts.states)',
    });
  });
});

it.each<[content: string, mismatches: readonly unknown[]]>([
  ['{"id":7}', []],
  ['{"id":"seven"}', [expect.stringMatching(/^\$\.id: /)]],
])('a message is asked for at the configured address: %s', async (content, mismatches) => {
  const { url, asked, bodies } = await provider(answering(content));
  const { outcome, requestsSent } = await verified(
    withPacts(search, { messages: '/_messages' }),
    url,
    message(),
  );
  expect(outcome).toEqual({ ...CONFORMS, mismatches });
  expect(asked).toEqual(['POST /_messages']);
  expect(bodies.map((body) => JSON.parse(body))).toEqual([
    expect.objectContaining({ description: 'an event' }),
  ]);
  expect(requestsSent).toBe(1);
});
