import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { documentValues } from './document-values.ts';

const SHIPPED = fileURLToPath(new URL('../../../config/openapi/', import.meta.url));

const schema = (components: object, named: object) => ({
  openapi: '3.0.3',
  paths: {
    '/a': {
      get: { responses: { 200: { description: 'a', content: { 'application/json': { schema: named } } } } },
    },
  },
  components: { schemas: components },
});

describe('values that are made of the schemas of a document', () => {
  it.each(['search.yaml', 'saved-searches.yaml'])('fit the reading of %s', async (name) => {
    const found = await documentValues(join(SHIPPED, name));
    expect(found.refused).toEqual([]);
    expect(found.judged).toBeGreaterThan(found.schemas * 2);
  });

  it('have no members of the other direction, and keep the bounds of early versions', async () => {
    const Item = {
      type: 'object',
      additionalProperties: false,
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 3 },
        secret: { type: 'string', writeOnly: true },
        next: { nullable: true, allOf: [{ $ref: '#/components/schemas/Item' }] },
      },
    };
    const document = schema({ Item }, { $ref: '#/components/schemas/Item' });
    const folder = temporaryFolder({ 'api.yaml': JSON.stringify(document) });
    expect(await documentValues(join(folder, 'api.yaml'))).toMatchObject({
      schemas: 1,
      judged: 3,
      refused: [],
    });
  });
});
