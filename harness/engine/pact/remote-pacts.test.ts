import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { served } from '../../base/fixtures/server.ts';
import { shipped } from '../../config/fixtures/config-folder.ts';
import type { PactsConfig } from '../../config/pact/pacts.ts';
import {
  brokerAt,
  pactOf,
  type StubOptions,
  type StubPact,
  startStubBroker,
  TOKEN,
} from '../../providers/pact/fixtures/stub-broker.ts';
import { withPactsFetched } from './remote-pacts.ts';

/** Search with its shipped pact, and what of the pacts a test changes. */
async function fetched(change: Partial<PactsConfig>, patienceMs?: number): Promise<PactsConfig> {
  const config = await shipped('search');
  if (!config.pacts) throw new Error('search has no pact');
  const signal = new AbortController().signal;
  const options = { userAgent: 'conform/0.0.0', runId: 'tests', signal, ...(patienceMs && { patienceMs }) };
  const { pacts } = await withPactsFetched({ ...config, pacts: { ...config.pacts, ...change } }, options);
  if (!pacts) throw new Error('the pacts were lost');
  return pacts;
}

/** The address of a pact that needs no broker. */
const pactAt = async (content: unknown) =>
  `${await served(createServer((_request, response) => response.end(JSON.stringify(content))))}/a.json?version=1`;

const idsOf = ({ interactions }: PactsConfig) => interactions.map(({ id }) => id);
const SHIPPED = 'sample-client.the-documented-sample.a-valid-credential';

describe('pacts from elsewhere', () => {
  it('join those of files', async () => {
    const broker = await startStubBroker();
    broker.add(pactOf('web-shop'));
    const pacts = await fetched({ broker: brokerAt(broker.url) });
    expect(idsOf(pacts)).toEqual([SHIPPED, 'web-shop.a-list']);
    expect(pacts.unread).toEqual([]);
    expect(pacts.interactions[1]?.origins).toEqual([
      {
        source: expect.stringContaining('/pact-version/'),
        brokerId: expect.stringMatching(/^[0-9a-f]{40}$/),
      },
    ]);
  });

  it('may lie at a URL', async () => {
    const pacts = await fetched({ files: [await pactAt(pactOf('web-shop'))] });
    expect(idsOf(pacts)).toEqual([SHIPPED, 'web-shop.a-list']);
  });

  it('are pending where the broker says so', async () => {
    const broker = await startStubBroker();
    broker.add(pactOf('web-shop'));
    broker.add(pactOf('new-shop'), { pending: true });
    const { interactions } = await fetched({ broker: brokerAt(broker.url, { pending: true }) });
    expect(interactions.map(({ pending }) => pending)).toEqual([false, false, true]);
  });

  it('stay apart where two versions of a pact differ', async () => {
    const broker = await startStubBroker();
    broker.add(pactOf('web-shop'));
    broker.add(pactOf('web-shop', 418));
    const [, ...ids] = idsOf(await fetched({ broker: brokerAt(broker.url) }));
    expect(ids).toEqual([1, 2].map(() => expect.stringMatching(/^web-shop\.a-list\.[0-9a-f]{8}$/)));
    expect(new Set(ids).size).toBe(2);
  });

  it('are not asked for where there are none', async () => {
    expect(await fetched({})).toMatchObject({ unread: [] });
  });
});

describe('pacts that cannot be had', () => {
  it.each<readonly [string, StubOptions, StubPact | null, RegExp]>([
    ['the broker refuses the token', { token: 'another-token-for-tests' }, pactOf('a'), /status 401/],
    ['the broker has none', {}, null, /has no pact of the provider "search"/],
    [
      'one is malformed',
      { instead: (line) => (line.includes('pact-version') ? '{"consumer":' : undefined) },
      pactOf('a'),
      /is not JSON/,
    ],
    ['one holds no interaction', {}, { ...pactOf('a'), interactions: [] }, /holds no interaction/],
  ])('are told where %s, and the others stay', async (_how, options, pact, why) => {
    const broker = await startStubBroker(options);
    if (pact) broker.add(pact);
    const pacts = await fetched({ broker: brokerAt(broker.url) });
    expect(idsOf(pacts)).toEqual([SHIPPED]);
    expect(pacts.unread).toEqual([expect.stringMatching(why)]);
    expect(pacts.unread[0]).toContain(`the pacts of ${broker.url} could not be read`);
    expect(pacts.unread[0]).not.toContain(TOKEN);
  });

  it('are not waited for longer than all of a source may take, and those of the next are', async () => {
    const broker = await startStubBroker({ instead: () => null });
    const files = [await pactAt(pactOf('web-shop'))];
    const { unread } = await fetched({ broker: brokerAt(broker.url), files }, 2_000);
    expect(unread).toEqual([`the pacts of ${broker.url} could not be read: they were not there within 2 s`]);
  });

  it('are told where a URL is not there, or leads to the pact of another provider', async () => {
    const { unread } = await fetched({
      files: ['http://127.0.0.1:9/a.json', await pactAt({ ...pactOf('a'), provider: { name: 'stock' } })],
    });
    expect(unread).toEqual([
      expect.stringContaining('ECONNREFUSED'),
      expect.stringContaining('is for the provider "stock", not "search"'),
    ]);
  });
});
