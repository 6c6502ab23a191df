import { expect, it } from 'vitest';
import type { MessageOperation } from '../../../harness/config/asyncapi/documented-messages.ts';
import { configOf, endpointOf, operationOf, textOf } from './fixtures/documented.ts';
import { planOf } from './plan.ts';

async function plansOf(
  operations: readonly MessageOperation[],
  { safe = [] as readonly string[], unsafeMethods = false, leaveItems = false } = {},
) {
  const config = await configOf([endpointOf('/ws', { operations })], { safe });
  return planOf({ ...config, safety: { ...config.safety, unsafeMethods, leaveItems } });
}

/** Texts that are sent, and why the messages of an operation are not. */
async function planned(...given: Parameters<typeof plansOf>) {
  const [plan] = await plansOf(...given);
  return { texts: plan?.texts.map(({ text }) => text), kept: Object.fromEntries(plan?.kept ?? []) };
}

const adding = operationOf('add', { texts: [textOf('a', { risk: 'changes' })] });
const removing = operationOf('remove', { texts: [textOf('r', { risk: 'destroys' })] });

it('sends what changes nothing', async () => {
  expect(await planned([operationOf('ask', { texts: [textOf('1'), textOf('2')] })])).toEqual({
    texts: ['1', '2'],
    kept: {},
  });
});

it.each([
  ['add', { unsafeMethods: true, leaveItems: true }, ['a']],
  ['add', { unsafeMethods: true }, []],
  ['add', { leaveItems: true }, []],
  ['add', { safe: ['add'] }, ['a']],
  ['add', { safe: ['remove'] }, []],
  ['remove', { unsafeMethods: true, leaveItems: true }, []],
  ['remove', { safe: ['remove'] }, ['r']],
] as const)('sends what may change something as the config allows: %s, %j', async (id, allowed, texts) => {
  const operation = id === 'add' ? adding : removing;
  const plan = await planned([operation], allowed);
  expect(plan.texts).toEqual(texts);
  expect(plan.kept[id]?.why).toBe(texts.length > 0 ? undefined : 'unsafe');
});

it('says how what may change something is allowed', async () => {
  const both = operationOf('both', { texts: [...removing.texts, ...adding.texts] });
  const { kept } = await planned([adding, removing, both]);
  expect(kept.add?.reason).toMatch(/may change data: .*leaveItems/);
  expect(kept.remove?.reason).toMatch(/may change or remove data that the run did not create/);
  expect(kept.both?.reason).toMatch(/may change data: .*leaveItems/);
});

it('sends what is allowed of an operation', async () => {
  const both = operationOf('both', { texts: [textOf('1'), ...adding.texts] });
  expect(await planned([both])).toEqual({ texts: ['1'], kept: {} });
});

it('keeps what cannot be exercised, and sends the rest', async () => {
  const unfit = operationOf('unfit', { unfit: 'it has no example', texts: [textOf('u')] });
  expect(await planned([unfit, operationOf('ask', { texts: [textOf('1')] })])).toEqual({
    texts: ['1'],
    kept: { unfit: { reason: 'it has no example', why: 'unfit' } },
  });
});

it('sends at most 50 messages to one address', async () => {
  const of = (id: string, count: number) =>
    operationOf(id, { texts: Array.from({ length: count }, (_, at) => textOf(`${id}${at}`)) });
  const { texts, kept } = await planned([of('many', 50), of('more', 1)]);
  expect(texts).toHaveLength(50);
  expect(kept).toEqual({ more: { reason: 'too many messages', why: 'capped' } });
  expect((await planned([of('some', 49), of('more', 1)])).kept).toEqual({});
});

it('opens 20 addresses at most, and none without a document', async () => {
  const endpoints = Array.from({ length: 21 }, (_, at) => endpointOf(`/${at}`));
  const config = await configOf(endpoints);
  expect(planOf(config).map(({ endpoint }) => endpoint.target)).toEqual(
    endpoints.slice(0, 20).map(({ target }) => target),
  );
  expect(planOf({ ...config, websocket: null })).toEqual([]);
});

it.each([
  [[operationOf('hear', { action: 'receive' })], true],
  [[operationOf('ask'), operationOf('hear', { action: 'receive' })], true],
  [[operationOf('hear', { action: 'receive', unfit: 'no' })], false],
  [[operationOf('ask')], false],
] as const)('listens where messages come that answer nothing: %#', async (operations, listens) => {
  expect((await plansOf(operations))[0]?.listens).toBe(listens);
});

it('sends nothing for what the client receives', async () => {
  const hear = operationOf('hear', { action: 'receive', texts: [textOf('h')] });
  expect(await planned([hear])).toEqual({ texts: [], kept: {} });
});
