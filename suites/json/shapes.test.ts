import { expect, it } from 'vitest';
import { described } from '../../harness/config/operation/openapi/fixtures/described.ts';
import { configFor, judgedServed, saidOf } from '../tests/fixtures/judged.ts';
import { json } from './json.suite.ts';

const documenting = (required: readonly string[]) => ({
  openapi: '3.1.0',
  info: { title: 'Resources', version: '1' },
  paths: {
    '/v1/resources': {
      get: {
        responses: {
          200: {
            description: 'all of them',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: { total: { type: 'integer' }, note: { type: 'string' } },
                  required,
                },
              },
            },
          },
        },
      },
    },
  },
});

/** The note comes and goes. */
async function shapeStable(required: readonly string[]) {
  const { operations, definitions } = await described(documenting(required));
  const config = { ...(await configFor(undefined, true)), operations, ...(definitions && { definitions }) };
  let count = 0;
  const all = await judgedServed(
    (_, response) => {
      count += 1;
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(count % 3 === 0 ? { total: 1, note: 'new' } : { total: 1 }));
    },
    config,
    [json],
  );
  return saidOf(all, 'json.shape-stable');
}

it('a member that comes and goes is no warning where its schema says that it may be missing', async () => {
  expect(await shapeStable(['total'])).toBe(
    'skipped: the documented schema allows each of the shapes that came',
  );
  expect(await shapeStable(['total', 'note'])).toMatch(/^warning: expected the same shape each time/);
});
