import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { shippedSchemas } from './schemas.ts';

describe.each(Object.entries(shippedSchemas()))('the shipped %s', (file, schema) => {
  it('is the one that the declarations make (else: npm run schemas)', async () => {
    const shipped = await readFile(new URL(`../../../config/${file}`, import.meta.url), 'utf8');
    expect(JSON.parse(shipped)).toEqual(JSON.parse(JSON.stringify(schema)));
  });

  it('is a JSON Schema', () => {
    expect(new Ajv2020().validateSchema(schema)).toBe(true);
  });
});
