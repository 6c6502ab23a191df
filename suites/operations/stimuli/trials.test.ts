import { expect, it } from 'vitest';
import { described } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { ExchangeFailure } from '../../../harness/wire/exchange.ts';
import {
  exampleExchange,
  exampleRequest,
  exampleResponse,
} from '../../../harness/wire/fixtures/example-evidence.ts';
import { reachesOperation } from './documented-reply.ts';
import { orderOf } from './stimulus.ts';
import { OperationReply, Trials } from './trials.ts';

const config = await described({
  openapi: '3.1.0',
  paths: { '/pets': { get: { operationId: 'pets', responses: { 200: { description: 'ok' } } } } },
});
const [operation] = config.operations;
if (operation === undefined) throw new Error('no operation');
const order = orderOf(operation, { path: '/pets', fields: [], body: null }, 'as documented');

it.each<[boolean, string, number, ExchangeFailure['kind'] | null]>([
  [true, 'is whole', 200, null],
  // A service must not choose by the length of a list that no bad request is sent to it.
  [true, 'is longer than what is read', 200, 'body-too-large'],
  [false, 'breaks off', 200, 'closed'],
  [false, 'has an undocumented status', 418, null],
])('says %s of an operation that was called and whose answer %s', (isCalled, _how, status, kind) => {
  const failure = kind && { kind, message: 'its body goes on' };
  const exchange = exampleExchange({ response: exampleResponse({ status }), failure });
  const reply = new OperationReply(order, new Reply(exchange));
  expect(Trials.of([reply]).called.has(operation)).toBe(isCalled);
});

it.each([
  ['/pets?limit=1', true],
  ['http://127.0.0.1:8080/pets', false],
  ['/pets%2F', false],
])('reaches its operation, unless a front may refuse it by itself: %s', (target, reaches) => {
  const request = exampleRequest({ target });
  expect(reachesOperation(new Reply(exampleExchange({ request })))).toBe(reaches);
});
