import { createRequire } from 'node:module';
import type { Options } from 'ajv';
import type core from 'ajv/dist/core.js';

// Loaded when a schema is compiled: a hundred modules that most commands have no use for.
const require = createRequire(import.meta.url);
const ajv = (): typeof import('ajv') => require('ajv');
const ajv2019 = (): typeof import('ajv/dist/2019.js') => require('ajv/dist/2019.js');
const ajv2020 = (): typeof import('ajv/dist/2020.js') => require('ajv/dist/2020.js');
const ajvDraft04 = (): typeof import('ajv-draft-04') => require('ajv-draft-04');

/** An ajv of some dialect. */
export type Engine = core.default;

/** A draft of JSON Schema, which a schema names by `$schema`. */
export interface Dialect {
  /** As people call it: `draft-07`. */
  readonly name: string;
  /** What `$schema` holds. */
  readonly uri: string;
  /** Keywords beside `$ref` are not looked at (up to draft-07). */
  readonly lonelyRef: boolean;
  /** `format` is an assertion, and not an annotation alone (from 2019-09 on). */
  readonly assertsFormats?: true;
  readonly engine: (options: Options) => Engine;
}

export const LATEST: Dialect = {
  name: '2020-12',
  uri: 'https://json-schema.org/draft/2020-12/schema',
  lonelyRef: false,
  engine: (options) => new (ajv2020().Ajv2020)(options),
};

const CONDITIONS = ['if', 'then', 'else'];

/** Without keywords that came later, and mean nothing before. */
function without(keywords: readonly string[], engine: Engine): Engine {
  for (const later of keywords) engine.removeKeyword(later);
  return engine;
}

export const DIALECTS: readonly Dialect[] = [
  {
    name: 'draft-04',
    uri: 'http://json-schema.org/draft-04/schema#',
    lonelyRef: true,
    assertsFormats: true,
    engine: (options) =>
      without(
        [...CONDITIONS, 'const', 'contains', 'propertyNames'],
        new (ajvDraft04().default)({ ...options, ignoreKeywordsWithRef: true }),
      ),
  },
  {
    name: 'draft-06',
    uri: 'http://json-schema.org/draft-06/schema#',
    lonelyRef: true,
    assertsFormats: true,
    engine: (options) => {
      const engine = without(CONDITIONS, new (ajv().Ajv)({ ...options, ignoreKeywordsWithRef: true }));
      return engine.addMetaSchema(require('ajv/dist/refs/json-schema-draft-06.json'));
    },
  },
  {
    name: 'draft-07',
    uri: 'http://json-schema.org/draft-07/schema#',
    lonelyRef: true,
    assertsFormats: true,
    engine: (options) => new (ajv().Ajv)({ ...options, ignoreKeywordsWithRef: true }),
  },
  {
    name: '2019-09',
    uri: 'https://json-schema.org/draft/2019-09/schema',
    lonelyRef: false,
    engine: (options) => new (ajv2019().Ajv2019)(options),
  },
  LATEST,
];

/** The dialects of OpenAPI 3.1 and later are 2020-12 with annotations of their own. */
const OPENAPI = /^spec\.openapis\.org\/oas\/3\.\d+\/dialect\//;

/** The dialect that a `$schema` names, with http or https, with or without `#`; undefined where it is none of them. */
export function dialectNamed($schema: unknown): Dialect | undefined {
  if (typeof $schema !== 'string') return undefined;
  const plain = plainUri($schema);
  return OPENAPI.test(plain) ? LATEST : DIALECTS.find(({ uri }) => plainUri(uri) === plain);
}

function plainUri(uri: string): string {
  return uri.replace(/^https?:\/\//, '').replace(/#$/, '');
}
