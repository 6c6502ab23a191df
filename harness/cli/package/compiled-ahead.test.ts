import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { LATEST } from '../../wire/json/dialect.ts';
import { fitsLatest } from '../../wire/json/latest-schema.ts';
import { bundle } from './bundle.ts';

/** Each vocabulary has a say in some of them. */
const SCHEMAS = [
  true,
  {},
  { type: ['object', 'null'], properties: { id: { type: 'integer', minimum: 0 } }, required: ['id'] },
  { $defs: { one: { $anchor: 'one', const: 1 } }, $ref: '#one', unevaluatedProperties: false },
  { enum: [{ a: [1] }, { a: [2] }], format: 'anything', title: 'x', contentEncoding: 'base64' },
  { $schema: LATEST.uri, definitions: { old: { not: {} } }, dependencies: { a: ['b'] } },
  1,
  null,
  { type: 'text' },
  { type: ['string', 'string'] },
  { properties: { id: { minLength: -1 } } },
  { allOf: [] },
  { required: ['id', 'id'] },
  { $ref: 1 },
  { $anchor: '1' },
  { $defs: { inner: { items: { multipleOf: 0 } } } },
  { dependencies: { a: [1] } },
  { title: 1 },
];

it('what the package has compiled ahead says the same of every schema as what it stands for', async () => {
  const folder = temporaryFolder({});
  const module = 'harness/wire/json/latest-schema';
  await bundle([module], folder, 'source');
  const ahead: { readonly fitsLatest: typeof fitsLatest } = await import(
    pathToFileURL(join(folder, `${module}.js`)).href
  );
  expect(String(ahead.fitsLatest)).toContain('compiled()');
  const verdicts = SCHEMAS.map((schema) => ahead.fitsLatest(schema));
  expect(verdicts).toEqual(SCHEMAS.map((schema) => fitsLatest(schema)));
  expect(new Set(verdicts)).toEqual(new Set([true, false]));
});
