import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { shippedSchemas } from './schemas.ts';

describe.each(Object.entries(shippedSchemas()))('the shipped %s', (file, text) => {
  it('is the one that the declarations make (else: npm run schemas)', async () => {
    expect(await readFile(new URL(`../../../config/${file}`, import.meta.url), 'utf8')).toBe(text);
  });

  it('is a JSON Schema', () => {
    expect(new Ajv2020().validateSchema(JSON.parse(text))).toBe(true);
  });
});
