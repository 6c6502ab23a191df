import { expect, it } from 'vitest';
import { described } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import {
  exampleBody,
  exampleExchange,
  exampleResponse,
} from '../../../harness/wire/fixtures/example-evidence.ts';
import { collectionsOf } from './collections.ts';
import { KnownValues } from './found-values.ts';
import { NestedItems } from './nested-items.ts';
import type { OwnItems } from './own-items.ts';
import type { Order } from './plan.ts';
import { orderOf } from './stimulus.ts';
import { OperationReply } from './trials.ts';

const inPath = (name: string, schema: object = { type: 'string' }) => ({
  name,
  in: 'path',
  required: true,
  schema,
});
const responses = { 200: { description: 'ok' } };
const config = await described({
  openapi: '3.1.0',
  paths: {
    '/pets': { get: { operationId: 'pets', responses } },
    '/pets/{pet}/notes': { post: { operationId: 'add', parameters: [inPath('pet')], responses } },
    '/pets/{pet}/notes/{note}': {
      delete: {
        operationId: 'drop',
        parameters: [inPath('pet'), inPath('note', { pattern: '^n[0-9]+$' })],
        responses,
      },
    },
  },
});

const orderTo = (id: string, path: string): Order => {
  const operation = config.operations.find((each) => each.id === id);
  if (operation === undefined) throw new Error(`no operation ${id}`);
  return { ...orderOf(operation, { path, fields: [], body: null }, 'as documented') };
};
const replyTo = (order: Order, value: unknown): OperationReply => {
  const response = exampleResponse({ body: exampleBody(JSON.stringify(value)) });
  return new OperationReply(order, new Reply(exampleExchange({ response })));
};

function nestedItems() {
  const known = new KnownValues(config);
  known.take(replyTo(orderTo('pets', '/pets'), [{ id: 'of another' }]));
  const sent: string[] = [];
  const own: Pick<OwnItems, 'sendOther' | 'idOf'> = {
    sendOther: async (order) => {
      sent.push(order.path);
      return replyTo(order, {});
    },
    idOf: () => null,
  };
  const remains = { requireRoom: () => undefined, lost: () => undefined, leave: () => () => undefined };
  const { operations } = config;
  const of = { own: own as OwnItems, known };
  return {
    sent,
    nested: new NestedItems({ remains }, { operations, collections: collectionsOf(operations) }, of),
  };
}

const removal: Order = { ...orderTo('drop', '/pets/{pet}/notes/{note}'), method: 'DELETE' };

it('sends what is about an item to the items around it in which it was created, and to no other', async () => {
  const { sent, nested } = nestedItems();
  nested.take(replyTo(orderTo('add', '/pets/own/notes'), { id: 'n1' }));
  await nested.send(removal);
  expect(sent).toEqual(['/pets/own/notes/n1']);
});

it('sends nothing about an item whose identifier the document rules out', async () => {
  const { sent, nested } = nestedItems();
  nested.take(replyTo(orderTo('add', '/pets/own/notes'), { id: 'odd' }));
  expect([await nested.send(removal), sent]).toEqual([null, []]);
});
