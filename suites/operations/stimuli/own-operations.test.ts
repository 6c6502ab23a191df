import { expect, it } from 'vitest';
import { described } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import { aboutOwnItem, lifecyclesIn, OWN_ID } from './own-operations.ts';

const id = { type: 'integer' };
const shelf = { type: 'object', properties: { id, name: { type: 'string' } }, required: ['id'] };
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const success = (status: number, schema?: object) => ({
  [status]: { description: '', ...(schema && json(schema)) },
});
const input = (place: string, name: string) => ({ name, in: place, required: true, schema: id });
const body = json({ type: 'object', properties: { name: { type: 'string', example: 'Maps' } } });
const config = await described({
  openapi: '3.1.0',
  paths: {
    '/shelves': {
      get: { responses: success(200, { type: 'array', items: shelf }) },
      post: { requestBody: body, responses: success(201, shelf) },
    },
    '/shelves/{id}': {
      parameters: [input('path', 'id')],
      get: { responses: success(200, shelf) },
      patch: {
        operationId: 'change',
        parameters: [input('query', 'id')],
        requestBody: body,
        responses: success(200, shelf),
      },
      delete: { responses: success(204) },
    },
  },
});

it('names an item of the run in the query too, if the query has the name of the path for it', () => {
  const change = config.operations.find((each) => each.id === 'change');
  expect(change && aboutOwnItem(change, lifecyclesIn(config)).path).toBe(`/shelves/${OWN_ID}?id=${OWN_ID}`);
});
