import { createRequire } from 'node:module';
import type { Plugin } from 'rolldown';
import { LATEST } from '../../wire/json/dialect.ts';

/** The module whose code is made here. */
const MODULE = /harness\/evidence\/json\/latest-schema\.ts$/;
const require = createRequire(import.meta.url);

/** Puts what ajv makes of the schema of schemas in place of the module that would have it made at each start. */
export const compiledAhead: Plugin = {
  name: 'compiled-ahead',
  load: { filter: { id: MODULE }, handler: () => ({ code: latestSchema(), moduleType: 'js' }) },
};

function latestSchema(): string {
  const { default: standaloneCode }: typeof import('ajv/dist/standalone/index.js') =
    require('ajv/dist/standalone');
  const engine = LATEST.engine({ strict: false, logger: false, code: { source: true } });
  const validate = engine.getSchema(LATEST.uri);
  if (validate === undefined) throw new Error(`ajv has no schema ${LATEST.uri}`);
  return [
    "import { createRequire } from 'node:module';",
    'const require = createRequire(import.meta.url);',
    'let validate;',
    'export const fitsLatest = (schema) => (validate ??= compiled())(schema);',
    // It takes parts of ajv, which is not there for everybody who imports this.
    'function compiled() {',
    '  const module = {};',
    standaloneCode(engine, validate),
    '  return module.exports;',
    '}',
  ].join('\n');
}
