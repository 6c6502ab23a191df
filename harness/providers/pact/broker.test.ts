import { fork, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { type Ending, listenTo } from '../../base/fixtures/program.ts';
import { served } from '../../base/fixtures/server.ts';
import { hasMembers } from '../../base/json-text.ts';
import { Secret } from '../../base/secret.ts';
import type { PactBroker } from '../../config/pact/pacts.ts';
import { brokerSender } from '../../engine/pact/broker-send.ts';
import { createRedaction } from '../../wire/redaction/redaction.ts';
import { BrokerFailure, openBroker } from './broker-client.ts';
import { pactsOf, publishPacts, publishResults } from './broker-pacts.ts';
import {
  brokerAt,
  pactOf,
  type StubBroker,
  type StubOptions,
  startStubBroker,
  TOKEN,
} from './fixtures/stub-broker.ts';
import { type ChildOrder, childEnvironment, isChildReply } from './pact-process.ts';

const VERSION = { number: '1.2.3', branch: 'main', buildUrl: null };
const TOOL = { name: 'conform', version: '0.0.0' };
function clientOf(broker: PactBroker) {
  const redaction = createRedaction();
  redaction.add('BROKER_TOKEN', TOKEN);
  const config = { safety: { plainHttp: false } };
  const send = brokerSender({ redaction, userAgent: 'conform/0.0.0', runId: 'tests', config });
  return openBroker(broker, send);
}

const pactsAt = (broker: PactBroker) => pactsOf(broker, 'search', clientOf(broker));

/** Pact's own command line, which shares nothing with this harness. */
function pactCli(args: string): Promise<Ending> {
  const binary = fileURLToPath(new URL('../../../node_modules/.bin/pact', import.meta.url));
  const child = spawn(binary, args.split(' '), {
    env: { PATH: process.env.PATH, PACT_DO_NOT_TRACK: 'true', PACT_BROKER_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return listenTo(child).ended;
}

/** Pact's own verifier, driving the broker itself, in a process of its own for what it prints. */
async function pactCore(broker: string, status: number): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end());
  const child = fork(new URL('./verify-child.ts', import.meta.url), {
    execArgv: [],
    silent: true,
    env: childEnvironment(),
  });
  const order: ChildOrder = {
    id: 1,
    options: {
      provider: 'search',
      providerBaseUrl: await served(server),
      pactBrokerUrl: broker,
      pactBrokerToken: TOKEN,
      consumerVersionSelectors: [{ mainBranch: true }],
      enablePending: true,
      providerVersionBranch: 'main',
      publishVerificationResult: true,
      providerVersion: VERSION.number,
      logLevel: 'error',
    },
  };
  const reply = new Promise<unknown>((resolve) => child.once('message', resolve));
  child.send(order);
  const answer = await reply;
  child.kill('SIGKILL');
  return isChildReply(answer) ? answer.text : '';
}

const linesOf = (broker: StubBroker) => broker.requests.map(({ line }) => line);

describe('the stub of a broker', () => {
  it('is a broker to Pact, which verifies its pacts and publishes results', async () => {
    const broker = await startStubBroker();
    broker.add(pactOf('web-shop'));
    expect(JSON.parse(await pactCore(broker.url, 200))).toMatchObject({ result: true });
    expect(JSON.parse(await pactCore(broker.url, 404))).toMatchObject({ result: false });
    expect(broker.results.map(({ body }) => body)).toMatchObject([{ success: true }, { success: false }]);
  });

  it("is a broker to Pact's command line, which publishes a pact and asks for a verdict", async () => {
    const broker = await startStubBroker();
    const folder = temporaryFolder({ 'pact.json': JSON.stringify(pactOf('web-shop')) });
    const publish = `broker publish ${join(folder, 'pact.json')} --consumer-app-version 1.0.0 --branch main`;
    const ask = 'broker can-i-deploy --pacticipant search --version 1.2.3 --to-environment production';
    const at = `--broker-base-url ${broker.url}`;
    expect((await pactCli(`${publish} ${at}`)).code).toBe(0);
    expect((await pactCli(`${ask} ${at}`)).code).toBe(1);
    await pactCore(broker.url, 200);
    expect((await pactCli(`${ask} ${at}`)).code).toBe(0);
  });
});

describe('pacts of a broker', () => {
  it('are fetched by the requests that Pact sends itself', async () => {
    const broker = await startStubBroker();
    broker.add(pactOf('web-shop'));
    await pactCore(broker.url, 200);
    const ofPact = broker.requests.slice();
    const pacts = await pactsAt(brokerAt(broker.url, { pending: true, branch: 'main' }));
    expect(pacts).toEqual([
      { url: expect.stringContaining('/pact-version/'), text: expect.any(String), pending: false },
    ]);
    const ours = broker.requests.slice(ofPact.length);
    // Pact looks at the address of the selection before it posts to it.
    const read = ofPact.filter(
      ({ line }) => !/^(PUT|POST .*results$)|pacticipants|^GET .*for-verification/.test(line),
    );
    expect(ours.map(({ line, body }) => [line, body])).toEqual(read.map(({ line, body }) => [line, body]));
    for (const { authorization } of ours) expect(authorization).toBe(`Bearer ${TOKEN}`);
  });

  it('are asked for with selectors, pending ones, work in progress and the branch', async () => {
    const broker = await startStubBroker();
    broker.add(pactOf('web-shop'));
    broker.add(pactOf('new-shop', 404), { pending: true });
    const asked = brokerAt(broker.url, {
      selectors: [{ branch: 'main', consumer: 'web-shop' }, { deployedOrReleased: true }],
      pending: true,
      wipSince: '2026-01-01',
      branch: 'release',
    });
    const pacts = await pactsAt(asked);
    expect(pacts.map(({ pending }) => pending)).toEqual([false, true]);
    expect(broker.requests.find(({ line }) => line.startsWith('POST'))?.body).toEqual({
      consumerVersionSelectors: [{ branch: 'main', consumer: 'web-shop' }, { deployedOrReleased: true }],
      includePendingStatus: true,
      includeWipPactsSince: '2026-01-01',
      providerVersionBranch: 'release',
    });
  });

  it.each<readonly [string, StubOptions, RegExp]>([
    ['refuses the token', { token: 'another-token-for-tests' }, /GET .*: status 401 \(are its token/],
    ['has none', {}, /has no pact of the provider "search"/],
    ['is broken', { instead: () => 503 }, /GET .*: status 503/],
    ['is something else', { instead: () => '{"hello":"world"}' }, /it is no Pact Broker/],
    ['answers no JSON', { instead: () => '<html>' }, /the answer is not JSON/],
    ['answers no object', { instead: () => '[]' }, /is no JSON object/],
    [
      'names a pact without its address',
      { instead: (line) => (line.startsWith('POST') ? '{"_embedded":{"pacts":[{}]}}' : undefined) },
      /names a pact without its address/,
    ],
  ])('are told to be missing where the broker %s', async (_how, options, why) => {
    const broker = await startStubBroker(options);
    const failure = await pactsAt(brokerAt(broker.url)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BrokerFailure);
    expect(String(failure)).toMatch(why);
    expect(String(failure)).not.toContain(TOKEN);
  });

  it('are fetched without the token where a link leads to somebody else', async () => {
    const other = await startStubBroker({ instead: () => JSON.stringify(pactOf('web-shop')) });
    const link = { _links: { self: { href: `${other.url}/stolen` } } };
    const broker = await startStubBroker({
      instead: (line) =>
        line.startsWith('POST') ? JSON.stringify({ _embedded: { pacts: [link] } }) : undefined,
    });
    expect(await pactsAt(brokerAt(broker.url))).toHaveLength(1);
    expect(other.requests).toEqual([{ line: 'GET /stolen', authorization: undefined, body: null }]);
  });

  it('may be guarded by user and password', async () => {
    const broker = await startStubBroker({ instead: () => 404 });
    const password = new Secret('BROKER_PASSWORD', 'example-password-for-tests');
    const asked = brokerAt(broker.url, { credentials: { kind: 'basic', username: 'ci', password } });
    await expect(pactsAt(asked)).rejects.toThrow('status 404');
    const pair = Buffer.from('ci:example-password-for-tests').toString('base64');
    expect(broker.requests[0]?.authorization).toBe(`Basic ${pair}`);
  });
});

describe('publishing', () => {
  it("sends pacts as Pact's command line does", async () => {
    const broker = await startStubBroker();
    const text = JSON.stringify(pactOf('web-shop'));
    const file = join(temporaryFolder({ 'pact.json': text }), 'pact.json');
    const version = '--consumer-app-version 1.2.3 --branch main';
    await pactCli(`broker publish ${file} --broker-base-url ${broker.url} ${version}`);
    const ofPact = broker.requests.slice();
    const at = brokerAt(broker.url);
    const said = await publishPacts(
      at,
      [{ consumer: 'web-shop', provider: 'search', text }],
      VERSION,
      clientOf(at),
    );
    expect(said).toEqual(['Created web-shop version 1.2.3']);
    const ours = broker.requests.slice(ofPact.length);
    expect(ours.map(({ line }) => line)).toEqual(ofPact.map(({ line }) => line));
    expect(shapeOf(ours.at(-1)?.body)).toEqual(shapeOf(ofPact.at(-1)?.body));
  });

  it('sends results, and the branch, as Pact itself does', async () => {
    const broker = await startStubBroker();
    broker.add(pactOf('web-shop'));
    await pactCore(broker.url, 404);
    const ofPact = broker.requests.slice();
    const at = brokerAt(broker.url);
    const client = clientOf(at);
    const [pact] = await pactsOf(at, 'search', client);
    const brokerId = JSON.parse(pact?.text ?? '').interactions[0]._id;
    const before = broker.requests.length;
    const result = { brokerId, success: false, mismatch: 'status: expected 200 but was 404' };
    await publishResults([{ url: pact?.url ?? '', interactions: [result] }], VERSION, TOOL, client);
    const ours = broker.requests.slice(before);
    expect(ours.map(({ line }) => line)).toEqual(
      expect.arrayContaining(['PUT /pacticipants/search/branches/main/versions/1.2.3']),
    );
    expect(linesOf(broker).at(-1)).toBe(ofPact.at(-1)?.line);
    expect(broker.branches.get('search 1.2.3')).toBe('main');
    const [theirs, own] = broker.results.map(({ body }) => body as Record<string, unknown>);
    expect(own).toEqual({
      ...theirs,
      testResults: [
        { interactionId: brokerId, success: false, mismatches: [{ description: result.mismatch }] },
      ],
      verifiedBy: { implementation: 'conform', version: '0.0.0' },
    });
  });
});

/** The same value with every text in it replaced by its type: what differs between two clients is only that. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (!hasMembers(value)) return typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([key, inner]) => [key, shapeOf(inner)]),
  );
}
