import { expect, it } from 'vitest';
import type { ExpectedInteraction } from '../../harness/config/pact/pacts.ts';
import { suitesFor } from '../../harness/engine/check/check.ts';
import { configFor } from '../tests/fixtures/judged.ts';
import { pact } from './pact.suite.ts';
import { interactions } from './stimuli/pact.ts';

const INTERACTION: ExpectedInteraction = {
  id: 'web-shop.a-list',
  consumer: 'web shop',
  description: 'a list',
  states: [],
  kind: 'http',
  method: 'GET',
  status: 200,
  unsupported: null,
  pending: false,
  origins: [],
  pact: '{"interactions":[{"request":{"path":"/v1/resources"}}]}',
};

/** A service whose documented request is GET /v1/resources, and whose only pact has this interaction. */
async function withPact(interaction: Partial<ExpectedInteraction>, unread: readonly string[] = []) {
  const { pacts, ...config } = await configFor();
  if (pacts === undefined) throw new Error('the shipped config has pacts');
  return { ...config, pacts: { ...pacts, interactions: [{ ...INTERACTION, ...interaction }], unread } };
}

async function caseOf(interaction: Partial<ExpectedInteraction>) {
  return interactions(await withPact(interaction))[0];
}

/** Its checks, as a run has them. */
async function checksOf(...given: Parameters<typeof withPact>) {
  return suitesFor([pact], await withPact(...given)).flatMap(({ checks }) => checks);
}

it.each<[string, Partial<ExpectedInteraction>, boolean]>([
  ['the same request', {}, true],
  ['another method', { method: 'HEAD' }, false],
  ['another status', { status: 404 }, false],
  ['another path', { pact: '{"interactions":[{"request":{"path":"/v1/others"}}]}' }, false],
  ['a request without a path', { pact: '{"interactions":[{"request":{}}]}' }, false],
  ['a pact without a request', { pact: '{"interactions":[{}]}' }, false],
  ['a pact of messages', { pact: '{"messages":[]}', kind: 'message', method: null, status: null }, false],
])('knows the documented request: %s', async (_, interaction, isSample) => {
  expect(await caseOf(interaction)).toMatchObject({ isSample });
});

it.each<[readonly string[], string]>([
  [[], 'answers web shop as its pact says: a list'],
  [['one item'], 'answers web shop as its pact says: a list, given one item'],
  [['one item', 'a key'], 'answers web shop as its pact says: a list, given one item and a key'],
])('a title names the states %j', async (states, title) => {
  expect(await caseOf({ states })).toMatchObject({ title, key: 'web-shop.a-list' });
});

it.each([
  ['consumer', 100],
  ['description', 200],
] as const)('a title has no more of a long %s than %i characters', async (name, limit) => {
  expect((await caseOf({ [name]: 'x'.repeat(limit) }))?.title).not.toContain('…');
  expect((await caseOf({ [name]: 'x'.repeat(limit + 1) }))?.title).toContain('x…');
});

it('knows the mismatch of a pending pact beforehand, and no other', async () => {
  expect(await caseOf({ pending: true })).toMatchObject({ known: expect.stringContaining('pending') });
  expect(await caseOf({})).toMatchObject({ known: null });
});

it('has no case without pacts', async () => {
  const { pacts: _, ...config } = await configFor();
  expect(interactions(config)).toEqual([]);
});

it.each([
  ['/v1/resources', ['status.sample']],
  ['/v1/others', []],
])('an interaction for %s rests on %j', async (path, ids) => {
  const checks = await checksOf({ pact: JSON.stringify({ interactions: [{ request: { path } }] }) });
  expect(checks.map(({ restsOn }) => restsOn.map(({ id }) => id))).toEqual([ids]);
});

it('has one more check for pacts that could not be read', async () => {
  const idsOf = (checks: Awaited<ReturnType<typeof checksOf>>) => checks.map(({ id }) => id);
  expect(idsOf(await checksOf({}))).toEqual(['pact.interaction.web-shop.a-list']);
  expect(idsOf(await checksOf({}, ['the broker is away']))).toEqual([
    'pact.interaction.web-shop.a-list',
    'pact.interaction',
  ]);
});
