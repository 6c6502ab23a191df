import { describe, expect, it } from 'vitest';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import { thingsDocument } from '../../../harness/config/operation/fixtures/things.ts';
import { described } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import type { InputTrial, Operation, Safety } from '../../../harness/config/service.ts';
import { SAFE_METHODS } from '../../../harness/wire/request.ts';
import { operationPlan } from './operation.ts';
import { planOperations } from './plan.ts';

const shippedSafety = (await shipped('search')).safety;

const request = { path: '/a', fields: [], body: null };
const bad = (kind: InputTrial['kind']): InputTrial => ({
  ...request,
  kind,
  what: kind,
  tries: null,
  change: null,
});

function operation(id: string, more: Partial<Operation> = {}): Operation {
  return {
    ...request,
    id,
    method: 'GET',
    place: 'openapi.yaml:1:1',
    template: `/${id}`,
    response: { status: 200, mediaTypes: [], schema: null },
    alternatives: [],
    answers: [],
    tags: [],
    auth: 'required',
    call: { method: 'GET', template: `/${id}`, inputs: [], fields: [], body: null },
    uncallable: null,
    safe: SAFE_METHODS.has(more.method ?? 'GET'),
    awaits: [],
    ...more,
  };
}

const BAD = [bad('wrong-type'), bad('missing'), bad('out-of-range'), bad('out-of-range'), bad('extra')];

const plan = (
  operations: readonly Operation[],
  safety: Partial<Safety> = {},
  credentialed = true,
  inputTrials: readonly InputTrial[] = BAD,
  untried: readonly string[] = [],
) => {
  const { orders, unexercised } = planOperations({
    operations,
    lifecycles: [],
    safety: { ...shippedSafety, unsafeMethods: false, ...safety },
    credentialed,
    inputTrialsOf: () => ({ trials: inputTrials, untried }),
  });
  return { orders: orders.map(({ operation: { id }, kind }) => `${kind} ${id}`), unexercised };
};

const ids = (count: number) => Array.from({ length: count }, (_, index) => operation(`o${index}`));

describe('the plan of an operation', () => {
  it('is one call, one request without a credential and a few that must be refused', () => {
    expect(plan([operation('a')]).orders).toEqual([
      'call a',
      'no-credential a',
      'wrong-type a',
      'missing a',
      'out-of-range a',
      'unknown-method a',
      'extra a',
      'out-of-range a',
    ]);
  });

  it('names whose fault it is that an operation is not called', () => {
    const unfit = operation('unfit', { uncallable: 'it has no example', uncallableBy: 'document' });
    const unsafe = operation('unsafe', { method: 'PUT' });
    const { unexercised } = plan([unfit, unsafe, operation('a')], { operationRequests: 1 }, true, []);
    const calls = unexercised.filter(({ kind }) => kind === 'call');
    expect(calls.map(({ operation: { id }, fault }) => `${id} ${fault}`)).toEqual([
      'unfit document',
      'unsafe config',
    ]);
    expect(unexercised.filter(({ why }) => why === 'capped').map(({ fault }) => fault)).toContain('config');
  });

  it('leaves the credential alone where none is demanded', () => {
    const open = operation('a', { auth: 'none' });
    expect(plan([open], {}, true, []).orders).toEqual(['call a', 'unknown-method a']);
    expect(plan([operation('a')], {}, false, []).orders).toEqual(['call a', 'unknown-method a']);
  });

  it('tries an unknown method once for each path', () => {
    const shared = [operation('a', { template: '/x' }), operation('b', { template: '/x' })];
    expect(plan(shared).orders.filter((order) => order.startsWith('unknown'))).toEqual(['unknown-method a']);
  });

  it('is empty where it may not or cannot be called', () => {
    const { orders, unexercised } = plan([
      operation('a', { method: 'DELETE' }),
      operation('b', { uncallable: 'the required path parameter "id" has no example' }),
    ]);
    expect(orders).toEqual([]);
    expect(unexercised.map(({ operation: { id }, why, reason }) => [id, why, reason])).toEqual([
      ['a', 'unsafe', 'DELETE is not allowed here (safety.unsafeMethods)'],
      ['b', 'unfit', 'the required path parameter "id" has no example'],
    ]);
  });

  it('lists the values of a body that are not tried, where the operation is called', () => {
    const uncallable = operation('b', { uncallable: 'no example' });
    const { unexercised } = plan([operation('a'), uncallable], {}, true, BAD, ['too large']);
    expect(unexercised.map(({ operation: { id }, kind, why, reason }) => [id, kind, why, reason])).toEqual([
      ['b', 'call', 'unfit', 'no example'],
      ...['wrong-type', 'missing', 'out-of-range'].map((kind) => ['a', kind, 'beyond', 'too large']),
    ]);
  });

  it('has QUERY, which is safe', () => {
    expect(plan([operation('a', { method: 'QUERY' })]).orders).toContain('call a');
  });

  it('has no unsafe method that may change what the run has not created', () => {
    const removal = [operation('a', { method: 'DELETE' })];
    const { orders, unexercised } = plan(removal, { unsafeMethods: true });
    expect(orders).toEqual([]);
    expect(unexercised[0]?.reason).toContain('it may change data that this run has not created');
    expect(plan([operation('a', { method: 'POST', safe: true })]).orders).toContain('call a');
  });
});

describe('a run that may write', () => {
  const OK = { responses: { 200: { description: 'ok' } } };
  const posting = (id: string, name: string) => {
    const body = {
      type: 'object',
      required: [name],
      properties: { [name]: { type: 'string', example: 'a' } },
    };
    const requestBody = { required: true, content: { 'application/json': { schema: body } } };
    return { post: { operationId: id, requestBody, responses: { 201: { description: 'made' } } } };
  };
  const inPath = (...names: readonly string[]) => ({
    parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  });
  const named = (operationId: string) => ({ operationId, ...OK });
  const document = () => {
    const { paths, ...whole } = thingsDocument();
    const more = {
      '/things/{id}/notes': { ...inPath('id'), ...posting('add note', 'text') },
      '/things/{id}/notes/{note}': { ...inPath('id', 'note'), delete: named('drop note') },
      '/things/{id}/marks': { ...inPath('id'), ...posting('add mark', 'text') },
      '/things/{id}/marks/{mark}': { ...inPath('id', 'mark'), get: named('read mark') },
      '/shops': { get: named('shops') },
      '/shops/{shop}': { ...inPath('shop'), put: named('change shop') },
      '/shops/{shop}/orders': { ...inPath('shop'), ...posting('add order', 'text') },
      '/shops/{shop}/orders/{order}': {
        ...inPath('shop', 'order'),
        put: named('change order'),
        delete: named('drop order'),
      },
    };
    return { ...whole, paths: { ...paths, ...more } };
  };
  const unsafeCalls = async (safety: string) => {
    const { orders, unexercised } = operationPlan(await described(document(), `safety: { ${safety} }\n`));
    const called = orders.filter(({ kind, operation: { safe } }) => kind === 'call' && !safe);
    return {
      called: called.map(({ operation: { id } }) => id),
      left: unexercised.map(({ operation: { id } }) => id),
    };
  };
  const OWN = ['create', 'update', 'remove', 'add note', 'drop note', 'add mark'];

  it('adds to what it has created alone, and changes nothing else', async () => {
    expect(await unsafeCalls('unsafeMethods: true')).toEqual({
      called: OWN,
      left: ['change shop', 'add order', 'change order', 'drop order'],
    });
  });

  it('adds to what it has not created where leftovers are allowed, and changes nothing else of it', async () => {
    expect(await unsafeCalls('unsafeMethods: true, leaveItems: true')).toEqual({
      called: [...OWN, 'add order', 'change order', 'drop order'],
      left: ['change shop'],
    });
  });
});

describe('the ceiling', () => {
  it('is kept, half of it for calls, and what it cuts off is listed', () => {
    const { orders, unexercised } = plan(ids(50), { operationRequests: 40 });
    const calls = orders.filter((order) => order.startsWith('call'));
    expect([orders.length, calls.length]).toEqual([40, 20]);
    expect(unexercised.filter(({ kind }) => kind === 'call')).toHaveLength(30);
    expect(new Set(unexercised.map(({ reason }) => reason))).toEqual(
      new Set(['the suite is limited to 40 requests (safety.operationRequests)']),
    );
    // Only operations that are called are tried further.
    const called = new Set(calls.map((order) => order.split(' ')[1]));
    expect(orders.every((order) => called.has(order.split(' ')[1]))).toBe(true);
  });

  it('has room for other identifiers where examples name nothing', () => {
    const shown = {
      name: 'id',
      in: 'path',
      required: true,
      schema: null,
      value: 'a',
      form: 'comma',
    } as const;
    const call = { ...operation('a').call, inputs: [{ ...shown, from: 'example' as const }] };
    const { orders } = plan(
      ids(10).map((each) => ({ ...each, call })),
      { operationRequests: 30 },
    );
    expect(orders).toHaveLength(20);
  });

  it('leaves no more than 300 requests to what is no call', () => {
    const { orders } = plan(ids(900), { operationRequests: 1000 });
    expect(orders.filter((order) => order.startsWith('call'))).toHaveLength(700);
  });

  it('lists what exceeds the number of one kind for one operation', () => {
    const many = Array.from({ length: 43 }, () => bad('out-of-range'));
    const { orders, unexercised } = plan([operation('a')], { operationRequests: 100 }, true, many);
    expect(orders.filter((order) => order === 'out-of-range a')).toHaveLength(40);
    expect(unexercised.map(({ kind, why, reason }) => [kind, why, reason])).toEqual(
      Array(3).fill(['out-of-range', 'capped', 'at most 40 requests of a kind try one operation']),
    );
  });

  it('is used up by calls where there is nothing else to ask', () => {
    const plain = ids(50).map((each) => ({ ...each, auth: 'none' as const, template: '/x' }));
    expect(
      plan(plain, { operationRequests: 40 }, true, []).orders.filter((order) => order.startsWith('call')),
    ).toHaveLength(39);
  });

  it('cuts all kinds evenly', () => {
    const kinds = plan(ids(10), { operationRequests: 28 }).orders.map((order) => order.split(' ')[0]);
    for (const kind of [
      'no-credential',
      'wrong-type',
      'missing',
      'out-of-range',
      'unknown-method',
      'extra',
    ]) {
      expect(kinds.filter((each) => each === kind)).toHaveLength(3);
    }
  });

  it.each([1, 2, 3])('may be as low as %i', (operationRequests) => {
    expect(plan(ids(5), { operationRequests }).orders).toHaveLength(operationRequests);
  });
});
